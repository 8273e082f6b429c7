/// A ``Middleware`` of any type.
@preconcurrency
public protocol AnyMiddleware: Sendable {
  /// Receives an event and the state after it. ``Middleware`` has the implementation.
  func _process(event: any Event, state: Any)
}

/// Receives each event, with the state after it: for logging, analytics, side effects.
@preconcurrency
public protocol Middleware: AnyMiddleware {
  associatedtype StateType

  /// Receives an event and the state after it. Runs on the core's thread, before the next event; so it should not block.
  ///
  /// It may fire and remove subscribers. An event that it fires comes behind those that were fired before.
  func process(event: any Event, state: StateType)
}

extension Middleware {
  public func _process(event: any Event, state: Any) {
    if let expected = state as? StateType { return process(event: event, state: expected) }
    #if DEBUG
      reportWrongType(of: state, insteadOf: StateType.self, to: Self.self)
    #endif
  }
}

/// A middleware of a ``Core``.
public struct Middlewares<StateType: State>: Sendable {
  let middleware: any AnyMiddleware
}
