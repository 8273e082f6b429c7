/// A list of objects that one thread at a time, the owner, iterates without counting references.
///
/// An object that is removed leaves a hole, which iterations skip. Once holes are more than half, the others move together: so a
/// removal takes O(log n), amortized, and the order stays.
///
/// During an iteration objects may be added, but not removed. The list keeps its memory when it becomes shorter.
///
/// Unsafe: the user must make sure that only the owner accesses it, and removes nothing during an iteration.
@unsafe
public final class OwnerList<Object: AnyObject & Sendable> {
  @usableFromInline
  struct Slot {
    /// Larger than those before it.
    let key: Int
    /// nil in a hole.
    @usableFromInline var object: Unmanaged<Object>?
  }

  // Unchecked: the owner does not remove during an iteration, and the check costs as much as the rest of a short one.
  @exclusivity(unchecked)
  @usableFromInline var slots: ContiguousArray<Slot> = []
  private var holeCount = 0
  private var lastKey = OwnerListKey.none

  /// Creates an empty list.
  public init() {}

  deinit { removeAll { _ in true } }

  /// How many objects there are. The owner.
  public var count: Int { slots.count - holeCount }

  /// Whether there is no object. The owner.
  public var isEmpty: Bool { count == 0 }

  /// Adds an object at the end, and returns its key, for ``remove(_:)``. The owner; amortized O(1).
  @discardableResult
  public func append(_ object: Object) -> Int {
    lastKey += 1
    slots.append(Slot(key: lastKey, object: .passRetained(object)))
    return lastKey
  }

  /// Calls `body` with the objects in order, but for those that are added meanwhile. The owner.
  @inlinable
  @inline(__always)
  public func visit(_ body: (Object) -> Void) {
    for index in 0..<slots.count { slots[index].object?._withUnsafeGuaranteedRef(body) }
  }

  /// Removes the object with this key, and returns whether it was there. The owner; O(log n), amortized.
  ///
  /// Releases it after the list is consistent again, because its deinit may do anything, for example add to this list.
  @discardableResult
  public func remove(_ key: Int) -> Bool {
    var (low, high) = (0, slots.count)
    while low < high {
      let middle = (low + high) / 2
      if slots[middle].key < key { low = middle + 1 } else { high = middle }
    }
    guard low < slots.count, slots[low].key == key, let object = slots[low].object.take() else {
      return false
    }
    holeCount += 1
    if holeCount * 2 > slots.count { close() }
    object.release()
    return true
  }

  /// Removes the objects for which `isGone` returns true. The owner; O(n).
  ///
  /// Releases them after the list is consistent again, as ``remove(_:)``.
  public func removeAll(where isGone: (Object) -> Bool) {
    if slots.isEmpty { return }
    var gone: ContiguousArray<Unmanaged<Object>> = []
    for index in slots.indices {
      // `isGone` is called once for each object, because its result may change at any time.
      guard let object = slots[index].object, object._withUnsafeGuaranteedRef(isGone) else { continue }
      gone.append(object)
      slots[index].object = nil
    }
    close()
    for object in gone { object.release() }
  }

  /// Removes the holes.
  private func close() {
    slots.removeAll { $0.object == nil }
    holeCount = 0
  }
}

/// The keys of an ``OwnerList``.
public enum OwnerListKey {
  /// The key of no object.
  @inlinable public static var none: Int { 0 }
}

// Unchecked: the user guards it by ownership.
extension OwnerList: @unchecked Sendable {}
