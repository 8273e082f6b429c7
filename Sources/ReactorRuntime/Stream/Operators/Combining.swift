/// The newest elements of several streams, put together.
///
/// Whenever one of the streams sends an element and each has sent one, the newest of each are combined. Ends
/// well when all streams have, or no further combination can come; fails as soon as one fails or the closure
/// throws.
extension Observable {
  /// What `resultSelector` makes of the newest elements.
  public static func combineLatest<S1: ObservableType, S2: ObservableType>(
    _ source1: S1, _ source2: S2,
    resultSelector: @escaping @Sendable (S1.Element, S2.Element) throws -> Element
  ) -> Observable<Element> {
    Combination<S1.Element, S2.Element, Never, Never>.stream(
      source1.asObservable(), source2.asObservable(), nil, nil
    ) { latest in
      guard let a = latest.a, let b = latest.b else { return nil }
      return try resultSelector(a, b)
    }
  }

  /// The newest elements.
  public static func combineLatest<S1: ObservableType, S2: ObservableType>(
    _ source1: S1, _ source2: S2
  ) -> Observable<(S1.Element, S2.Element)> where Element == (S1.Element, S2.Element) {
    combineLatest(source1, source2, resultSelector: { ($0, $1) })
  }

  /// What `resultSelector` makes of the newest elements.
  public static func combineLatest<S1: ObservableType, S2: ObservableType, S3: ObservableType>(
    _ source1: S1, _ source2: S2, _ source3: S3,
    resultSelector: @escaping @Sendable (S1.Element, S2.Element, S3.Element) throws -> Element
  ) -> Observable<Element> {
    Combination<S1.Element, S2.Element, S3.Element, Never>.stream(
      source1.asObservable(), source2.asObservable(), source3.asObservable(), nil
    ) { latest in
      guard let a = latest.a, let b = latest.b, let c = latest.c else { return nil }
      return try resultSelector(a, b, c)
    }
  }

  /// The newest elements.
  public static func combineLatest<S1: ObservableType, S2: ObservableType, S3: ObservableType>(
    _ source1: S1, _ source2: S2, _ source3: S3
  ) -> Observable<(S1.Element, S2.Element, S3.Element)>
  where Element == (S1.Element, S2.Element, S3.Element) {
    combineLatest(source1, source2, source3, resultSelector: { ($0, $1, $2) })
  }

  /// What `resultSelector` makes of the newest elements.
  public static func combineLatest<
    S1: ObservableType, S2: ObservableType, S3: ObservableType, S4: ObservableType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4,
    resultSelector: @escaping @Sendable (S1.Element, S2.Element, S3.Element, S4.Element) throws -> Element
  ) -> Observable<Element> {
    Combination.stream(
      source1.asObservable(), source2.asObservable(), source3.asObservable(), source4.asObservable()
    ) { latest in
      guard let a = latest.a, let b = latest.b, let c = latest.c, let d = latest.d else { return nil }
      return try resultSelector(a, b, c, d)
    }
  }

  /// The newest elements.
  public static func combineLatest<
    S1: ObservableType, S2: ObservableType, S3: ObservableType, S4: ObservableType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4
  ) -> Observable<(S1.Element, S2.Element, S3.Element, S4.Element)>
  where Element == (S1.Element, S2.Element, S3.Element, S4.Element) {
    combineLatest(source1, source2, source3, source4, resultSelector: { ($0, $1, $2, $3) })
  }

  /// What `resultSelector` makes of the newest elements. Of no streams, it makes one result, and the end.
  public static func combineLatest<Sources: Collection>(
    _ sources: Sources,
    resultSelector: @escaping @Sendable ([Sources.Element.Element]) throws -> Element
  ) -> Observable<Element> where Sources.Element: ObservableType {
    ListCombination.stream(sources.map { $0.asObservable() }, resultSelector)
  }

  /// The newest elements, in the order of the streams. Of no streams, one empty array, and the end.
  public static func combineLatest<Sources: Collection>(
    _ sources: Sources
  ) -> Observable<[Element]> where Sources.Element: ObservableType<Element> {
    ListCombination.stream(sources.map { $0.asObservable() }, { $0 })
  }
}
