/// What a test has seen. Here everything runs on the thread of the test.
public final class Record<Element>: @unchecked Sendable {
  // Unchecked: see above.
  public private(set) var elements: [Element] = []

  public init() {}

  public func append(_ element: Element) { elements.append(element) }
}
