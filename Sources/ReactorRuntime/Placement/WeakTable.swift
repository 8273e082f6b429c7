import ReactorCore

/// A weak reference that is set once, before other threads see it.
final class WeakCell<Object: AnyObject & Sendable>: @unchecked Sendable {
  // Unchecked: written once, before it is handed to other threads; loading a weak reference is atomic.
  weak var value: Object?
}

/// Objects by their keys. It does not retain them.
///
/// While a weak reference is being checked, the other references to its object may go away. Then the object is destroyed where
/// the check ends, and runs what it likes. So whatever is loaded under the lock is released after it.
final class WeakTable<Key: Hashable & Sendable, Object: AnyObject & Sendable>: Sendable {
  private let cells = SystemMutex<[Key: WeakCell<Object>]>([:])

  /// How many objects there were a moment ago, those included that have gone since the last one was made. Any thread.
  var count: Int { cells.withLock { $0.count } }

  /// Returns the object of a key, or makes it if there is none that is usable. Any thread.
  ///
  /// - Parameters:
  ///   - isUsable: Whether the object may be returned. Called under the lock.
  ///   - make: Makes an object in its place. Called under the lock.
  /// - Complexity: O(n) with n objects if it makes one.
  func object(
    of key: Key, where isUsable: (Object) -> Bool, orMake make: () -> Object
  ) -> (object: Object, isNew: Bool) {
    let (object, isNew, loaded) = cells.withLock { cells -> (Object, Bool, [Object]) in
      var loaded: [Object] = []
      if let present = cells[key]?.value {
        if isUsable(present) { return (present, false, loaded) }
        loaded.append(present)
      }
      cells = cells.filter { _, cell in
        guard let object = cell.value else { return false }
        loaded.append(object)
        return true
      }
      let new = make()
      let cell = WeakCell<Object>()
      cell.value = new
      cells[key] = cell
      return (new, true, loaded)
    }
    withExtendedLifetime(loaded) {}
    return (object, isNew)
  }
}
