// What `zip` and `combineLatest` of several streams receive. Three to eight streams of different types are together, not in pairs: a pair
// that can make no further result would end, and hide that one of its streams fails later.

/// An event of one of two streams.
@usableFromInline
enum EitherEvent<First: Sendable, Second: Sendable>: Sendable {
  case first(Event<First>)
  case second(Event<Second>)
}

/// An event of one of the streams of a list.
@usableFromInline
struct IndexedEvent<Element: Sendable>: Sendable {
  @usableFromInline let index: Int
  @usableFromInline let event: Event<Element>

  @inlinable
  init(index: Int, event: Event<Element>) { (self.index, self.event) = (index, event) }
}

/// An event of one of up to eight streams.
enum EventOfMany<
  A: Sendable, B: Sendable, C: Sendable, D: Sendable, E: Sendable, F: Sendable, G: Sendable, H: Sendable
>: Sendable {
  case a(Event<A>)
  case b(Event<B>)
  case c(Event<C>)
  case d(Event<D>)
  case e(Event<E>)
  case f(Event<F>)
  case g(Event<G>)
  case h(Event<H>)
}

/// Three to eight streams. Where there is none, the element's type is `Never`.
struct ManyStreams<
  A: Sendable, B: Sendable, C: Sendable, D: Sendable, E: Sendable, F: Sendable, G: Sendable, H: Sendable
>: Sendable {
  typealias Input = EventOfMany<A, B, C, D, E, F, G, H>

  let a: Observable<A>
  let b: Observable<B>
  let c: Observable<C>
  var d: Observable<D>?
  var e: Observable<E>?
  var f: Observable<F>?
  var g: Observable<G>?
  var h: Observable<H>?

  var count: Int {
    var count = 3
    if d != nil { count += 1 }
    if e != nil { count += 1 }
    if f != nil { count += 1 }
    if g != nil { count += 1 }
    if h != nil { count += 1 }
    return count
  }

  /// Subscribes to them, in their order.
  func add<State, Result>(to inputs: MultiSourceSink<State, Input, Result>) {
    inputs.addEndingFirst(a) { .a($0) }
    inputs.addEndingFirst(b) { .b($0) }
    inputs.addEndingFirst(c) { .c($0) }
    if let d { inputs.addEndingFirst(d) { .d($0) } }
    if let e { inputs.addEndingFirst(e) { .e($0) } }
    if let f { inputs.addEndingFirst(f) { .f($0) } }
    if let g { inputs.addEndingFirst(g) { .g($0) } }
    if let h { inputs.addEndingFirst(h) { .h($0) } }
  }
}

/// The state of `zip` of many streams: the elements that wait for those of the others.
struct ZippedMany<
  A: Sendable, B: Sendable, C: Sendable, D: Sendable, E: Sendable, F: Sendable, G: Sendable, H: Sendable
>: Sendable {
  typealias Streams = ManyStreams<A, B, C, D, E, F, G, H>

  var a = WaitingElements<A>()
  var b = WaitingElements<B>()
  var c = WaitingElements<C>()
  var d = WaitingElements<D>()
  var e = WaitingElements<E>()
  var f = WaitingElements<F>()
  var g = WaitingElements<G>()
  var h = WaitingElements<H>()
  /// A bit for each stream.
  private let all: UInt8
  private var ended: UInt8 = 0

  private init(of count: Int) { all = UInt8(1 << count - 1) }

  /// - Parameter takeResult: Takes one element of each stream. Called if there is one.
  static func zip<Result: Sendable>(
    _ streams: Streams, _ takeResult: @escaping @Sendable (inout ZippedMany) throws -> Result?
  ) -> Observable<Result> {
    Observable { observer in
      let inputs = MultiSourceSink<ZippedMany, Streams.Input, Result>(
        observer, ZippedMany(of: streams.count)
      ) { sink, zipped, input in
        do {
          try zipped.note(input)
          if zipped.filled == zipped.all, let result = try takeResult(&zipped) { sink.next(result) }
          if zipped.ended & ~zipped.filled != 0 { sink.complete() }
        } catch { sink.fail(error) }
      }
      streams.add(to: inputs)
      return inputs.sink
    }
  }

  /// Of which streams elements wait.
  private var filled: UInt8 {
    var bits: UInt8 = 0
    if !a.isEmpty { bits |= 1 << 0 }
    if !b.isEmpty { bits |= 1 << 1 }
    if !c.isEmpty { bits |= 1 << 2 }
    if !d.isEmpty { bits |= 1 << 3 }
    if !e.isEmpty { bits |= 1 << 4 }
    if !f.isEmpty { bits |= 1 << 5 }
    if !g.isEmpty { bits |= 1 << 6 }
    if !h.isEmpty { bits |= 1 << 7 }
    return bits
  }

  private mutating func note(_ input: Streams.Input) throws {
    switch input {
    case .a(let event): if try a.noteEnd(of: event) { ended |= 1 << 0 }
    case .b(let event): if try b.noteEnd(of: event) { ended |= 1 << 1 }
    case .c(let event): if try c.noteEnd(of: event) { ended |= 1 << 2 }
    case .d(let event): if try d.noteEnd(of: event) { ended |= 1 << 3 }
    case .e(let event): if try e.noteEnd(of: event) { ended |= 1 << 4 }
    case .f(let event): if try f.noteEnd(of: event) { ended |= 1 << 5 }
    case .g(let event): if try g.noteEnd(of: event) { ended |= 1 << 6 }
    case .h(let event): if try h.noteEnd(of: event) { ended |= 1 << 7 }
    }
  }
}

extension WaitingElements {
  /// Keeps the element, if the event has one.
  ///
  /// - Returns: Whether the stream has completed.
  /// - Throws: The error of the stream, or ``RxError/overflow``.
  fileprivate mutating func noteEnd(of event: Event<Element>) throws -> Bool {
    switch event {
    case .next(let element): try appendUpToLimit(element)
    case .error(let error): throw error
    case .completed: return true
    }
    return false
  }
}
