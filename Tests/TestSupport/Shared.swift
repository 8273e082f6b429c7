import Synchronization

/// Lets several threads hold something that cannot be copied.
public final class Shared<Value: ~Copyable & Sendable>: Sendable {
  public let value: Value

  public init(_ value: consuming Value) { self.value = value }
}

/// What several threads write down, in the order in which they did.
public final class Record<Element: Sendable>: Sendable {
  private let written = Mutex<[Element]>([])

  public init() {}

  public func append(_ element: Element) { written.withLock { $0.append(element) } }

  public var elements: [Element] { written.withLock { $0 } }
}
