import ReactorCore

/// A report of an action, mutation or state that was lost, or of a stream that failed.
///
/// Everything that an existing reactor loses is reported. What reaches a reactor that is gone, by a weak reference such as
/// `bind(to: reactor.action)` or by its own streams, is lost without a report.
public struct Failure: Sendable, CustomStringConvertible {
  /// What went wrong.
  public enum Cause: Sendable {
    /// ``Reactor/send(_:)`` could not deliver the action.
    case actionNotDelivered(SendError)
    /// A mutation could not be delivered: a stream emitted it outside of the reactor's turns, or after a transform
    /// had ended.
    case mutationNotDelivered(SendError)
    /// A state that the stream of `transform(state:)` emitted outside of the reactor's turns could not be
    /// delivered.
    case stateNotDelivered(SendError)
    /// The stream that `mutate` returned has failed. Its earlier mutations stay valid, and other streams continue.
    case mutate(any Error)
    /// The stream that a `transform` returned has failed, or has completed if there is no error. The reactor is
    /// closed; its last state stays readable.
    case transform(Transform, (any Error)?)
  }

  /// One of the three `transform` methods of a ``Reactor``.
  public enum Transform: String, Sendable { case action, mutation, state }

  /// The type of the reactor.
  public let reactor: String
  /// What went wrong.
  public let cause: Cause
  /// The action that was not delivered, or the one whose stream this is about; nil if there is none.
  public let action: (any Sendable)?

  package init(reactor: String, cause: Cause, action: (any Sendable)?) {
    (self.reactor, self.cause, self.action) = (reactor, cause, action)
  }

  /// The reason for which an action, mutation or state was not delivered; nil for a stream that failed or ended.
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

  /// Writes the failure to standard error. The default of ``Hooks/defaultFailureHandler``. For each cause and type
  /// of reactor it writes ten failures a second; it counts further ones, and writes their number once a second. Until a
  /// second has brought no more than ten, it writes only their number.
  public static let printToStandardError: @Sendable (Failure) -> Void = { failure in
    if printing.admit(failure.site) { StandardError.write("\(failure)\n") }
  }
}

/// A ``Failure`` of a reactor with actions of a known type, for a handler that keeps them in order to send them again, or counts them
/// by their cases.
///
/// ```swift
/// let runtime = Runtime<Action, Mutation, State>(onActionFailure: { failure in
///   if case .withdraw(let amount, _) = failure.action { refused.add(amount) }
/// })
/// ```
///
/// A handler must not itself send an action again: if that is refused as well, the handler is called inside of itself, again and again,
/// until the stack overflows. It lets ``Reactor/whenRoom(_:)`` or a timer send the action. A reactor that is closed
/// (``SendError/closed``) never takes it.
@dynamicMemberLookup
public struct ActionFailure<Action: Sendable>: Sendable, CustomStringConvertible {
  /// The failure.
  public let failure: Failure
  /// The action that was not delivered, or the one whose stream this is about; nil if there is none.
  public let action: Action?

  /// - Parameter failure: A failure of a reactor with actions of this type. The action of another one is nil here.
  public init(_ failure: Failure) {
    self.failure = failure
    action = failure.action.flatMap { $0 as? Action }
  }

  /// The properties of the failure: its reactor, its cause and its reason.
  public subscript<Value>(dynamicMember property: KeyPath<Failure, Value>) -> Value {
    failure[keyPath: property]
  }

  public var description: String { failure.description }
}

extension Failure {
  private var subject: String { action.map { " \($0)" } ?? "" }

  private var problem: String {
    switch cause {
    case .actionNotDelivered: "the action\(subject), sent to \(reactor), was not delivered."
    case .mutationNotDelivered: "a mutation of \(reactor), from the action\(subject), was not delivered."
    case .stateNotDelivered: "a state of \(reactor), from its transform(state:), was not delivered."
    case .mutate: "the stream that mutate of \(reactor) returned for the action\(subject) has failed."
    case .transform(let transform, nil):
      "the stream of transform(\(transform):) of \(reactor) has completed, so the reactor is closed."
    case .transform(let transform, _?):
      "the stream of transform(\(transform):) of \(reactor) has failed, so the reactor is closed."
    }
  }

  private var likelyCause: String {
    switch cause {
    case .actionNotDelivered(let reason), .mutationNotDelivered(let reason), .stateNotDelivered(let reason):
      "\(reason)."
    case .mutate(let error), .transform(_, let error?): "\(error)."
    case .transform: "the transform replaced the given stream by one that ends, instead of merging the two."
    }
  }

  private var remedy: String {
    switch cause {
    case .actionNotDelivered(let reason), .mutationNotDelivered(let reason), .stateNotDelivered(let reason):
      Self.remedy(for: reason)
    case .mutate: "turn the error into a mutation with catch or catchAndReturn, inside mutate."
    case .transform: "merge other streams with the given one, and handle their errors with catch."
    }
  }

  private static func remedy(for reason: SendError) -> String {
    switch reason {
    case .full, .deadlock, .dropped:
      "give the Runtime a larger capacity, or use trySend(_:) and handle its error."
    case .timedOut, .cancelled: "give the Runtime a larger capacity, or the send a later deadline."
    case .outOfMemory: "give the process more memory, or the Runtime a smaller capacity."
    case .closed:
      "stop sending before the reactor or its loop is closed, and make sure that no transform's stream ends."
    case .reentrantOverflow: "break the cycle of actions, or raise the Runtime's reentrantCapacity."
    }
  }
}

/// Limiting how often failures are printed.
extension Failure {
  /// The properties by which failures are counted together.
  struct Site: Hashable, Sendable {
    let reactor: String
    let problem: String
  }

  var site: Site { Site(reactor: reactor, problem: cause.summary) }

  static let printing = RateLimit<Site>(10) { site, count in
    StandardError.write(
      "Problem: \(count) more times within a second: \(site.problem), \(site.reactor).\n")
  }
}

extension Failure.Cause {
  /// The cause without the values that differ from one failure to the next.
  fileprivate var summary: String {
    switch self {
    case .actionNotDelivered(let reason): "an action was not delivered: \(reason)"
    case .mutationNotDelivered(let reason): "a mutation was not delivered: \(reason)"
    case .stateNotDelivered(let reason): "a state was not delivered: \(reason)"
    case .mutate: "a stream that mutate returned has failed"
    case .transform(let transform, _): "the stream of transform(\(transform):) has ended"
    }
  }
}
