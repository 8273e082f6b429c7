// The newest elements of several streams, put together: `combineLatest` and `withLatestFrom`.

/// Combines the newest elements of several streams.
///
/// Whenever one of the streams sends an element and each has sent one, the newest elements are combined.
/// Completes when all streams have completed, or when no further combination can come. Fails as soon as one
/// fails or the closure throws.
extension Observable {
  /// Sends what `resultSelector` returns for the newest elements.
  @inlinable
  public static func combineLatest<S1: ObservableType, S2: ObservableType>(
    _ source1: S1, _ source2: S2,
    resultSelector: @escaping @Sendable (S1.Element, S2.Element) throws -> Element
  ) -> Observable<Element> {
    LatestElements<S1.Element, S2.Element, Never, Never>.combine(
      source1.asObservable(), source2.asObservable(), nil, nil
    ) { latest in
      guard let a = latest.a, let b = latest.b else { return nil }
      return try resultSelector(a, b)
    }
  }

  /// Sends the newest elements.
  @inlinable
  public static func combineLatest<S1: ObservableType, S2: ObservableType>(
    _ source1: S1, _ source2: S2
  ) -> Observable<(S1.Element, S2.Element)> where Element == (S1.Element, S2.Element) {
    combineLatest(source1, source2, resultSelector: { ($0, $1) })
  }

  /// Sends what `resultSelector` returns for the newest elements.
  @inlinable
  public static func combineLatest<S1: ObservableType, S2: ObservableType, S3: ObservableType>(
    _ source1: S1, _ source2: S2, _ source3: S3,
    resultSelector: @escaping @Sendable (S1.Element, S2.Element, S3.Element) throws -> Element
  ) -> Observable<Element> {
    LatestElements<S1.Element, S2.Element, S3.Element, Never>.combine(
      source1.asObservable(), source2.asObservable(), source3.asObservable(), nil
    ) { latest in
      guard let a = latest.a, let b = latest.b, let c = latest.c else { return nil }
      return try resultSelector(a, b, c)
    }
  }

  /// Sends the newest elements.
  @inlinable
  public static func combineLatest<S1: ObservableType, S2: ObservableType, S3: ObservableType>(
    _ source1: S1, _ source2: S2, _ source3: S3
  ) -> Observable<(S1.Element, S2.Element, S3.Element)>
  where Element == (S1.Element, S2.Element, S3.Element) {
    combineLatest(source1, source2, source3, resultSelector: { ($0, $1, $2) })
  }

  /// Sends what `resultSelector` returns for the newest elements.
  @inlinable
  public static func combineLatest<
    S1: ObservableType, S2: ObservableType, S3: ObservableType, S4: ObservableType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4,
    resultSelector: @escaping @Sendable (S1.Element, S2.Element, S3.Element, S4.Element) throws -> Element
  ) -> Observable<Element> {
    LatestElements.combine(
      source1.asObservable(), source2.asObservable(), source3.asObservable(), source4.asObservable()
    ) { latest in
      guard let a = latest.a, let b = latest.b, let c = latest.c, let d = latest.d else { return nil }
      return try resultSelector(a, b, c, d)
    }
  }

  /// Sends the newest elements.
  @inlinable
  public static func combineLatest<
    S1: ObservableType, S2: ObservableType, S3: ObservableType, S4: ObservableType
  >(
    _ source1: S1, _ source2: S2, _ source3: S3, _ source4: S4
  ) -> Observable<(S1.Element, S2.Element, S3.Element, S4.Element)>
  where Element == (S1.Element, S2.Element, S3.Element, S4.Element) {
    combineLatest(source1, source2, source3, source4, resultSelector: { ($0, $1, $2, $3) })
  }

  /// Sends what `resultSelector` returns for the newest elements, in the order of the streams. Without
  /// streams it sends one result, and completes.
  ///
  /// - Complexity: O(n) for each element, in the number of streams.
  @inlinable
  public static func combineLatest<Sources: Collection>(
    _ sources: Sources,
    resultSelector: @escaping @Sendable ([Sources.Element.Element]) throws -> Element
  ) -> Observable<Element> where Sources.Element: ObservableType {
    LatestElementList.combine(sources.map { $0.asObservable() }, resultSelector)
  }

  /// Sends the newest elements, in the order of the streams. Without streams it sends one empty array, and
  /// completes.
  ///
  /// - Complexity: O(n) for each element, in the number of streams.
  @inlinable
  public static func combineLatest<Sources: Collection>(
    _ sources: Sources
  ) -> Observable<[Element]> where Sources.Element: ObservableType<Element> {
    LatestElementList.combine(sources.map { $0.asObservable() }, { $0 })
  }
}

/// The newest elements of another stream, one for each element of this one.
extension ObservableType {
  /// Sends what `resultSelector` returns for each element and the newest element of `second`. Elements that
  /// come before `second` has sent one are left out.
  ///
  /// `second` is subscribed to first. When it completes, the result goes on. Completes with this stream.
  /// Fails as soon as either fails or `resultSelector` throws.
  @inlinable
  public func withLatestFrom<Second: ObservableConvertibleType, Result>(
    _ second: Second, resultSelector: @escaping @Sendable (Element, Second.Element) throws -> Result
  ) -> Observable<Result> {
    let source = asObservable()
    let other = second.asObservable()
    return Observable { observer in
      let inputs = MultiSourceSink<Second.Element?, EitherEvent<Element, Second.Element>, Result>(
        observer, nil
      ) { sink, latest, input in
        switch input {
        case .second(.next(let element)): latest = .some(element)
        case .first(.next(let element)):
          guard let latest else { return }
          do { sink.next(try resultSelector(element, latest)) } catch { sink.fail(error) }
        case .first(.error(let error)), .second(.error(let error)): sink.fail(error)
        case .first(.completed): sink.complete()
        case .second(.completed): break
        }
      }
      inputs.add(other) { .second($0) }
      inputs.add(source) { .first($0) }
      return inputs.sink
    }
  }

  /// Sends the newest element of `second` for each element; see ``withLatestFrom(_:resultSelector:)``.
  @inlinable
  public func withLatestFrom<Second: ObservableConvertibleType>(_ second: Second) -> Observable<
    Second.Element
  > {
    withLatestFrom(second, resultSelector: { $1 })
  }
}

/// The state of `combineLatest` of up to four streams. A stream that is not there never sends.
@usableFromInline
struct LatestElements<A: Sendable, B: Sendable, C: Sendable, D: Sendable>: Sendable {
  @usableFromInline var a: A?
  @usableFromInline var b: B?
  @usableFromInline var c: C?
  @usableFromInline var d: D?
  /// How many streams have not completed.
  @usableFromInline var running: Int

  @usableFromInline
  enum Input: Sendable {
    case a(Event<A>)
    case b(Event<B>)
    case c(Event<C>)
    case d(Event<D>)
  }

  @inlinable
  init(of count: Int) { running = count }

  /// - Parameter makeResult: Returns nil while an element is missing.
  @inlinable
  static func combine<Result: Sendable>(
    _ first: Observable<A>, _ second: Observable<B>, _ third: Observable<C>?, _ fourth: Observable<D>?,
    _ makeResult: @escaping @Sendable (LatestElements) throws -> Result?
  ) -> Observable<Result> {
    let count = 2 + (third == nil ? 0 : 1) + (fourth == nil ? 0 : 1)
    return Observable { observer in
      let inputs = MultiSourceSink<LatestElements, Input, Result>(observer, LatestElements(of: count)) {
        sink, latest, input in
        let event = latest.note(input)
        sink.combine(after: event, running: latest.running) { [latest] in try makeResult(latest) }
      }
      inputs.addEndingFirst(first) { .a($0) }
      inputs.addEndingFirst(second) { .b($0) }
      if let third { inputs.addEndingFirst(third) { .c($0) } }
      if let fourth { inputs.addEndingFirst(fourth) { .d($0) } }
      return inputs.sink
    }
  }

  /// Keeps the element, and returns the event without it.
  @inlinable
  mutating func note(_ input: Input) -> Event<Void> {
    let event: Event<Void> =
      switch input {
      case .a(let event): event.map { a = $0 }
      case .b(let event): event.map { b = $0 }
      case .c(let event): event.map { c = $0 }
      case .d(let event): event.map { d = $0 }
      }
    if event.isCompleted { running -= 1 }
    return event
  }
}

/// The state of `combineLatest` of a list of streams.
@usableFromInline
struct LatestElementList<Element: Sendable>: Sendable {
  @usableFromInline var newest: [Element?]
  @usableFromInline var missing: Int
  @usableFromInline var running: Int

  @usableFromInline typealias Input = IndexedEvent<Element>

  @inlinable
  init(of count: Int) {
    newest = Array(repeating: nil, count: count)
    missing = count
    running = count
  }

  @inlinable
  static func combine<Result: Sendable>(
    _ streams: [Observable<Element>], _ makeResult: @escaping @Sendable ([Element]) throws -> Result
  ) -> Observable<Result> {
    if streams.isEmpty { return Observable<[Element]>.just([]).map(makeResult) }
    return Observable { observer in
      let inputs = MultiSourceSink<LatestElementList, Input, Result>(
        observer, LatestElementList(of: streams.count)
      ) { sink, latest, input in
        let event = latest.note(input)
        sink.combine(after: event, running: latest.running) { [latest] in
          latest.missing == 0 ? try makeResult(latest.newest.compactMap(\.self)) : nil
        }
      }
      for (index, stream) in streams.enumerated() {
        inputs.add(stream) { IndexedEvent(index: index, event: $0) }
      }
      return inputs.sink
    }
  }

  /// Keeps the element, and returns the event without it.
  @inlinable
  mutating func note(_ input: Input) -> Event<Void> {
    switch input.event {
    case .next(let element):
      if newest[input.index] == nil { missing -= 1 }
      newest[input.index] = .some(element)
    case .error: break
    case .completed: running -= 1
    }
    return input.event.map { _ in }
  }
}

extension Sink {
  /// Sends what follows from an event of one of the combined streams.
  ///
  /// - Parameters:
  ///   - running: How many of them have not completed.
  ///   - makeResult: Returns nil while an element is missing.
  @inlinable
  final func combine(
    after event: Event<Void>, running: Int, _ makeResult: () throws -> Element?
  ) {
    switch event {
    case .next:
      do {
        if let element = try makeResult() {
          next(element)
        } else if running == 1 {
          // What is missing will not come: only the stream that has just sent something is left.
          complete()
        }
      } catch { fail(error) }
    case .error(let error): fail(error)
    case .completed: if running == 0 { complete() }
    }
  }
}
