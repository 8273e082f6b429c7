/// What `combineLatest` of up to four streams knows; of those that are not there, nothing ever comes.
struct Combination<A: Sendable, B: Sendable, C: Sendable, D: Sendable>: Sendable {
  private(set) var a: A?
  private(set) var b: B?
  private(set) var c: C?
  private(set) var d: D?
  /// How many streams have not ended well.
  private var running: Int

  private enum Input: Sendable {
    case a(Event<A>)
    case b(Event<B>)
    case c(Event<C>)
    case d(Event<D>)
  }

  private init(of count: Int) { running = count }

  /// - Parameter combine: Answers nil while an element is missing.
  static func stream<Result: Sendable>(
    _ first: Observable<A>, _ second: Observable<B>, _ third: Observable<C>?, _ fourth: Observable<D>?,
    _ combine: @escaping @Sendable (Combination) throws -> Result?
  ) -> Observable<Result> {
    let count = 2 + (third == nil ? 0 : 1) + (fourth == nil ? 0 : 1)
    return Observable { observer in
      let junction = Junction<Combination, Input, Result>(observer, Combination(of: count)) {
        sink, known, input in
        let event = known.note(input)
        sink.combine(after: event, running: known.running) { [known] in try combine(known) }
      }
      junction.add(first) { .a($0) }
      junction.add(second) { .b($0) }
      if let third { junction.add(third) { .c($0) } }
      if let fourth { junction.add(fourth) { .d($0) } }
      return junction.sink
    }
  }

  /// The event, without its element, which is known afterwards.
  private mutating func note(_ input: Input) -> Event<Void> {
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

/// What `combineLatest` of a list of streams knows.
struct ListCombination<Element: Sendable>: Sendable {
  private var newest: [Element?]
  private var missing: Int
  private var running: Int

  private struct Input: Sendable {
    let index: Int
    let event: Event<Element>
  }

  private init(of count: Int) {
    newest = Array(repeating: nil, count: count)
    missing = count
    running = count
  }

  static func stream<Result: Sendable>(
    _ streams: [Observable<Element>], _ combine: @escaping @Sendable ([Element]) throws -> Result
  ) -> Observable<Result> {
    if streams.isEmpty { return Observable<[Element]>.just([]).map(combine) }
    return Observable { observer in
      let junction = Junction<ListCombination, Input, Result>(observer, ListCombination(of: streams.count)) {
        sink, known, input in
        let event = known.note(input)
        sink.combine(after: event, running: known.running) { [known] in
          known.missing == 0 ? try combine(known.newest.compactMap(\.self)) : nil
        }
      }
      for (index, stream) in streams.enumerated() {
        junction.add(stream) { Input(index: index, event: $0) }
      }
      return junction.sink
    }
  }

  /// The event, without its element, which is known afterwards.
  private mutating func note(_ input: Input) -> Event<Void> {
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
  /// What follows from an event of one of the streams that are combined.
  ///
  /// - Parameters:
  ///   - running: How many of them have not ended well.
  ///   - result: Answers nil while an element is missing.
  fileprivate final func combine(after event: Event<Void>, running: Int, _ result: () throws -> Element?) {
    switch event {
    case .next:
      do {
        if let element = try result() {
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
