import ReactorCore

/// What all subjects are: accepts events from any threads, and tells them to each observer in one order.
///
/// An event is accepted under the lock: there it gets its number, and what later subscribers are told
/// changes. It is delivered afterwards, with no lock held, by one thread at a time, the handler: whoever
/// found none, and then also what others brought meanwhile, who do not wait. So whoever brought an event
/// reads what he wrote, also from inside an observer, and never recurses.
///
/// An observer is told the events with numbers after that of its subscription; the effect of those before is
/// in what it was replayed, even if they are not delivered yet.
///
/// Memory is bounded: who brings an event while ``Crowd/limit`` others wait sleeps until there are fewer, as
/// with ``Serializer``.
final class SubjectCore<Element: Sendable>: Sendable {
  struct Accepted: Sendable {
    let event: Event<Element>
    let number: UInt64
  }

  struct Member: Sendable {
    let key: UInt64
    /// The number of the last event that it is not told.
    let since: UInt64
    let observer: AnyObserver<Element>
  }

  /// Nothing of a user's may be destroyed while the lock is held: it could come back here. So whatever leaves
  /// this is handed out.
  struct State: Sendable {
    /// In the order of subscription, and so of the keys.
    var members: [Member] = []
    var waiting: [Accepted] = []
    /// The token of the thread that delivers; 0 if none does.
    var handler: UInt64 = 0
    var lastNumber: UInt64 = 0
    var lastKey: UInt64 = 0
    var recent: RecentElements<Element>
    var stopEvent: Event<Element>?
  }

  let state: SystemMutex<State>
  /// Whether who subscribes after the end is told the recent elements, and not the end only.
  let replaysAfterEnd: Bool

  init(_ recent: RecentElements<Element>, replaysAfterEnd: Bool = false) {
    state = SystemMutex(State(recent: recent))
    self.replaysAfterEnd = replaysAfterEnd
  }

  /// Any thread; may be stale at once.
  var hasObservers: Bool { state.withLock { !$0.members.isEmpty } }

  /// The last element that was accepted. Any thread.
  var last: Element? { state.withLock { $0.recent.last } }

  /// The end, if it was accepted. Any thread.
  var stopEvent: Event<Element>? { state.withLock { $0.stopEvent } }

  /// The last element, and the end, if they were accepted; of the same moment. Any thread.
  var lastAndStopEvent: (Element?, Event<Element>?) {
    state.withLock { ($0.recent.last, $0.stopEvent) }
  }

  /// A stream of what is accepted from each subscription on. It keeps this alive; its subscriptions do not.
  var stream: Observable<Element> { Observable(identity: self) { self.subscribe($0) } }

  /// Accepts an event, and delivers it or leaves that to the thread that is delivering another. Any thread.
  func on(_ event: Event<Element>) {
    let me = CurrentCore.threadToken
    switch state.withLock({ $0.accept(event, from: me) }) {
    case .isOver: break
    case .deliver(let accepted, let members, _):
      deliver(accepted, to: members)
      drain()
    case .left(let isCrowded, _):
      if isCrowded { waitForRoom(me) }
    }
  }

  /// Delivers what was left to this thread, which is the handler, and then no longer is.
  func drain() {
    while true {
      let batch: [Accepted] = state.withLock { state in
        if state.waiting.isEmpty { state.handler = 0 }
        defer { state.waiting = [] }
        return state.waiting
      }
      if batch.isEmpty { return }
      if batch.count > Crowd.limit { Crowd.notify() }
      for accepted in batch { deliver(accepted, to: state.withLock { $0.members(for: accepted) }) }
    }
  }

  private func deliver(_ accepted: Accepted, to members: [Member]) {
    for member in members where member.since < accepted.number { member.observer.on(accepted.event) }
  }

  private func waitForRoom(_ me: UInt64) {
    Crowd.wait(
      me, handler: { [self] in state.withLock { $0.handler } },
      hasRoom: { [self] in state.withLock { $0.handler == 0 || $0.waiting.count <= Crowd.limit } })
  }
}

extension SubjectCore.State {
  enum Acceptance: Sendable {
    /// Nothing is accepted after a stop event.
    case isOver
    /// The caller is the handler now.
    case deliver(SubjectCore.Accepted, to: [SubjectCore.Member], displaced: Element?)
    /// To the handler.
    case left(isCrowded: Bool, displaced: Element?)
  }

  mutating func accept(_ event: Event<Element>, from thread: UInt64) -> Acceptance {
    if stopEvent != nil { return .isOver }
    var displaced: Element?
    if case .next(let element) = event { displaced = recent.append(element) } else { stopEvent = event }
    lastNumber += 1
    let accepted = SubjectCore.Accepted(event: event, number: lastNumber)
    if handler == 0 {
      handler = thread
      return .deliver(accepted, to: members(for: accepted), displaced: displaced)
    }
    waiting.append(accepted)
    return .left(isCrowded: waiting.count > Crowd.limit && handler != thread, displaced: displaced)
  }

  /// Whom to tell an event that is delivered now. Whom a stop event is told is forgotten.
  mutating func members(for accepted: SubjectCore.Accepted) -> [SubjectCore.Member] {
    defer { if accepted.event.isStopEvent { members = [] } }
    return members
  }
}
