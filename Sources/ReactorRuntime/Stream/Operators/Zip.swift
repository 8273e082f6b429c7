/// Combines the first elements of several streams, then the second ones, and so on.
///
/// Completes when no further combination can come: a stream has completed, and all of its elements were used. Fails as
/// soon as one fails or the closure throws.
///
/// The elements of a stream that is ahead wait in memory: up to 65,536, where RxSwift has no limit. With one more the
/// result fails with ``RxError/overflow``.
extension Observable {
  /// Sends what `resultSelector` returns for the elements of the same number.
  @inlinable
  public static func zip<S1: ObservableConvertibleType, S2: ObservableConvertibleType>(
    _ source1: S1, _ source2: S2,
    resultSelector: @escaping @Sendable (S1.Element, S2.Element) throws -> Element
  ) -> Observable<Element> {
    let (first, second) = (source1.asObservable(), source2.asObservable())
    return Observable { observer in
      let inputs = MultiSourceSink<
        ZippedPair<S1.Element, S2.Element>, ZippedPair<S1.Element, S2.Element>.Input, Element
      >(observer, ZippedPair()) { sink, pair, input in
        do {
          if let (a, b) = try pair.note(input) { sink.next(try resultSelector(a, b)) }
          if pair.isOver { sink.complete() }
        } catch { sink.fail(error) }
      }
      inputs.addEndingFirst(first) { .first($0) }
      inputs.addEndingFirst(second) { .second($0) }
      return inputs.sink
    }
  }

  /// Sends the elements of the same number.
  @inlinable
  public static func zip<S1: ObservableConvertibleType, S2: ObservableConvertibleType>(
    _ source1: S1, _ source2: S2
  ) -> Observable<(S1.Element, S2.Element)> where Element == (S1.Element, S2.Element) {
    zip(source1, source2) { ($0, $1) }
  }

  /// Sends what `resultSelector` returns for the elements of the same number.
  public static func zip<
    S1: ObservableConvertibleType, S2: ObservableConvertibleType, S3: ObservableConvertibleType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3,
    resultSelector: @escaping @Sendable (S1.Element, S2.Element, S3.Element) throws -> Element
  ) -> Observable<Element> {
    ZippedMany<S1.Element, S2.Element, S3.Element, Never, Never, Never, Never, Never>.zip(
      ManyStreams(a: source1.asObservable(), b: source2.asObservable(), c: source3.asObservable())
    ) { parts in
      guard let a = parts.a.takeFirst(), let b = parts.b.takeFirst(), let c = parts.c.takeFirst() else {
        return nil
      }
      return try resultSelector(a, b, c)
    }
  }

  /// Sends the elements of the same number.
  @inlinable
  public static func zip<
    S1: ObservableConvertibleType, S2: ObservableConvertibleType, S3: ObservableConvertibleType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3
  ) -> Observable<(S1.Element, S2.Element, S3.Element)>
  where Element == (S1.Element, S2.Element, S3.Element) {
    zip(source1, source2, source3) { ($0, $1, $2) }
  }

  /// Sends what `resultSelector` returns for the elements of the same number.
  public static func zip<
    S1: ObservableConvertibleType, S2: ObservableConvertibleType, S3: ObservableConvertibleType,
    S4: ObservableConvertibleType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4,
    resultSelector: @escaping @Sendable (S1.Element, S2.Element, S3.Element, S4.Element) throws -> Element
  ) -> Observable<Element> {
    ZippedMany<S1.Element, S2.Element, S3.Element, S4.Element, Never, Never, Never, Never>.zip(
      ManyStreams(
        a: source1.asObservable(), b: source2.asObservable(), c: source3.asObservable(),
        d: source4.asObservable())
    ) { parts in
      guard let a = parts.a.takeFirst(), let b = parts.b.takeFirst(), let c = parts.c.takeFirst(),
        let d = parts.d.takeFirst()
      else { return nil }
      return try resultSelector(a, b, c, d)
    }
  }

  /// Sends the elements of the same number.
  @inlinable
  public static func zip<
    S1: ObservableConvertibleType, S2: ObservableConvertibleType, S3: ObservableConvertibleType,
    S4: ObservableConvertibleType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4
  ) -> Observable<(S1.Element, S2.Element, S3.Element, S4.Element)>
  where Element == (S1.Element, S2.Element, S3.Element, S4.Element) {
    zip(source1, source2, source3, source4) { ($0, $1, $2, $3) }
  }

  /// Sends what `resultSelector` returns for the elements of the same number, in the order of the streams. Without
  /// streams it completes at once.
  ///
  /// - Complexity: O(1) for each element, and O(n) for each result, in the number of streams.
  @inlinable
  public static func zip<Sources: Collection>(
    _ sources: Sources, resultSelector: @escaping @Sendable ([Sources.Element.Element]) throws -> Element
  ) -> Observable<Element> where Sources.Element: ObservableConvertibleType {
    ZippedList.zip(sources.map { $0.asObservable() }, resultSelector)
  }

  /// Sends the elements of the same number, in the order of the streams. Without streams it completes at once.
  ///
  /// - Complexity: O(1) for each element, and O(n) for each result, in the number of streams.
  @inlinable
  public static func zip<Sources: Collection>(
    _ sources: Sources
  ) -> Observable<[Element]> where Sources.Element: ObservableConvertibleType<Element> {
    ZippedList.zip(sources.map { $0.asObservable() }, { $0 })
  }
}

/// The state of `zip` of two streams.
@usableFromInline
struct ZippedPair<A: Sendable, B: Sendable>: Sendable {
  @usableFromInline var first = WaitingElements<A>()
  @usableFromInline var second = WaitingElements<B>()
  @usableFromInline var firstHasEnded = false
  @usableFromInline var secondHasEnded = false

  @usableFromInline typealias Input = EitherEvent<A, B>

  @inlinable
  init() {}

  /// Whether no further pair can come.
  @inlinable
  var isOver: Bool { firstHasEnded && first.isEmpty || secondHasEnded && second.isEmpty }

  /// Keeps an event of a stream.
  ///
  /// - Returns: The pair that it completes.
  /// - Throws: The error of the stream, or ``RxError/overflow``.
  @inlinable
  mutating func note(_ input: Input) throws -> (A, B)? {
    switch input {
    case .first(.next(let element)): try first.appendUpToLimit(element)
    case .second(.next(let element)): try second.appendUpToLimit(element)
    case .first(.error(let error)), .second(.error(let error)): throw error
    case .first(.completed): firstHasEnded = true
    case .second(.completed): secondHasEnded = true
    }
    if first.isEmpty || second.isEmpty { return nil }
    guard let a = first.takeFirst(), let b = second.takeFirst() else { return nil }
    return (a, b)
  }
}

/// The state of `zip` of a list of streams.
@usableFromInline
struct ZippedList<Element: Sendable>: Sendable {
  @usableFromInline
  struct Part: Sendable {
    @usableFromInline var waiting = WaitingElements<Element>()
    @usableFromInline var hasEnded = false

    @inlinable
    init() {}
  }

  @usableFromInline typealias Input = IndexedEvent<Element>

  @usableFromInline var parts: [Part]
  /// How many parts have no element.
  @usableFromInline var missing: Int
  /// Whether no further result can come: a part has ended, and has no element.
  @usableFromInline var isOver = false

  @inlinable
  init(of count: Int) {
    parts = Array(repeating: Part(), count: count)
    missing = count
  }

  @inlinable
  static func zip<Result: Sendable>(
    _ streams: [Observable<Element>], _ makeResult: @escaping @Sendable ([Element]) throws -> Result
  ) -> Observable<Result> {
    if streams.isEmpty { return .empty() }
    return Observable { observer in
      let inputs = MultiSourceSink<ZippedList, Input, Result>(observer, ZippedList(of: streams.count)) {
        sink, list, input in
        do {
          if let elements = try list.note(input) { sink.next(try makeResult(elements)) }
          if list.isOver { sink.complete() }
        } catch { sink.fail(error) }
      }
      for (index, stream) in streams.enumerated() {
        inputs.add(stream) { IndexedEvent(index: index, event: $0) }
      }
      return inputs.sink
    }
  }

  @inlinable
  mutating func note(_ input: Input) throws -> [Element]? {
    switch input.event {
    case .next(let element):
      if parts[input.index].waiting.isEmpty { missing -= 1 }
      try parts[input.index].waiting.appendUpToLimit(element)
    case .error(let error): throw error
    case .completed:
      parts[input.index].hasEnded = true
      if parts[input.index].waiting.isEmpty { isOver = true }
    }
    if missing > 0 { return nil }
    var elements: [Element] = []
    for index in parts.indices {
      if let element = parts[index].waiting.takeFirst() { elements.append(element) }
      if parts[index].waiting.isEmpty {
        missing += 1
        if parts[index].hasEnded { isOver = true }
      }
    }
    return elements
  }
}
