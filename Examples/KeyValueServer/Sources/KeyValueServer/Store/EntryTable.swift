/// The entries of a keyspace, by key, and the order in which their deadlines come.
///
/// They are in many dictionaries, since a dictionary that grows moves all its entries at once: with six million of them a client
/// would wait for seconds.
///
/// Each entry with a deadline has one item in the heap, and no other has: all changes of deadlines are made here.
struct EntryTable: Sendable, Sequence {
  typealias Part = [Key: Keyspace.Entry]

  struct Index {
    fileprivate let part: Int
    fileprivate let index: Part.Index
  }

  /// A power of two. With 64, a part of six million entries moves for a tenth of a second. With 1,024, each command took 1.1 to 1.3 times
  /// as long: the heads of so many dictionaries are not in the cache.
  private static let partCount = 64
  private var parts = [Part](repeating: [:], count: partCount)
  private var deadlines = DeadlineHeap()

  private(set) var count = 0
  /// How many of them have a deadline.
  var timedCount: Int { deadlines.count }
  /// When the first one goes; nil if none has a deadline.
  var firstDeadline: Int64? { deadlines.first?.deadline }

  func makeIterator() -> FlattenSequence<[Part]>.Iterator { parts.joined().makeIterator() }

  mutating func reserveCapacity(_ count: Int) {
    // Parts have about as many each: a sixteenth more where there are many.
    let each = count / Self.partCount
    if each > 0 { for part in parts.indices { parts[part].reserveCapacity(each + each / 16) } }
  }

  private static func part(of key: Key) -> Int { key.bits & (partCount - 1) }

  /// The entry of a key; nil is none.
  subscript(key: Key) -> Keyspace.Entry? { parts[Self.part(of: key)][key] }

  /// Replaces the value of a key, or adds the key.
  mutating func set(_ value: Keyspace.Value, for key: Key, keepsDeadline: Bool = false) {
    if keepsDeadline, let index = index(of: key) {
      self[index] = value
    } else if let old = parts[Self.part(of: key)].updateValue(Keyspace.Entry(value: value), forKey: key) {
      forget(old)
    } else {
      count += 1
    }
  }

  /// Removes an entry; returns whether it was there.
  @discardableResult
  mutating func remove(_ key: Key) -> Bool {
    guard let old = parts[Self.part(of: key)].removeValue(forKey: key) else { return false }
    count -= 1
    forget(old)
    return true
  }

  /// Changes a deadline; 0 is none. The key must have an entry.
  mutating func setDeadline(_ deadline: Int64, of key: Key) {
    let part = Self.part(of: key)
    guard let index = parts[part].index(forKey: key), parts[part].values[index].deadline != deadline else {
      return
    }
    forget(parts[part].values[index])
    parts[part].values[index].deadline = deadline
    if deadline != 0 {
      parts[part].values[index].number = deadlines.insert(deadline, parts[part].keys[index])
    }
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

  func index(of key: Key) -> Index? {
    let part = Self.part(of: key)
    return parts[part].index(forKey: key).map { Index(part: part, index: $0) }
  }

  /// The value of an entry, which may be changed in place.
  subscript(index: Index) -> Keyspace.Value {
    get { parts[index.part].values[index.index].value }
    _modify { yield &parts[index.part].values[index.index].value }
  }

  mutating func remove(at index: Index) {
    count -= 1
    forget(parts[index.part].remove(at: index.index).value)
  }
}
