/// What ``Reactor/send(_:)`` does with an action for which there is no room in the mailbox.
///
/// The policy applies to actions only: a mutation that a stream emits outside of a turn waits for room. It does not
/// apply to what the reactor sends to itself, which takes no room in the mailbox: `reentrantCapacity` limits that.
public enum OverflowPolicy: Sendable, Hashable {
  /// The sender waits: it spins, yields, and then sleeps. A send from inside a turn, of any reactor, does not wait:
  /// its action is kept beside the mailbox, up to `reentrantCapacity`.
  case block
  /// The action is refused: ``SendError/full``.
  case fail
  /// The action is dropped: ``SendError/dropped``.
  case dropNewest
  /// The oldest action in the mailbox is dropped: ``SendError/dropped``. The reactor reports it in its next turn.
  ///
  /// Until that turn, the newer actions are kept beside the mailbox, at most twice its capacity. As many again may be
  /// held that the reactor has already accepted from there to process next. Those are not dropped any more, so newer
  /// actions may be dropped instead. The newest action is never dropped.
  case dropOldest
}

/// How long a sender waits for room in the mailbox.
@usableFromInline
enum SendWait: Sendable {
  /// As the reactor's ``OverflowPolicy`` says.
  case byPolicy
  /// Not at all.
  case never
  case until(ContinuousClock.Instant)
  case unlimited
}

/// Why a reactor did not accept something.
public enum SendError: Error, Hashable, Sendable {
  /// The mailbox is full, and the send does not wait.
  case full
  /// The reactor is closed: by ``Reactor/close(_:)``, with its loop, or because one of its transforms has
  /// ended.
  case closed
  /// The mailbox is full, and waiting for room would be a deadlock: the thread that must make the room waits, directly
  /// or through others, for the sending thread. Sends from inside turns never wait, so they never get this error.
  case deadlock
  /// More was sent from inside turns than the `reentrantCapacity` of the ``Runtime``: by this reactor, by others on its
  /// loop, or, while its mailbox is full, by any other reactor.
  case reentrantOverflow
  /// The mailbox is full, and the reactor's ``OverflowPolicy`` has dropped the action.
  case dropped
  /// There was no room before the deadline.
  case timedOut
  /// The task was cancelled before there was room.
  case cancelled
  /// There is no memory for the mailbox to grow.
  case outOfMemory
}

extension SendError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .full: "the mailbox is full"
    case .closed: "the reactor is closed: it or its loop was, or one of its transforms has ended"
    case .deadlock: "the mailbox is full, and the thread that empties it waits for the sender"
    case .dropped: "the mailbox is full, and its overflow policy drops actions"
    case .timedOut: "there was no room in the mailbox before the deadline"
    case .cancelled: "the task was cancelled before there was room in the mailbox"
    case .outOfMemory: "there is no memory for the mailbox"
    case .reentrantOverflow: "too many actions were sent from inside turns"
    }
  }
}
