import ReactorCore
import Synchronization

/// What ``Reactor/send(_:)`` does with an action for which there is no room in the mailbox.
///
/// The policy applies to actions only: a mutation that a stream emits outside of a turn waits for room. It does not
/// apply to what the reactor sends to itself, which takes no room in the mailbox, and is never dropped for what others
/// send: only `reentrantCapacity` limits it.
public enum OverflowPolicy: Sendable, Hashable {
  /// The sender waits: it spins, yields, and then sleeps. A send from inside a turn, of any reactor, does not wait:
  /// its action is kept beside the mailbox, up to `reentrantCapacity`.
  case block
  /// The action is refused: ``SendError/full``.
  case fail
  /// The action is dropped: ``SendError/dropped``.
  case dropNewest
  /// The oldest action in the mailbox is dropped: ``SendError/dropped``. The reactor reports it when it reaches it.
  ///
  /// Until then, the newer actions are kept beside the mailbox, at most twice as many as its capacity: the newest, and
  /// those that the reactor has taken over to process next. The latter are not dropped any more, so newer actions are
  /// dropped instead; otherwise a reactor could be busy with dropped actions only. An action is dropped only if as many
  /// newer ones were sent as the capacity.
  case dropOldest
}

/// How long a sender waits for room in the mailbox.
@usableFromInline
enum SendWait: Sendable {
  /// As the reactor's ``OverflowPolicy`` says.
  case byPolicy
  /// Not at all.
  case never
  /// Until this ``MonotonicTime``. Not an instant of a clock, for the reason that ``TurnBudget`` names.
  case until(Int64)
  case unlimited

  /// When a wait that begins now ends.
  var deadline: ContinuousClock.Instant? {
    guard case .until(let deadline) = self else { return nil }
    return .now + .nanoseconds(deadline - MonotonicTime.now)
  }
}

// MARK: Applying the policy

/// What a reactor needs when its mailbox is full: a place where senders wait, and a place for what is kept beside the
/// ring.
@usableFromInline
final class Overflow<Action: Sendable>: Sendable {
  /// Senders that wait until there is room.
  @usableFromInline let waiters: RoomWaiters
  /// What is kept beside the ring.
  @usableFromInline let spilled = Spilled<Action>()
  /// How many actions the policy has dropped. Relaxed: a statistic.
  let dropped = Atomic(0)

  func countDropped() { dropped.add(1, ordering: .relaxed) }

  @usableFromInline
  init() throws(CoreError) { waiters = try RoomWaiters() }
}

/// What became of something for which there was no room in the mailbox.
@usableFromInline
enum OverflowOutcome: Sendable {
  /// It is kept beside the ring.
  case kept
  /// There is room again: the sender tries again.
  case ringHasRoom
  /// The sender waits.
  case wait
  case refused(SendError)
}

extension Mailbox {
  /// Decides about something for which there was no room: refuses it, keeps it beside the ring, or makes the sender wait.
  /// Any thread.
  ///
  /// - Parameters:
  ///   - onKeeping: Called before something is kept because its sender must not wait.
  ///   - drop: Called with an action that is dropped in favour of this one.
  @usableFromInline
  func resolveOverflow(
    for work: Work<Action>, _ wait: SendWait, _ policy: OverflowPolicy, onKeeping: () -> Void,
    drop: (Action) -> Void
  ) -> OverflowOutcome {
    switch (wait, work) {
    // A refusal needs no memory.
    case (.never, _): return .refused(.full)
    case (.byPolicy, .action(let action)):
      switch policy {
      case .block: break
      case .fail: return .refused(.full)
      case .dropNewest:
        ensureOverflow()?.countDropped()
        return .refused(.dropped)
      case .dropOldest:
        guard let overflow = ensureOverflow() else { return .refused(.outOfMemory) }
        return OverflowOutcome(
          overflow.spilled.keepDroppingOldest(action, beside: ring, ownerCheck, drop: drop))
      }
    case (.byPolicy, .step), (.until, _), (.unlimited, _): break
    }
    guard let overflow = ensureOverflow() else { return .refused(.outOfMemory) }
    // A turn must not wait: the thread that makes room may be waiting for it.
    if !TurnMark.isSet { return .wait }
    onKeeping()
    return OverflowOutcome(
      overflow.spilled.keep(work, beside: ring, limit: reentrantCapacity, ownerCheck))
  }

  /// Keeps the actions that `actions` returns beside the ring, unless that has room, whatever the policy: they were sent before the
  /// reactor was there, and the ``KeyedReactors`` has accepted them. Any thread; it must make sure that some thread processes them.
  @usableFromInline
  func keep(sentBefore actions: () -> [Action]) -> OverflowOutcome {
    guard let overflow = ensureOverflow() else { return .refused(.outOfMemory) }
    switch overflow.spilled.keep(actions, beside: ring, ownerCheck) {
    case .kept: return .kept
    case .ringHasRoom: return .ringHasRoom
    // The kernel has refused the fence.
    case .overLimit: return .refused(.full)
    }
  }
}

extension OverflowOutcome {
  fileprivate init(_ outcome: SpillOutcome) {
    switch outcome {
    case .kept: self = .kept
    case .ringHasRoom: self = .ringHasRoom
    case .overLimit: self = .refused(.reentrantOverflow)
    }
  }
}
