import ReactorCore

/// Delivering what waits for a reactor that was made.
extension KeyedShard {
  /// What the thread that has made a reactor, or has seen one end, does next.
  @usableFromInline
  enum Next {
    case deliverMore
    case discard([Waiting])
    case make
    case tellRemoval
    case end(Closing)
    /// The key is gone. What the table had is destroyed outside of the mutex: its deinit may use the collection.
    case removed(Key?)
    case done
  }

  /// What the calling thread still has to do, outside of the mutex, with what has waited.
  @usableFromInline
  struct Delivery {
    /// What the calling thread sends to the reactor.
    @usableFromInline var first: Waiting?
    /// Those that wait for the reactor, and get it.
    @usableFromInline var users: [KeyedWait<R>] = []
    /// If this is not empty, actions were put into the mailbox, and some thread must process them. That may have happened already,
    /// so the last reference to an action may be here: it must go outside of the mutex, because what the action holds may use the
    /// collection at its end.
    @usableFromInline var offered: ArraySlice<Waiting> = []
    /// Begins with the first action that the mailbox has refused. The others would come too early, and are refused as well.
    @usableFromInline var refused: ArraySlice<Waiting> = []
    /// Why they are refused.
    @usableFromInline var reason: SendError?
    /// What the reactor does not get because what came before has closed it: it is for the next one, as if it were sent now.
    @usableFromInline var left: ArraySlice<Waiting> = []

    @inlinable
    init() {}

    /// Releases the actions that the mailbox has got. What is left shares their memory, and is back among what waits.
    @inlinable
    mutating func forgetOffered() { (offered, left) = ([], []) }
  }

  /// Delivers what waits for a reactor that was made: puts it into the mailbox under the mutex, or takes the first element out for the
  /// calling thread to send. Makes the key active if nothing waits any more.
  ///
  /// Into the mailbox, because while the calling thread sent, other threads would make more wait, without an end; and a send could
  /// wait for room, if the reactor has another owner by then.
  ///
  /// - Parameters:
  ///   - runtime: That of the reactor. Read by the caller: the property may run the program's code, which must not run under the mutex.
  ///   - now: The time of the key's last use, if it becomes active.
  ///   - toMailbox: Whether it is put into the mailbox, without telling anybody; the calling thread does that afterwards.
  /// - Returns: What the calling thread does with what has waited, and what it does after that.
  @inlinable
  mutating func deliverOrActivate(
    _ key: Key, _ hash: UInt32, _ reactor: R, _ runtime: Runtime<R.Action, R.Mutation, R.State>,
    at now: UInt32, toMailbox: Bool
  ) -> (delivery: Delivery, next: Next) {
    // Not removed, and then added again by `key`: that may be another instance than that of the slot.
    guard var transition = transitions[key] else { preconditionFailure("the key is not in transition") }
    transition.reactor = reactor
    let waiting = transition.waiting
    let count = waiting.firstIndex { $0.isRemoval } ?? waiting.count
    var delivery = Delivery()
    let next: Next
    if count > 0, closing == .discard {
      transition.waiting = Array(waiting[count...])
      next = .discard(Array(waiting[..<count]))
    } else if count > 0, !toMailbox {
      transition.waiting = Array(waiting[1...])
      transition.hasDelivered = true
      delivery.first = waiting[0]
      next = .deliverMore
    } else {
      delivery = Self.offer(waiting[..<count], to: runtime, hasDelivered: transition.hasDelivered)
      transition.hasDelivered = transition.hasDelivered || !delivery.offered.isEmpty
      transition.waiting = Array(delivery.left + waiting[count...])
      if !delivery.left.isEmpty {
        next = .end(closing ?? .drain)
      } else if !transition.waiting.isEmpty {
        transition.waiting.removeFirst()
        transition.isRemoved = true
        next = .end(.drain)
      } else if let closing {
        next = .end(closing)
      } else {
        let index = position(of: key, hash)
        slots[index]?.reactor = reactor
        // To make it may have taken long.
        slots[index]?.lastUse = now
        transitions[key] = nil
        forgetTransitionsIfNone()
        return (delivery, .done)
      }
    }
    if case .end = next { transition.isEnding = true }
    transitions[key] = transition
    return (delivery, next)
  }

  /// Puts the actions that have waited into the mailbox of a reactor, in their order, all of them unless it is closed or there is no
  /// memory: into the ring, and what finds that full beside it. So the key becomes active at once, however busy the reactor is, and what
  /// is sent from then on comes behind them.
  ///
  /// - Parameter hasDelivered: Whether the reactor has got something before. Then that may have closed it.
  @inlinable
  static func offer(
    _ waiting: ArraySlice<Waiting>, to runtime: Runtime<R.Action, R.Mutation, R.State>, hasDelivered: Bool
  ) -> Delivery {
    var delivery = Delivery()
    let (end, reason) = offerActions(of: waiting, to: runtime)
    let (accepted, rest) = (waiting[..<end], waiting[end...])
    if accepted.contains(where: { $0.action != nil }) { delivery.offered = accepted }
    delivery.users = accepted.compactMap(\.wait)
    if hasDelivered || !delivery.offered.isEmpty, runtime.mailbox.ring.lifecycle.wasClosedForGood {
      delivery.left = rest
    } else {
      delivery.refused = rest.filter { $0.action != nil }[...]
      delivery.reason = reason
      delivery.users += rest.compactMap { $0.action == nil ? $0.wait : nil }
    }
    return delivery
  }

  /// - Returns: The index of the first action that was not accepted, and why; the end if all were.
  @inlinable
  static func offerActions(
    of waiting: ArraySlice<Waiting>, to runtime: Runtime<R.Action, R.Mutation, R.State>
  ) -> (end: Int, reason: SendError?) {
    var index = waiting.startIndex
    while index < waiting.endIndex {
      guard let action = waiting[index].action else {
        index += 1
        continue
      }
      switch runtime.mailbox.ring.offer(.action(action)) {
      case .accepted: index += 1
      case .closed: return (index, .closed)
      case .outOfMemory: return (index, .outOfMemory)
      case .full:
        let outcome = runtime.mailbox.keep(sentBefore: { waiting[index...].compactMap { $0.action } })
        if case .kept = outcome { return (waiting.endIndex, nil) }
        if case .refused(let reason) = outcome { return (index, reason) }
      // There is room again.
      }
    }
    return (index, nil)
  }
}
