/// The entries of a keyspace, by key. It counts those that have a deadline.
struct EntryTable: Sendable, Sequence {
  typealias Index = Dictionary<Key, Keyspace.Entry>.Index

  private var entries: [Key: Keyspace.Entry] = [:]
  private(set) var timedCount = 0

  var count: Int { entries.count }

  func makeIterator() -> Dictionary<Key, Keyspace.Entry>.Iterator { entries.makeIterator() }

  mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

  /// The entry of a key; nil is none.
  subscript(key: Key) -> Keyspace.Entry? {
    get { entries[key] }
    set {
      guard let newValue else {
        _ = remove(key)
        return
      }
      if newValue.deadline != 0 { timedCount += 1 }
      if let old = entries.updateValue(newValue, forKey: key) { forget(old) }
    }
  }

  /// Removes an entry; returns whether it was there.
  mutating func remove(_ key: Key) -> Bool {
    guard let old = entries.removeValue(forKey: key) else { return false }
    forget(old)
    return true
  }

  /// Changes a deadline. The key must have an entry.
  mutating func setDeadline(_ deadline: Int64, of key: Key) {
    guard let index = entries.index(forKey: key) else { return }
    forget(entries.values[index])
    entries.values[index].deadline = deadline
    if deadline != 0 { timedCount += 1 }
  }

  private mutating func forget(_ entry: Keyspace.Entry) { if entry.deadline != 0 { timedCount -= 1 } }

  // MARK: Changing a value in place

  func index(of key: Key) -> Index? { entries.index(forKey: key) }

  /// The value of an entry, which may be changed in place.
  subscript(index: Index) -> Keyspace.Value {
    get { entries.values[index].value }
    _modify { yield &entries.values[index].value }
  }

  mutating func remove(at index: Index) { forget(entries.remove(at: index).value) }
}
