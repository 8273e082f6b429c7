/// Why something was not accepted by a reactor.
public enum SendError: Error, Equatable, Sendable {
  /// The mailbox is full, and the send was one that does not wait.
  case full
  /// The reactor is closed: its loop was shut down, or one of its transforms has ended.
  case closed
  /// The mailbox is full, and waiting for room would have waited for itself: the thread that must make
  /// the room waits, directly or through others, for a reactor that the sending thread is running.
  case deadlock
  /// More was sent from inside turns, of this reactor or of others on its loop, than its ``Runtime`` was told
  /// to hold.
  case reentrantOverflow
}

extension SendError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .full: "the mailbox is full"
    case .closed: "the reactor is closed: its loop was shut down, or one of its transforms has ended"
    case .deadlock: "the mailbox is full, and the thread that empties it waits for the sender"
    case .reentrantOverflow: "too many actions were sent from inside turns"
    }
  }
}
