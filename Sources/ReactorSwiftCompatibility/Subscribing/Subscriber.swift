/// A ``Subscriber`` of any type.
@preconcurrency
public protocol AnySubscriber: AnyObject, Sendable {
  /// Receives a state, or what a selector has made of it. ``Subscriber`` has the implementation.
  func _update(with state: Any)
}

/// An object that a ``Core`` updates after each event.
@preconcurrency
public protocol Subscriber: AnySubscriber {
  /// The type of the core's state, or of what the selector returns.
  associatedtype StateType

  /// Receives the state after an event, or what the selector has made of it. Runs on the queue with which the subscriber was
  /// added.
  func update(with state: StateType)
}

extension Subscriber {
  public func _update(with state: Any) {
    if let expected = state as? StateType { return update(with: expected) }
    #if DEBUG
      reportWrongType(of: state, insteadOf: StateType.self, to: Self.self)
    #endif
  }
}
