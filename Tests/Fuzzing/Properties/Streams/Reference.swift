/// Plain streams as the reference: closures that call closures, on one thread, with whole numbers as elements and
/// virtual time.
enum ReferenceEvent: Equatable {
  case next(Int)
  case error
  case completed

  var isStopEvent: Bool { if case .next = self { false } else { true } }
}

extension ReferenceEvent: CustomStringConvertible {
  var description: String {
    switch self {
    case .next(let element): "\(element)"
    case .error: "error"
    case .completed: "completed"
    }
  }
}

/// Subscribes, and returns a closure that ends the subscription.
typealias ReferenceStream = (@escaping (ReferenceEvent) -> Void) -> () -> Void

/// A stream that an operator subscribes to later than its own subscription. It begins inside of `ReferenceTurns.join`, so that what
/// takes turns begins once it can be ended; a subject replays at once.
typealias LaterStream = (stream: ReferenceStream, isSubject: Bool)

/// One subscription. After a stop event or the disposal it sends nothing, and ends the subscriptions that it depends
/// on.
final class ReferenceSink {
  /// Nil when everything is over, because what a closure holds may hold this.
  private var tell: ((ReferenceEvent) -> Void)?
  private var ends: [() -> Void] = []
  private(set) var isOver = false

  init(_ tell: @escaping (ReferenceEvent) -> Void) { self.tell = tell }

  func on(_ event: ReferenceEvent) {
    if isOver { return }
    if event.isStopEvent { isOver = true }
    tell?(event)
    if event.isStopEvent { end() }
  }

  func next(_ element: Int) { on(.next(element)) }

  func dispose() {
    isOver = true
    end()
  }

  /// Adds a closure to be called at the end, or calls it at once if everything is over.
  func own(_ end: @escaping () -> Void) { if isOver { end() } else { ends.append(end) } }

  /// Subscribes to one of several streams. With its stop event its subscription ends: before it is received if it is one of `events`,
  /// otherwise right afterwards. Streams that share a source can tell.
  ///
  /// A stream that ends inside of its own subscription cannot be ended before that has returned.
  func add(
    _ stream: ReferenceStream, endingBefore events: [ReferenceEvent],
    _ receive: @escaping (ReferenceEvent) -> Void
  ) {
    var hasEnded = false
    var end: () -> Void = {}
    let mine = stream { event in
      if !event.isStopEvent { return receive(event) }
      hasEnded = true
      if events.contains(event) { end() }
      receive(event)
      end()
    }
    if hasEnded { return mine() }
    end = mine
    own(mine)
  }

  private func end() {
    let ends = ends
    self.ends = []
    tell = nil
    for end in ends { end() }
  }

  /// A stream whose subscriptions are sinks.
  static func stream(_ body: @escaping (ReferenceSink) -> Void) -> ReferenceStream {
    return { tell in
      let sink = ReferenceSink(tell)
      body(sink)
      return { sink.dispose() }
    }
  }

  /// The shape of most operators of one stream: `next` receives each element, and stop events are forwarded.
  static func lift(
    _ source: @escaping ReferenceStream, _ makeNext: @escaping (ReferenceSink) -> (Int) -> Void
  ) -> ReferenceStream {
    stream { sink in
      let next = makeNext(sink)
      sink.own(
        source { event in
          if sink.isOver { return }
          if case .next(let element) = event { next(element) } else { sink.on(event) }
        })
    }
  }
}

/// Forwards its events to every observer, and sends the last elements to new ones first. Deliveries do not nest: an event that
/// an observer causes, such as by subscribing to what this shares, is delivered after the one that it has received.
final class ReferenceSubject {
  private let limit: Int
  /// Whether an observer that subscribes after the end receives the last elements, too.
  private let replaysAfterEnd: Bool
  private var recent: [Int]
  private(set) var stop: ReferenceEvent?
  /// What an observer receives has a greater number than the last one at its subscription.
  private var observers: [(key: Int, since: Int, tell: (ReferenceEvent) -> Void)] = []
  private var lastKey = 0
  private var waiting: [(number: Int, event: ReferenceEvent)] = []
  private var lastNumber = 0
  private var isDelivering = false
  /// The number of events that were sent to observers in all.
  private(set) var toldCount = 0

  init(limit: Int, replaysAfterEnd: Bool = false, _ recent: [Int] = []) {
    self.limit = limit
    self.replaysAfterEnd = replaysAfterEnd
    self.recent = recent
  }

  func on(_ event: ReferenceEvent) {
    if stop != nil { return }
    if case .next(let element) = event { recent = (recent + [element]).suffix(limit) } else { stop = event }
    lastNumber += 1
    waiting.append((lastNumber, event))
    deliver {}
  }

  /// Calls `replay`, then delivers what waits, unless a call around this one does that.
  private func deliver(after replay: () -> Void) {
    if isDelivering { return replay() }
    isDelivering = true
    replay()
    while !waiting.isEmpty {
      let (number, event) = waiting.removeFirst()
      let told = observers.filter { $0.since < number }
      if event.isStopEvent { observers = [] }
      toldCount += told.count
      for observer in told { observer.tell(event) }
    }
    isDelivering = false
  }

  func subscribe(_ tell: @escaping (ReferenceEvent) -> Void) -> () -> Void {
    let replayed = stop == nil || replaysAfterEnd ? recent : []
    lastKey += 1
    let key = lastKey
    if let stop {
      for element in replayed { tell(.next(element)) }
      tell(stop)
    } else {
      observers.append((key, lastNumber, tell))
      deliver { for element in replayed { tell(.next(element)) } }
    }
    return { [weak self] in self?.observers.removeAll { $0.key == key } }
  }
}

/// The streams of several elements that are known at once: they take turns while one subscription runs.
final class ReferenceTurns {
  private var waiting: [() -> Void] = []
  private var isOpen = false

  /// Calls `body`; the turns that it leaves come afterwards, unless a call around this one does that.
  func join(_ body: () -> Void) {
    if isOpen { return body() }
    isOpen = true
    body()
    while !waiting.isEmpty { waiting.removeFirst()() }
    isOpen = false
  }

  /// Calls `body`, which begins a stream later than its operator.
  func join(for later: LaterStream, _ body: () -> Void) { later.isSubject ? body() : join(body) }

  /// Calls `body` behind the turns that wait.
  func later(_ body: @escaping () -> Void) { join { self.waiting.append(body) } }

  func known(_ elements: [Int]) -> ReferenceStream {
    ReferenceSink.stream { sink in
      func takeTurn(_ index: Int) {
        if sink.isOver { return }
        if index == elements.count { return sink.on(.completed) }
        sink.next(elements[index])
        self.waiting.append { takeTurn(index + 1) }
      }
      self.later { takeTurn(0) }
    }
  }
}

/// Virtual time.
final class ReferenceClock {
  private var agenda: [(time: Int, number: Int, action: () -> Void)] = []
  private var lastNumber = 0
  private(set) var now = 0

  func after(_ delay: Int, _ action: @escaping () -> Void) -> () -> Void {
    lastNumber += 1
    let number = lastNumber
    agenda.append((now + delay, number, action))
    return { [weak self] in self?.agenda.removeAll { $0.number == number } }
  }

  func advance(_ ticks: Int) {
    let end = now + ticks
    while let next = agenda.min(by: { ($0.time, $0.number) < ($1.time, $1.number) }), next.time <= end {
      agenda.removeAll { $0.number == next.number }
      now = next.time
      next.action()
    }
    now = end
  }
}
