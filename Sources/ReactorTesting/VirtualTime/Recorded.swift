import ReactorRuntime

/// A point in virtual time, in ticks.
public typealias TestTime = Int

/// A value, and the time at which it was recorded.
public struct Recorded<Value> {
  /// The time, in ticks of the scheduler.
  public let time: TestTime
  public let value: Value

  public init(time: TestTime, value: Value) {
    self.time = time
    self.value = value
  }
}

extension Recorded: Sendable where Value: Sendable {}
extension Recorded: Equatable where Value: Equatable {}

extension Recorded: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String { "\(value) @ \(time)" }
  public var debugDescription: String { description }
}

extension Recorded {
  /// Returns an element at a time.
  public static func next<Element>(
    _ time: TestTime, _ element: Element
  ) -> Recorded where Value == Event<Element> {
    Recorded(time: time, value: .next(element))
  }

  /// Returns a completion at a time.
  public static func completed<Element>(
    _ time: TestTime, _ type: Element.Type = Element.self
  ) -> Recorded where Value == Event<Element> {
    Recorded(time: time, value: .completed)
  }

  /// Returns an error at a time.
  public static func error<Element>(
    _ time: TestTime, _ error: any Error, _ type: Element.Type = Element.self
  ) -> Recorded where Value == Event<Element> {
    Recorded(time: time, value: .error(error))
  }

  /// Returns the events as an array, for places where the compiler cannot infer their type.
  public static func events<Element>(
    _ events: Recorded...
  ) -> [Recorded] where Value == Event<Element> { events }

  /// Returns the events as an array, for places where the compiler cannot infer their type.
  public static func events<Element>(
    _ events: [Recorded]
  ) -> [Recorded] where Value == Event<Element> { events }
}

/// Elements are compared by `==`, errors by their types and descriptions.
extension Event: Equatable where Element: Equatable {
  public static func == (left: Event, right: Event) -> Bool {
    switch (left, right) {
    case (.next(let left), .next(let right)): left == right
    case (.error(let left), .error(let right)): type(of: left) == type(of: right) && "\(left)" == "\(right)"
    case (.completed, .completed): true
    default: false
    }
  }
}
