/// The entries of a keyspace, by key, and the order in which their deadlines come.
///
/// Each entry with a deadline has one item in the heap, and no other has: all changes of deadlines are made here.
struct EntryTable: Sendable, Sequence {
  typealias Index = Dictionary<Key, Keyspace.Entry>.Index

  private var entries: [Key: Keyspace.Entry] = [:]
  private var deadlines = DeadlineHeap()

  var count: Int { entries.count }
  /// How many of them have a deadline.
  var timedCount: Int { deadlines.count }
  /// When the first one goes; nil if none has a deadline.
  var firstDeadline: Int64? { deadlines.first?.deadline }

  func makeIterator() -> Dictionary<Key, Keyspace.Entry>.Iterator { entries.makeIterator() }

  mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

  /// The entry of a key; nil is none.
  subscript(key: Key) -> Keyspace.Entry? { entries[key] }

  /// Replaces the value of a key, or adds the key.
  mutating func set(_ value: Keyspace.Value, for key: Key, keepsDeadline: Bool = false) {
    guard keepsDeadline, let index = entries.index(forKey: key) else {
      if let old = entries.updateValue(Keyspace.Entry(value: value), forKey: key) { forget(old) }
      return
    }
    entries.values[index].value = value
  }

  /// Removes an entry; returns whether it was there.
  @discardableResult
  mutating func remove(_ key: Key) -> Bool {
    guard let old = entries.removeValue(forKey: key) else { return false }
    forget(old)
    return true
  }

  /// Changes a deadline; 0 is none. The key must have an entry.
  mutating func setDeadline(_ deadline: Int64, of key: Key) {
    guard let index = entries.index(forKey: key), entries.values[index].deadline != deadline else { return }
    forget(entries.values[index])
    entries.values[index].deadline = deadline
    if deadline != 0 { entries.values[index].number = deadlines.insert(deadline, entries.keys[index]) }
  }

  /// Removes the entry whose time came first, if it has come; returns whether it has.
  mutating func removeFirst(dueBy now: Int64) -> Bool {
    guard let (deadline, key) = deadlines.first, deadline <= now else { return false }
    return remove(key)
  }

  private mutating func forget(_ entry: Keyspace.Entry) {
    if entry.deadline != 0 { deadlines.remove(entry.number) }
  }

  // MARK: Changing a value in place

  func index(of key: Key) -> Index? { entries.index(forKey: key) }

  /// The value of an entry, which may be changed in place.
  subscript(index: Index) -> Keyspace.Value {
    get { entries.values[index].value }
    _modify { yield &entries.values[index].value }
  }

  mutating func remove(at index: Index) { forget(entries.remove(at: index).value) }
}
