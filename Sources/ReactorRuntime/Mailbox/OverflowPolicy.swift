/// What ``Reactor/send(_:)`` does with an action for which there is no room in the mailbox.
///
/// It is about actions only: a mutation that a stream emits outside of a turn waits for room. And it is not about
/// what the reactor sends to itself, which does not take room in the mailbox: `reentrantCapacity` bounds that.
public enum OverflowPolicy: Sendable, Hashable {
  /// The sender waits: it spins, yields, and then sleeps. From inside a turn, of whatever reactor, it does not
  /// wait: what it sends is kept beside the mailbox, up to `reentrantCapacity`.
  case block
  /// The action is refused: ``SendError/full``.
  case fail
  /// The action is dropped: ``SendError/dropped``.
  case dropNewest
  /// The oldest action in the mailbox is dropped, which its reactor finds out in its next turn:
  /// ``SendError/dropped``. Meanwhile the newer ones are kept beside it, at most twice as many as its capacity;
  /// and as many again that the reactor has taken over from there to process them next. These do not give way any
  /// more, so newer ones may have to. The newest one always stays.
  case dropOldest
}

/// Why something was not accepted by a reactor.
public enum SendError: Error, Hashable, Sendable {
  /// The mailbox is full, and the send was one that does not wait.
  case full
  /// The reactor is closed: by ``Reactor/close(_:)``, with its loop, or because one of its transforms has
  /// ended.
  case closed
  /// The mailbox is full, and waiting for room would have waited for itself: the thread that must make the
  /// room waits, directly or through others, for the sending thread. Not from inside of turns, which never
  /// wait.
  case deadlock
  /// More was sent from inside turns, of this reactor, of others on its loop, or, while its mailbox is full,
  /// of any other, than its ``Runtime`` was told to hold.
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

/// How long a sender is willing to wait for room.
@usableFromInline
enum Patience: Sendable {
  /// As the reactor's ``OverflowPolicy`` says.
  case asThePolicySays
  /// Not at all.
  case none
  case until(ContinuousClock.Instant)
  case unlimited
}
