import Synchronization

/// A variable that belongs to the owner of something else, such as an ``OwnedState``. It has no lock and no check.
///
/// Unsafe: the user must make sure that only the owner accesses it.
@unsafe
public struct OwnerIsolated<Value: Sendable>: ~Copyable {
  @usableFromInline let storage: UnsafeMutablePointer<Value>

  /// Creates a variable with its first value. The value is a separate allocation.
  @inlinable
  public init(_ value: Value) {
    storage = .allocate(capacity: 1)
    storage.initialize(to: value)
  }

  @inlinable
  deinit {
    storage.deinitialize(count: 1)
    storage.deallocate()
  }

  /// The value. The owner.
  @inlinable
  public var value: Value {
    get { storage.pointee }
    nonmutating set { storage.pointee = newValue }
    nonmutating _modify { yield &storage.pointee }
  }
}

// Unchecked: the user guards it by ownership, like the state.
extension OwnerIsolated: @unchecked Sendable {}

/// A list that only its owner changes, and that any thread may inspect. The owner reads it without a lock; its changes and
/// all other threads take a mutex.
///
/// The order is not defined: a removed element is replaced by the last one.
///
/// Unsafe: the user must make sure that only the owner calls what is marked so.
@unsafe
public final class WatchedList<Element: Sendable>: @unchecked Sendable {
  // Unchecked: only the owner changes it, and only under the mutex. Other threads read it under the mutex.
  @exclusivity(unchecked)
  @usableFromInline var elements: ContiguousArray<Element> = []
  @usableFromInline let mutex = SystemMutex(())

  /// Creates an empty list with memory for `capacity` elements.
  public init(capacity: Int) { elements.reserveCapacity(capacity) }

  // MARK: The owner

  /// How many elements there are.
  @inlinable
  public var count: Int { elements.count }

  /// Calls `body` with the element at `index`, without retaining what it refers to. `body` must not change the list.
  @inlinable
  @inline(__always)
  public func read<Result>(at index: Int, _ body: (borrowing Element) -> Result) -> Result {
    elements.withUnsafeBufferPointer { body($0[index]) }
  }

  /// Calls `body` under the mutex with the elements, at whose end it may add others.
  @inlinable
  public func append(_ body: (inout ContiguousArray<Element>) -> Void) {
    let count = elements.count
    mutex.withLock { _ in body(&elements) }
    assert(elements.count >= count, "an element was removed")
  }

  /// Moves elements out, so that their last references are not released under the mutex. O(1) for each.
  ///
  /// - Parameters:
  ///   - indices: In ascending order.
  ///   - removed: Where they are appended.
  @inlinable
  public func move(at indices: ContiguousArray<Int>, to removed: inout ContiguousArray<Element>) {
    assert(zip(indices, indices.dropFirst()).allSatisfy { $0 < $1 }, "the indices do not ascend")
    mutex.withLock { _ in
      for index in indices.reversed() {
        var element = elements.removeLast()
        if index < elements.count { swap(&element, &elements[index]) }
        removed.append(element)
      }
    }
  }

  // MARK: Any thread

  /// Calls `body` with each element. The owner's changes wait meanwhile.
  public func forEachLocked(_ body: (Element) -> Void) {
    mutex.withLock { _ in for element in elements { body(element) } }
  }

  /// How many elements there were a moment ago.
  public var wasCount: Int { mutex.withLock { _ in elements.count } }
}
