import Dispatch

/// How a subscriber was added to a ``Core``.
public struct Subscription<StateType: State>: Sendable {
  weak let subscriber: (any AnySubscriber)?
  /// Returns what the subscriber is given of a state; nil gives it the state.
  public let selector: (@Sendable (StateType) -> Any)?
  /// The queue on which the subscriber is updated.
  public let notifyQueue: DispatchQueue
}
