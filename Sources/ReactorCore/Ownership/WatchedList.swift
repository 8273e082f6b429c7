/// A list that its owner alone changes, and that anybody may look at: the owner looks without a lock.
///
/// In no order: what is removed is replaced by the last one.
@unsafe
public final class WatchedList<Element: Sendable>: @unchecked Sendable {
  // Unchecked: only the owner changes it, and only under the mutex; others look at it under the mutex.
  @usableFromInline var elements: ContiguousArray<Element> = []
  @usableFromInline let mutex = SystemMutex(())

  /// Empty, with room for so many.
  public init(capacity: Int) { elements.reserveCapacity(capacity) }

  // MARK: The owner

  @inlinable
  public var count: Int { elements.count }

  @inlinable
  public subscript(index: Int) -> Element { elements[index] }

  @inlinable
  public func append(_ element: consuming Element) {
    let element = element
    mutex.withLock { _ in elements.append(element) }
  }

  /// Answers what was there, so that its last reference does not go under the mutex.
  @inlinable
  public func remove(at index: Int) -> Element {
    mutex.withLock { _ in
      var element = elements.removeLast()
      if index < elements.count { swap(&element, &elements[index]) }
      return element
    }
  }

  // MARK: Any thread

  /// Calls `body` with each, meanwhile the owner can change nothing.
  public func lookAtEach(_ body: (Element) -> Void) {
    mutex.withLock { _ in for element in elements { body(element) } }
  }

  public var wasCount: Int { mutex.withLock { _ in elements.count } }
}
