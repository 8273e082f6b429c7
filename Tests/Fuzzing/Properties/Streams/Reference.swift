/// Streams written plainly, to compare with: closures that call closures, on one thread, with whole numbers for
/// elements and virtual time.
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

/// Subscribes, and answers what ends the subscription.
typealias ReferenceStream = (@escaping (ReferenceEvent) -> Void) -> () -> Void

/// One subscription: tells nothing after a stop event or the disposal, and then ends what it stands on.
final class ReferenceSink {
  /// Nil once all is over: what a closure holds may hold this.
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

  /// Adds something to be ended, at once if all is over.
  func own(_ end: @escaping () -> Void) { if isOver { end() } else { ends.append(end) } }

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

  /// What most operators of one stream are: `next` gets each element, stop events are passed on.
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

/// Tells every observer what it is told, and new ones the last elements first.
final class ReferenceSubject {
  private let limit: Int
  /// Whether who comes after the end is told the last elements, too.
  private let replaysAfterEnd: Bool
  private var recent: [Int]
  private(set) var stop: ReferenceEvent?
  private var observers: [(key: Int, tell: (ReferenceEvent) -> Void)] = []
  private var lastKey = 0
  /// How many events observers were told in all.
  private(set) var toldCount = 0

  init(limit: Int, replaysAfterEnd: Bool = false, _ recent: [Int] = []) {
    self.limit = limit
    self.replaysAfterEnd = replaysAfterEnd
    self.recent = recent
  }

  func on(_ event: ReferenceEvent) {
    if stop != nil { return }
    if case .next(let element) = event { recent = (recent + [element]).suffix(limit) } else { stop = event }
    // Whoever comes while they are told is not.
    let told = observers
    if stop != nil { observers = [] }
    toldCount += told.count
    for observer in told { observer.tell(event) }
  }

  func subscribe(_ tell: @escaping (ReferenceEvent) -> Void) -> () -> Void {
    let replayed = stop == nil || replaysAfterEnd ? recent : []
    lastKey += 1
    let key = lastKey
    if stop == nil { observers.append((key, tell)) }
    for element in replayed { tell(.next(element)) }
    if let stop { tell(stop) }
    return { [weak self] in self?.observers.removeAll { $0.key == key } }
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
