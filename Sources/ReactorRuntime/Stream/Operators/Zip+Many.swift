/// `zip` of five to eight streams: as that of two.
extension Observable {
  /// Sends what `resultSelector` returns for the elements of the same number.
  public static func zip<
    S1: ObservableConvertibleType, S2: ObservableConvertibleType, S3: ObservableConvertibleType,
    S4: ObservableConvertibleType, S5: ObservableConvertibleType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4, _ source5: S5,
    resultSelector:
      @escaping @Sendable (S1.Element, S2.Element, S3.Element, S4.Element, S5.Element) throws -> Element
  ) -> Observable<Element> {
    ZippedMany<S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, Never, Never, Never>.zip(
      ManyStreams(
        a: source1.asObservable(), b: source2.asObservable(), c: source3.asObservable(),
        d: source4.asObservable(), e: source5.asObservable())
    ) { parts in
      guard let a = parts.a.takeFirst(), let b = parts.b.takeFirst(), let c = parts.c.takeFirst(),
        let d = parts.d.takeFirst(), let e = parts.e.takeFirst()
      else { return nil }
      return try resultSelector(a, b, c, d, e)
    }
  }

  /// Sends the elements of the same number.
  public static func zip<
    S1: ObservableConvertibleType, S2: ObservableConvertibleType, S3: ObservableConvertibleType,
    S4: ObservableConvertibleType, S5: ObservableConvertibleType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4, _ source5: S5
  ) -> Observable<(S1.Element, S2.Element, S3.Element, S4.Element, S5.Element)>
  where Element == (S1.Element, S2.Element, S3.Element, S4.Element, S5.Element) {
    zip(
      source1, source2, source3, source4, source5,
      resultSelector: { ($0, $1, $2, $3, $4) })
  }

  /// Sends what `resultSelector` returns for the elements of the same number.
  public static func zip<
    S1: ObservableConvertibleType, S2: ObservableConvertibleType, S3: ObservableConvertibleType,
    S4: ObservableConvertibleType, S5: ObservableConvertibleType, S6: ObservableConvertibleType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4, _ source5: S5, _ source6: S6,
    resultSelector:
      @escaping @Sendable (S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element) throws ->
      Element
  ) -> Observable<Element> {
    ZippedMany<S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element, Never, Never>.zip(
      ManyStreams(
        a: source1.asObservable(), b: source2.asObservable(), c: source3.asObservable(),
        d: source4.asObservable(), e: source5.asObservable(), f: source6.asObservable())
    ) { parts in
      guard let a = parts.a.takeFirst(), let b = parts.b.takeFirst(), let c = parts.c.takeFirst(),
        let d = parts.d.takeFirst(), let e = parts.e.takeFirst(), let f = parts.f.takeFirst()
      else { return nil }
      return try resultSelector(a, b, c, d, e, f)
    }
  }

  /// Sends the elements of the same number.
  public static func zip<
    S1: ObservableConvertibleType, S2: ObservableConvertibleType, S3: ObservableConvertibleType,
    S4: ObservableConvertibleType, S5: ObservableConvertibleType, S6: ObservableConvertibleType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4, _ source5: S5, _ source6: S6
  ) -> Observable<(S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element)>
  where Element == (S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element) {
    zip(
      source1, source2, source3, source4, source5, source6,
      resultSelector: { ($0, $1, $2, $3, $4, $5) })
  }

  /// Sends what `resultSelector` returns for the elements of the same number.
  public static func zip<
    S1: ObservableConvertibleType, S2: ObservableConvertibleType, S3: ObservableConvertibleType,
    S4: ObservableConvertibleType, S5: ObservableConvertibleType, S6: ObservableConvertibleType,
    S7: ObservableConvertibleType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4, _ source5: S5, _ source6: S6,
    _ source7: S7,
    resultSelector:
      @escaping @Sendable (
        S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element, S7.Element
      ) throws -> Element
  ) -> Observable<Element> {
    ZippedMany<S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element, S7.Element, Never>.zip(
      ManyStreams(
        a: source1.asObservable(), b: source2.asObservable(), c: source3.asObservable(),
        d: source4.asObservable(), e: source5.asObservable(), f: source6.asObservable(),
        g: source7.asObservable())
    ) { parts in
      guard let a = parts.a.takeFirst(), let b = parts.b.takeFirst(), let c = parts.c.takeFirst(),
        let d = parts.d.takeFirst(), let e = parts.e.takeFirst(), let f = parts.f.takeFirst(),
        let g = parts.g.takeFirst()
      else { return nil }
      return try resultSelector(a, b, c, d, e, f, g)
    }
  }

  /// Sends the elements of the same number.
  public static func zip<
    S1: ObservableConvertibleType, S2: ObservableConvertibleType, S3: ObservableConvertibleType,
    S4: ObservableConvertibleType, S5: ObservableConvertibleType, S6: ObservableConvertibleType,
    S7: ObservableConvertibleType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4, _ source5: S5, _ source6: S6,
    _ source7: S7
  ) -> Observable<(S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element, S7.Element)>
  where Element == (S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element, S7.Element) {
    zip(
      source1, source2, source3, source4, source5, source6, source7,
      resultSelector: { ($0, $1, $2, $3, $4, $5, $6) })
  }

  /// Sends what `resultSelector` returns for the elements of the same number.
  public static func zip<
    S1: ObservableConvertibleType, S2: ObservableConvertibleType, S3: ObservableConvertibleType,
    S4: ObservableConvertibleType, S5: ObservableConvertibleType, S6: ObservableConvertibleType,
    S7: ObservableConvertibleType, S8: ObservableConvertibleType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4, _ source5: S5, _ source6: S6,
    _ source7: S7, _ source8: S8,
    resultSelector:
      @escaping @Sendable (
        S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element, S7.Element, S8.Element
      ) throws -> Element
  ) -> Observable<Element> {
    ZippedMany<S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element, S7.Element, S8.Element>
      .zip(
        ManyStreams(
          a: source1.asObservable(), b: source2.asObservable(), c: source3.asObservable(),
          d: source4.asObservable(), e: source5.asObservable(), f: source6.asObservable(),
          g: source7.asObservable(), h: source8.asObservable())
      ) { parts in
        guard let a = parts.a.takeFirst(), let b = parts.b.takeFirst(), let c = parts.c.takeFirst(),
          let d = parts.d.takeFirst(), let e = parts.e.takeFirst(), let f = parts.f.takeFirst(),
          let g = parts.g.takeFirst(), let h = parts.h.takeFirst()
        else { return nil }
        return try resultSelector(a, b, c, d, e, f, g, h)
      }
  }

  /// Sends the elements of the same number.
  public static func zip<
    S1: ObservableConvertibleType, S2: ObservableConvertibleType, S3: ObservableConvertibleType,
    S4: ObservableConvertibleType, S5: ObservableConvertibleType, S6: ObservableConvertibleType,
    S7: ObservableConvertibleType, S8: ObservableConvertibleType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4, _ source5: S5, _ source6: S6,
    _ source7: S7, _ source8: S8
  ) -> Observable<
    (S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element, S7.Element, S8.Element)
  >
  where
    Element == (
      S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element, S7.Element, S8.Element
    )
  {
    zip(
      source1, source2, source3, source4, source5, source6, source7, source8,
      resultSelector: { ($0, $1, $2, $3, $4, $5, $6, $7) })
  }
}
