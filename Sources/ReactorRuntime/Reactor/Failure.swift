import Glibc
import ReactorCore

/// Something that a reactor could not do: nothing is dropped silently.
public struct Failure: Sendable, CustomStringConvertible {
  /// What went wrong.
  public enum Cause: Sendable {
    /// ``Reactor/send(_:)`` could not deliver the action.
    case actionNotDelivered(SendError)
    /// A mutation could not be delivered: one that a stream emitted outside of the reactor's turns, or one
    /// that came after a transform had ended.
    case mutationNotDelivered(SendError)
    /// A state that transform(state) emitted outside of the reactor's turns could not be delivered.
    case stateNotDelivered(SendError)
    /// The stream that `mutate` answered has failed. What it emitted before counts; other streams go on.
    case mutate(any Error)
    /// The stream that a `transform` answered has failed, or has completed if there is no error. The reactor
    /// is closed; its last state stays.
    case transform(Transform, (any Error)?)
  }

  /// One of the three `transform` methods of a ``Reactor``.
  public enum Transform: String, Sendable { case action, mutation, state }

  /// The type of the reactor.
  public let reactor: String
  /// What went wrong.
  public let cause: Cause
  /// The action that was not delivered, or whose stream this is about; nil if there is none.
  public let action: (any Sendable)?

  /// Why something was not delivered, if that is what went wrong.
  public var sendError: SendError? {
    switch cause {
    case .actionNotDelivered(let reason), .mutationNotDelivered(let reason), .stateNotDelivered(let reason):
      reason
    case .mutate, .transform: nil
    }
  }

  public var description: String {
    """
    Problem: \(problem)
    Likely cause: \(likelyCause)
    Remedy: \(remedy)
    """
  }

  /// Writes the failure to standard error: what a runtime does that was given no handler. Of one cause and
  /// one type of reactor that is ten a second; of the others, how many there were, once a second.
  public static let printToStandardError: @Sendable (Failure) -> Void = { failure in
    if printing.admits(failure.site) { StandardError.write("\(failure)\n") }
  }
}

extension Failure {
  private var subject: String { action.map { " \($0)" } ?? "" }

  private var problem: String {
    switch cause {
    case .actionNotDelivered: "the action\(subject), sent to \(reactor), was not delivered."
    case .mutationNotDelivered: "a mutation for \(reactor), of the action\(subject), was not delivered."
    case .stateNotDelivered: "a state of \(reactor), from its transform(state:), was not delivered."
    case .mutate: "the stream that mutate of \(reactor) answered for the action\(subject) has failed."
    case .transform(let transform, nil): "transform(\(transform):) of \(reactor) has completed; it is closed."
    case .transform(let transform, _?): "transform(\(transform):) of \(reactor) has failed; it is closed."
    }
  }

  private var likelyCause: String {
    switch cause {
    case .actionNotDelivered(let reason), .mutationNotDelivered(let reason), .stateNotDelivered(let reason):
      "\(reason)."
    case .mutate(let error), .transform(_, let error?): "\(error)."
    case .transform: "a stream that was put in place of the given one, not merged with it, has ended."
    }
  }

  private var remedy: String {
    switch cause {
    case .actionNotDelivered(let reason), .mutationNotDelivered(let reason), .stateNotDelivered(let reason):
      Self.remedy(for: reason)
    case .mutate: "make a mutation of the error by catch or catchAndReturn, inside mutate."
    case .transform: "handle errors of what is merged in by catch, and merge it with the given stream."
    }
  }

  private static func remedy(for reason: SendError) -> String {
    switch reason {
    case .full, .deadlock, .dropped:
      "give the Runtime a larger capacity, or use trySend(_:) and handle its error."
    case .timedOut, .cancelled: "give the Runtime a larger capacity, or the send more time."
    case .outOfMemory: "give the process more memory, or the Runtime a smaller capacity."
    case .closed:
      "stop sending before the reactor or its loop is closed, and see to it that no transform ends."
    case .reentrantOverflow: "end the cycle of actions, or raise the Runtime's reentrantCapacity."
    }
  }
}

/// How often failures are printed.
extension Failure {
  /// What failures have in common that are counted together.
  struct Site: Hashable, Sendable {
    let reactor: String
    let problem: String
  }

  var site: Site { Site(reactor: reactor, problem: cause.inGeneral) }

  static let printing: RateLimit<Site> = {
    atexit { printing.tellAll() }
    return RateLimit(10) { site, count in
      StandardError.write(
        "Problem: as before, \(count) more times within a second: \(site.problem), \(site.reactor).\n")
    }
  }()
}

extension Failure.Cause {
  /// Without what differs from one time to the next.
  fileprivate var inGeneral: String {
    switch self {
    case .actionNotDelivered(let reason): "an action was not delivered, since \(reason)"
    case .mutationNotDelivered(let reason): "a mutation was not delivered, since \(reason)"
    case .stateNotDelivered(let reason): "a state was not delivered, since \(reason)"
    case .mutate: "a stream that mutate answered has failed"
    case .transform(let transform, _): "transform(\(transform):) has ended"
    }
  }
}
