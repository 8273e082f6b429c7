import ReactorCore

/// The implementation of all subjects: accepts events from any threads, and delivers them to each observer in
/// one order.
///
/// An event is *accepted* under the lock: there it gets its number, and what later subscribers are replayed
/// changes. It is *delivered* afterwards, with no lock held, by one thread at a time: the drainer of a
/// ``SerialDrain``. So a thread that has brought an event reads what it wrote, also from inside an observer,
/// and deliveries do not nest.
///
/// An observer receives the events whose numbers are greater than the last number at its subscription. The
/// effect of the earlier ones is in what it was replayed, even if they have not been delivered yet.
///
/// Memory is bounded by ``Backpressure``.
///
/// Inlinable throughout, as ``SerialDrain`` is, so that it is specialised for the element. Otherwise looking
/// the generic types up takes twenty times as long as the delivery itself.
@usableFromInline
final class SubjectCore<Element: Sendable>: Sendable {
  @usableFromInline
  struct Accepted: Sendable {
    @usableFromInline let event: Event<Element>
    @usableFromInline let number: UInt64

    @inlinable
    init(event: Event<Element>, number: UInt64) {
      self.event = event
      self.number = number
    }
  }

  @usableFromInline
  struct Member: Sendable {
    @usableFromInline let key: UInt64
    /// The number of the last event that it does not receive.
    @usableFromInline let since: UInt64
    /// Nil once it was removed.
    @usableFromInline var observer: AnyObserver<Element>?

    @inlinable
    init(key: UInt64, since: UInt64, observer: AnyObserver<Element>) {
      self.key = key
      self.since = since
      self.observer = observer
    }
  }

  /// What the lock guards. Destroying a user's element or observer may call this subject, so whatever leaves
  /// this is handed out, and destroyed after the lock.
  @usableFromInline
  struct State: Sendable {
    /// In the order of subscription, and so of the keys. While a drain is active, the drainer reads it outside of the lock, and
    /// alone changes it.
    @usableFromInline var members: [Member] = []
    /// How many of these have no observer any more.
    @usableFromInline var removedCount = 0
    /// What the drainer adds to the members.
    @usableFromInline var joining: [Member] = []
    /// The keys of what the drainer removes from them.
    @usableFromInline var leaving: [UInt64] = []
    @usableFromInline var drain = SerialDrain<Accepted>()
    /// How many threads were told to wait for room, and have not gone on.
    @usableFromInline var waitingCount = 0
    /// Whether the drain is left to the first of these that goes on.
    @usableFromInline var isHandedOver = false
    @usableFromInline var lastNumber: UInt64 = 0
    @usableFromInline var lastKey: UInt64 = 0
    @usableFromInline var recent: RecentElements<Element>
    @usableFromInline var stopEvent: Event<Element>?

    @inlinable
    init(recent: RecentElements<Element>) { self.recent = recent }
  }

  @usableFromInline let state: SystemMutex<State>
  /// Whether a subscriber after the end is replayed the recent elements, and not only the end.
  @usableFromInline let replaysAfterEnd: Bool

  @inlinable
  init(_ recent: RecentElements<Element>, replaysAfterEnd: Bool = false) {
    state = SystemMutex(State(recent: recent))
    self.replaysAfterEnd = replaysAfterEnd
  }

  /// Any thread; may be stale at once.
  @inlinable
  var hasObservers: Bool { state.withLock { $0.hasMembers } }

  /// The last element that was accepted. Any thread.
  @inlinable
  var last: Element? { state.withLock { $0.recent.last } }

  /// The stop event, if one was accepted. Any thread.
  @inlinable
  var stopEvent: Event<Element>? { state.withLock { $0.stopEvent } }

  /// The last element and the stop event, if they were accepted; of the same moment. Any thread.
  @inlinable
  var lastAndStopEvent: (Element?, Event<Element>?) {
    state.withLock { ($0.recent.last, $0.stopEvent) }
  }

  /// A stream of what is accepted from each subscription on. It retains this; its subscriptions do not.
  @inlinable
  var stream: Observable<Element> { Observable(identity: self) { self.subscribe($0) } }

  // MARK: Delivering

  /// Accepts an event, and delivers it or leaves that to the thread that is delivering another. Any thread.
  ///
  /// O(n) in the number of observers.
  @inlinable
  func on(_ event: Event<Element>) {
    let me = CurrentCore.threadToken
    switch state.withLock({ $0.accept(event, on: me) }) {
    case .refused: break
    case .deliver(let accepted, let members, _):
      deliver(accepted, to: members)
      drain()
    case .queued(let mustWait, _):
      if mustWait {
        waitForRoom(me)
        if state.withLock({ $0.endWait(on: me) }) { drain() }
      }
    }
  }

  /// Delivers what was queued for this thread, the drainer.
  @inlinable
  func drain() { SerialDrain.drain(takeBatch: takeBatch, handle: deliverQueued) }

  /// Delivers what was queued for this thread, the drainer, during a replay. Then hands the drain over to a thread that waits for
  /// room, if there is one: if others never pause, one has to wait sooner or later. Otherwise this thread, which has only subscribed,
  /// would deliver for them for ever.
  @inlinable
  func drainAfterReplay() {
    var isFirst = true
    SerialDrain.drain(
      takeBatch: {
        defer { isFirst = false }
        if isFirst || !state.withLock({ $0.tryHandOver() }) { return takeBatch() }
        Backpressure.wakeAll()
        return []
      }, handle: deliverQueued)
  }

  @inlinable
  func takeBatch() -> [Accepted] {
    // What is removed is destroyed after the lock.
    let (batch, removed) = state.withLock { state in
      let batch = state.drain.takeBatch()
      return (batch, batch.isEmpty ? state.settleMembers() : [])
    }
    _ = consume removed
    return batch
  }

  @inlinable
  func deliverQueued(_ accepted: Accepted) {
    let (members, removed) = state.withLock { state in
      let removed = state.settleMembers()
      return (state.members(for: accepted), removed)
    }
    _ = consume removed
    deliver(accepted, to: members)
  }

  @inlinable
  func deliver(_ accepted: Accepted, to members: [Member]) {
    for member in members where member.since < accepted.number { member.observer?.on(accepted.event) }
  }

  @inlinable
  func waitForRoom(_ me: UInt64) {
    Backpressure.wait(
      me, drainer: { [self] in state.withLock { $0.drain.drainer } },
      hasRoom: { [self] in state.withLock { $0.drain.hasRoom } })
  }

  // MARK: Subscribing

  @usableFromInline
  struct Admission: Sendable {
    /// Nil if there is nothing to dispose of.
    @usableFromInline let key: UInt64?
    @usableFromInline let replay: [Event<Element>]
    @usableFromInline var isDrainer = false

    @inlinable
    init(key: UInt64?, replay: [Event<Element>]) {
      self.key = key
      self.replay = replay
    }
  }

  @usableFromInline
  enum Arrival: Sendable {
    case first(@Sendable () -> [Event<Element>])
    case event(Event<Element>)
  }

  /// Starts a subscription, which may race with deliveries. Any thread.
  ///
  /// The observer is replayed what there is before this returns, and receives nothing else meanwhile. There
  /// are three cases:
  ///
  /// 1. Nobody delivers. The subscribing thread becomes the drainer, so the events of others queue up behind
  ///    the replay. It delivers those, and leaves what comes meanwhile to a thread that waits for room.
  /// 2. The subscribing thread is the drainer, because an observer subscribes. Then nobody else delivers.
  /// 3. Another thread delivers. Then the new observer gets a drain of its own, in which the replay comes
  ///    first. Neither thread waits for the other.
  ///
  /// The result does not retain this subject: an observer that subscribes to the subject itself, and is never disposed of,
  /// goes away with it. The subscription of an operator holds its observer and this result, and is held by what is a member
  /// here. So it stays for ever if it is neither disposed of nor ended.
  @inlinable
  func subscribe(_ observer: AnyObserver<Element>) -> any Disposable {
    let me = CurrentCore.threadToken
    let admission: Admission? = state.withLock { state in
      let othersDeliver = state.drain.isActive && state.drain.drainer != me
      if othersDeliver, state.stopEvent == nil, !state.recent.isEmpty { return nil }
      var admission = admit(observer, to: &state)
      if admission.key != nil, !admission.replay.isEmpty {
        admission.isDrainer = state.drain.tryAcquire(on: me)
      }
      return admission
    }
    guard let admission else { return subscribeDuringDelivery(observer) }
    for event in admission.replay { observer.on(event) }
    if admission.isDrainer { drainAfterReplay() }
    return subscription(admission.key)
  }

  @inlinable
  func subscribeDuringDelivery(_ observer: AnyObserver<Element>) -> any Disposable {
    let subscription = SingleAssignmentDisposable()
    let order = StatefulDrain<Void, Arrival>(()) { _, arrival in
      switch arrival {
      case .first(let admit): for event in admit() { observer.on(event) }
      case .event(let event): observer.on(event)
      }
    }
    // Nobody else knows the drain yet, so this thread handles this input now, and what comes meanwhile is
    // queued in it.
    order.submit(
      .first { [self] in
        let serialized = AnyObserver<Element> { order.submit(.event($0)) }
        let admission = state.withLock { admit(serialized, to: &$0) }
        // Weak, because the observer may hold the subscription.
        let closing = Disposables.create { [weak order] in order?.dispose() }
        subscription.hold(Disposables.create(self.subscription(admission.key), closing))
        return admission.replay
      })
    return subscription
  }

  @inlinable
  func admit(_ observer: AnyObserver<Element>, to state: inout State) -> Admission {
    if let stopEvent = state.stopEvent {
      let recent = replaysAfterEnd ? state.recent.all : []
      return Admission(key: nil, replay: recent.map { .next($0) } + [stopEvent])
    }
    state.lastKey += 1
    state.add(Member(key: state.lastKey, since: state.lastNumber, observer: observer))
    return Admission(key: state.lastKey, replay: state.recent.all.map { .next($0) })
  }

  @inlinable
  func subscription(_ key: UInt64?) -> any Disposable {
    guard let key else { return Disposables.create() }
    return Disposables.create { [weak self] in self?.remove(key) }
  }

  /// O(log n) in the number of observers, on average over many.
  @inlinable
  func remove(_ key: UInt64) {
    let removed = state.withLock { $0.remove(key) }
    // The observer, maybe the last reference to what that captures, is destroyed here, after the lock.
    _ = consume removed
  }
}

extension SubjectCore.State {
  @usableFromInline
  enum Acceptance: Sendable {
    /// There was a stop event before.
    case refused
    /// The caller is the drainer now.
    case deliver(SubjectCore.Accepted, to: [SubjectCore.Member], displaced: Element?)
    /// Left to the drainer.
    case queued(mustWait: Bool, displaced: Element?)
  }

  @inlinable
  mutating func accept(_ event: Event<Element>, on thread: UInt64) -> Acceptance {
    if stopEvent != nil { return .refused }
    var displaced: Element?
    if case .next(let element) = event { displaced = recent.append(element) } else { stopEvent = event }
    lastNumber += 1
    let accepted = SubjectCore.Accepted(event: event, number: lastNumber)
    return switch drain.submit(accepted, on: thread) {
    case .becameDrainer: .deliver(accepted, to: members(for: accepted), displaced: displaced)
    case .queued(let mustWait): .queued(mustWait: countWait(mustWait), displaced: displaced)
    case .refused: preconditionFailure("the drain of a subject is never closed")
    }
  }

  @inlinable
  mutating func countWait(_ mustWait: Bool) -> Bool {
    if mustWait { waitingCount += 1 }
    return mustWait
  }

  /// Leaves the drain to a thread that waits for room. The drainer.
  ///
  /// - Returns: Whether there is one, and anything to deliver. It may still be on its way into its wait; but it goes on soon, since
  ///   there is room as long as nobody drains.
  @inlinable
  mutating func tryHandOver() -> Bool {
    if waitingCount == 0 || drain.count == 0 { return false }
    _ = drain.finish()
    isHandedOver = true
    return true
  }

  /// Notes that a thread goes on that was told to wait.
  ///
  /// - Returns: Whether the drain was left to it.
  @inlinable
  mutating func endWait(on thread: UInt64) -> Bool {
    waitingCount -= 1
    if !isHandedOver { return false }
    isHandedOver = false
    drain.takeOver(on: thread)
    return true
  }

  /// The observers of an event that is delivered now. Those of a stop event are forgotten here.
  @inlinable
  mutating func members(for accepted: SubjectCore.Accepted) -> [SubjectCore.Member] {
    defer { if accepted.event.isStopEvent { (members, removedCount) = ([], 0) } }
    return members
  }
}
