/// `combineLatest` of five to eight streams: as that of four, of which it is made. Each element of any stream still makes
/// one result.
extension Observable {
  /// Sends what `resultSelector` returns for the newest elements.
  public static func combineLatest<
    S1: ObservableType, S2: ObservableType, S3: ObservableType, S4: ObservableType, S5: ObservableType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4, _ source5: S5,
    resultSelector:
      @escaping @Sendable (S1.Element, S2.Element, S3.Element, S4.Element, S5.Element) throws -> Element
  ) -> Observable<Element> {
    let first = Observable<(S1.Element, S2.Element, S3.Element, S4.Element)>.combineLatest(
      source1, source2, source3, source4)
    return combineLatest(
      first, source5
    ) {
      try resultSelector($0.0, $0.1, $0.2, $0.3, $1)
    }
  }

  /// Sends the newest elements.
  public static func combineLatest<
    S1: ObservableType, S2: ObservableType, S3: ObservableType, S4: ObservableType, S5: ObservableType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4, _ source5: S5
  ) -> Observable<(S1.Element, S2.Element, S3.Element, S4.Element, S5.Element)>
  where Element == (S1.Element, S2.Element, S3.Element, S4.Element, S5.Element) {
    combineLatest(
      source1, source2, source3, source4, source5,
      resultSelector: { ($0, $1, $2, $3, $4) })
  }

  /// Sends what `resultSelector` returns for the newest elements.
  public static func combineLatest<
    S1: ObservableType, S2: ObservableType, S3: ObservableType, S4: ObservableType, S5: ObservableType,
    S6: ObservableType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4, _ source5: S5, _ source6: S6,
    resultSelector:
      @escaping @Sendable (S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element) throws ->
      Element
  ) -> Observable<Element> {
    let first = Observable<(S1.Element, S2.Element, S3.Element, S4.Element)>.combineLatest(
      source1, source2, source3, source4)
    return combineLatest(
      first, source5, source6
    ) {
      try resultSelector($0.0, $0.1, $0.2, $0.3, $1, $2)
    }
  }

  /// Sends the newest elements.
  public static func combineLatest<
    S1: ObservableType, S2: ObservableType, S3: ObservableType, S4: ObservableType, S5: ObservableType,
    S6: ObservableType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4, _ source5: S5, _ source6: S6
  ) -> Observable<(S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element)>
  where Element == (S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element) {
    combineLatest(
      source1, source2, source3, source4, source5, source6,
      resultSelector: { ($0, $1, $2, $3, $4, $5) })
  }

  /// Sends what `resultSelector` returns for the newest elements.
  public static func combineLatest<
    S1: ObservableType, S2: ObservableType, S3: ObservableType, S4: ObservableType, S5: ObservableType,
    S6: ObservableType, S7: ObservableType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4, _ source5: S5, _ source6: S6, _ source7: S7,
    resultSelector:
      @escaping @Sendable (S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element, S7.Element)
      throws -> Element
  ) -> Observable<Element> {
    let first = Observable<(S1.Element, S2.Element, S3.Element, S4.Element)>.combineLatest(
      source1, source2, source3, source4)
    return combineLatest(
      first, source5, source6, source7
    ) {
      try resultSelector($0.0, $0.1, $0.2, $0.3, $1, $2, $3)
    }
  }

  /// Sends the newest elements.
  public static func combineLatest<
    S1: ObservableType, S2: ObservableType, S3: ObservableType, S4: ObservableType, S5: ObservableType,
    S6: ObservableType, S7: ObservableType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4, _ source5: S5, _ source6: S6, _ source7: S7
  ) -> Observable<(S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element, S7.Element)>
  where Element == (S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element, S7.Element) {
    combineLatest(
      source1, source2, source3, source4, source5, source6, source7,
      resultSelector: { ($0, $1, $2, $3, $4, $5, $6) })
  }

  /// Sends what `resultSelector` returns for the newest elements.
  public static func combineLatest<
    S1: ObservableType, S2: ObservableType, S3: ObservableType, S4: ObservableType, S5: ObservableType,
    S6: ObservableType, S7: ObservableType, S8: ObservableType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4, _ source5: S5, _ source6: S6, _ source7: S7,
    _ source8: S8,
    resultSelector:
      @escaping @Sendable (
        S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element, S7.Element, S8.Element
      ) throws -> Element
  ) -> Observable<Element> {
    let first = Observable<(S1.Element, S2.Element, S3.Element, S4.Element)>.combineLatest(
      source1, source2, source3, source4)
    let second = Observable<(S5.Element, S6.Element, S7.Element, S8.Element)>.combineLatest(
      source5, source6, source7, source8)
    return combineLatest(first, second) {
      try resultSelector($0.0, $0.1, $0.2, $0.3, $1.0, $1.1, $1.2, $1.3)
    }
  }

  /// Sends the newest elements.
  public static func combineLatest<
    S1: ObservableType, S2: ObservableType, S3: ObservableType, S4: ObservableType, S5: ObservableType,
    S6: ObservableType, S7: ObservableType, S8: ObservableType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4, _ source5: S5, _ source6: S6, _ source7: S7,
    _ source8: S8
  ) -> Observable<
    (S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element, S7.Element, S8.Element)
  >
  where
    Element == (
      S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element, S7.Element, S8.Element
    )
  {
    combineLatest(
      source1, source2, source3, source4, source5, source6, source7, source8,
      resultSelector: { ($0, $1, $2, $3, $4, $5, $6, $7) })
  }
}
