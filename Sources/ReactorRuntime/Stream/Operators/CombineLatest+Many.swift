/// `combineLatest` of five to eight streams: as that of two.
extension Observable {
  /// Sends what `resultSelector` returns for the newest elements.
  public static func combineLatest<
    S1: ObservableType, S2: ObservableType, S3: ObservableType, S4: ObservableType, S5: ObservableType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4, _ source5: S5,
    resultSelector:
      @escaping @Sendable (S1.Element, S2.Element, S3.Element, S4.Element, S5.Element) throws -> Element
  ) -> Observable<Element> {
    LatestOfMany<S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, Never, Never, Never>.combine(
      ManyStreams(
        a: source1.asObservable(), b: source2.asObservable(), c: source3.asObservable(),
        d: source4.asObservable(), e: source5.asObservable())
    ) { latest in
      guard let a = latest.a, let b = latest.b, let c = latest.c, let d = latest.d, let e = latest.e else {
        return nil
      }
      return try resultSelector(a, b, c, d, e)
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
    LatestOfMany<S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element, Never, Never>
      .combine(
        ManyStreams(
          a: source1.asObservable(), b: source2.asObservable(), c: source3.asObservable(),
          d: source4.asObservable(), e: source5.asObservable(), f: source6.asObservable())
      ) { latest in
        guard let a = latest.a, let b = latest.b, let c = latest.c, let d = latest.d, let e = latest.e,
          let f = latest.f
        else { return nil }
        return try resultSelector(a, b, c, d, e, f)
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
    LatestOfMany<S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element, S7.Element, Never>
      .combine(
        ManyStreams(
          a: source1.asObservable(), b: source2.asObservable(), c: source3.asObservable(),
          d: source4.asObservable(), e: source5.asObservable(), f: source6.asObservable(),
          g: source7.asObservable())
      ) { latest in
        guard let a = latest.a, let b = latest.b, let c = latest.c, let d = latest.d, let e = latest.e,
          let f = latest.f, let g = latest.g
        else { return nil }
        return try resultSelector(a, b, c, d, e, f, g)
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
    LatestOfMany<
      S1.Element, S2.Element, S3.Element, S4.Element, S5.Element, S6.Element, S7.Element, S8.Element
    >.combine(
      ManyStreams(
        a: source1.asObservable(), b: source2.asObservable(), c: source3.asObservable(),
        d: source4.asObservable(), e: source5.asObservable(), f: source6.asObservable(),
        g: source7.asObservable(), h: source8.asObservable())
    ) { latest in
      guard let a = latest.a, let b = latest.b, let c = latest.c, let d = latest.d, let e = latest.e,
        let f = latest.f, let g = latest.g, let h = latest.h
      else { return nil }
      return try resultSelector(a, b, c, d, e, f, g, h)
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

/// The state of `combineLatest` of many streams.
private struct LatestOfMany<
  A: Sendable, B: Sendable, C: Sendable, D: Sendable, E: Sendable, F: Sendable, G: Sendable, H: Sendable
>: Sendable {
  typealias Streams = ManyStreams<A, B, C, D, E, F, G, H>

  private(set) var a: A?
  private(set) var b: B?
  private(set) var c: C?
  private(set) var d: D?
  private(set) var e: E?
  private(set) var f: F?
  private(set) var g: G?
  private(set) var h: H?
  /// How many streams have not completed.
  private var running: Int

  private init(of count: Int) { running = count }

  /// - Parameter makeResult: Returns nil while an element is missing.
  static func combine<Result: Sendable>(
    _ streams: Streams, _ makeResult: @escaping @Sendable (LatestOfMany) throws -> Result?
  ) -> Observable<Result> {
    Observable { observer in
      let inputs = MultiSourceSink<LatestOfMany, Streams.Input, Result>(
        observer, LatestOfMany(of: streams.count)
      ) { sink, latest, input in
        let event = latest.note(input)
        sink.combine(after: event, running: latest.running) { [latest] in try makeResult(latest) }
      }
      streams.add(to: inputs)
      return inputs.sink
    }
  }

  /// Keeps the element, and returns the event without it.
  private mutating func note(_ input: Streams.Input) -> Event<Void> {
    let event: Event<Void> =
      switch input {
      case .a(let event): event.map { a = $0 }
      case .b(let event): event.map { b = $0 }
      case .c(let event): event.map { c = $0 }
      case .d(let event): event.map { d = $0 }
      case .e(let event): event.map { e = $0 }
      case .f(let event): event.map { f = $0 }
      case .g(let event): event.map { g = $0 }
      case .h(let event): event.map { h = $0 }
      }
    if event.isCompleted { running -= 1 }
    return event
  }
}
