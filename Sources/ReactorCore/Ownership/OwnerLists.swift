/// A list of objects for one thread at a time, which it can go through without counting references.
///
/// While it is gone through, objects may be added, but not removed. It keeps what memory it once needed.
/// Unsafe: that only the owner touches it, and removes nothing meanwhile, is its user's to see to.
@unsafe
public final class OwnerList<Object: AnyObject & Sendable> {
  @usableFromInline var objects: ContiguousArray<Unmanaged<Object>> = []

  /// An empty list, without memory for more.
  public init() {}

  deinit { removeAll { _ in true } }

  /// How many objects there are. The owner.
  @inlinable
  public var count: Int { objects.count }

  /// Adds an object at the end. The owner; amortised O(1).
  public func append(_ object: Object) { objects.append(.passRetained(object)) }

  /// Calls `body` with the first `count` objects, in order. The owner.
  @inlinable
  @inline(__always)
  public func forEach(first count: Int, _ body: (Object) -> Void) {
    for index in 0..<count { objects[index]._withUnsafeGuaranteedRef(body) }
  }

  /// Removes what `isGone` says. The owner. What is removed is released after the list is in order again: the
  /// deinit of an object may do anything, adding to this list included.
  public func removeAll(where isGone: (Object) -> Bool) {
    var gone: ContiguousArray<Unmanaged<Object>> = []
    // Each is asked once: what is answered may change at any time.
    objects.removeAll { object in
      if !object._withUnsafeGuaranteedRef(isGone) { return false }
      gone.append(object)
      return true
    }
    for object in gone { object.release() }
  }
}

// Unchecked: its user guards it by ownership.
extension OwnerList: @unchecked Sendable {}

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
  public func forEachLocked(_ body: (Element) -> Void) {
    mutex.withLock { _ in for element in elements { body(element) } }
  }

  public var wasCount: Int { mutex.withLock { _ in elements.count } }
}
