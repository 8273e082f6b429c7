/// Why a request got no value: see ``Reactor/ask(_:)``.
///
/// Only ``refused(_:)`` says that the reactor has not accepted the action. With every other error, ``closed`` included, the
/// reactor may have processed it, or may still process it.
public enum AskError: Error, Sendable {
  /// The ``Reply`` was destroyed and never used: `mutate` ignored it, the action's stream has failed, or the ``OverflowPolicy``
  /// dropped the action after the mailbox had accepted it.
  case dropped
  /// The task was cancelled before there was a reply.
  case cancelled
  /// There was no reply before the deadline.
  case timedOut
  /// The reactor is closed, or gone. It did not accept the action; or it discarded the action, or its stream, with the reply in it.
  ///
  /// A reply that the reactor keeps in its state does not end with the reactor: see ``EndObserving``.
  case closed
  /// The reactor did not accept the action, for another reason than its end.
  case refused(SendError)
  /// The reactor has failed the request: ``Reply/fail(_:)``.
  case failed(any Error)

  /// - Parameter error: Why an action was not accepted.
  @usableFromInline
  init(_ error: SendError) {
    switch error {
    case .closed: self = .closed
    case .cancelled: self = .cancelled
    case .timedOut: self = .timedOut
    case .full, .deadlock, .reentrantOverflow, .dropped, .outOfMemory: self = .refused(error)
    }
  }
}

extension AskError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .dropped: "the reply was dropped without being used"
    case .cancelled: "the task was cancelled before there was a reply"
    case .timedOut: "there was no reply before the deadline"
    case .closed: "the reactor is closed, and did not reply"
    case .refused(let error): "the request was not accepted: \(error)"
    case .failed(let error): "the request failed: \(error)"
    }
  }
}
