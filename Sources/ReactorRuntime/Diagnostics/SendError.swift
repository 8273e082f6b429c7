import ReactorCore

/// Why an action was not accepted.
public enum SendError: Error, Equatable, Sendable {
  /// The mailbox is full, and the send was one that does not wait.
  case full
  /// The reactor's loop was shut down.
  case closed
  /// The mailbox is full, and waiting for room would have waited for itself: the thread that must make
  /// the room waits, directly or through others, for a reactor that the sending thread is running.
  case deadlock
  /// More actions were sent from inside turns, of this reactor or of others on its loop, than its
  /// ``Runtime`` was told to hold.
  case reentrantOverflow
}

extension SendError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .full: "the mailbox is full"
    case .closed: "the reactor's loop was shut down"
    case .deadlock: "the mailbox is full, and the thread that empties it waits for the sender"
    case .reentrantOverflow: "too many actions were sent from inside turns"
    }
  }
}

/// An action that ``Reactor/send(_:)`` could not deliver: nothing is dropped silently.
public struct Failure: Sendable, CustomStringConvertible {
  /// The type of the reactor.
  public let reactor: String
  /// Why it was not delivered.
  public let reason: SendError

  public var description: String {
    """
    Problem: an action sent to \(reactor) was not delivered.
    Likely cause: \(reason).
    Remedy: \(remedy)
    """
  }

  private var remedy: String {
    switch reason {
    case .full, .deadlock: "give the Runtime a larger capacity, or use trySend(_:) and handle its error."
    case .closed: "stop sending before the loop is shut down."
    case .reentrantOverflow: "end the cycle of actions, or raise the Runtime's reentrantCapacity."
    }
  }

  /// Writes the failure to standard error: what a runtime does that was given no handler.
  public static let printToStandardError: @Sendable (Failure) -> Void = { failure in
    StandardError.write("\(failure)\n")
  }
}
