import ReactorRuntime

/// A moment of virtual time, in ticks.
public typealias TestTime = Int

/// A value and when it came.
public struct Recorded<Value> {
  /// In ticks of the scheduler.
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
  /// An element at a time.
  public static func next<Element>(
    _ time: TestTime, _ element: Element
  ) -> Recorded where Value == Event<Element> {
    Recorded(time: time, value: .next(element))
  }

  /// The good end at a time.
  public static func completed<Element>(
    _ time: TestTime, _ type: Element.Type = Element.self
  ) -> Recorded where Value == Event<Element> {
    Recorded(time: time, value: .completed)
  }

  /// A failure at a time.
  public static func error<Element>(
    _ time: TestTime, _ error: any Error, _ type: Element.Type = Element.self
  ) -> Recorded where Value == Event<Element> {
    Recorded(time: time, value: .error(error))
  }

  /// Events in a list, for where the compiler does not find out their type by itself.
  public static func events<Element>(
    _ events: Recorded...
  ) -> [Recorded] where Value == Event<Element> { events }

  /// Events in a list, for where the compiler does not find out their type by itself.
  public static func events<Element>(
    _ events: [Recorded]
  ) -> [Recorded] where Value == Event<Element> { events }
}
