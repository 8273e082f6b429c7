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
  /// As many wait as the `reentrantCapacity` of the ``Runtime``: of what this reactor and others on its loop sent from
  /// inside turns; or of what turns on other threads sent while the mailbox was full. Also if the kernel refuses `membarrier` after it
  /// had granted it: see <doc:Limits>.
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
