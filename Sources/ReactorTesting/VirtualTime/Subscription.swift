/// When somebody subscribed to a ``TestableObservable``, and when that ended.
public struct Subscription: Hashable, Sendable {
  /// In ticks.
  public let subscribe: TestTime
  /// In ticks; `Int.max` if it has not ended.
  public let unsubscribe: TestTime

  public init(_ subscribe: TestTime, _ unsubscribe: TestTime = .max) {
    self.subscribe = subscribe
    self.unsubscribe = unsubscribe
  }
}

extension Subscription: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String { "(\(subscribe): \(unsubscribe == .max ? "…" : String(unsubscribe)))" }
  public var debugDescription: String { description }
}
