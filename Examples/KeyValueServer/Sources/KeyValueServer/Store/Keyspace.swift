/// The keys of one shard: the state of its reactor. It changes in place, and reads no clock.
struct Keyspace: Sendable {
  enum Value: Sendable {
    case string([UInt8])
    case list(ListValue)
    case hash([Key: [UInt8]])
    case set(Set<Key>)
    case sorted(SortedSet)

    var typeName: StaticString {
      switch self {
      case .string: "string"
      case .list: "list"
      case .hash: "hash"
      case .set: "set"
      case .sorted: "zset"
      }
    }
  }

  struct Entry: Sendable {
    var value: Value
    /// When it goes, in milliseconds since 1970; 0 is never.
    var deadline: Int64 = 0
  }

  var entries: [Key: Entry] = [:]
  /// The connections that have subscribed to a channel, by their numbers.
  var subscribers: [Key: [Int: Subscriber]] = [:]
  /// Deadlines, and keys that had them: some may have another deadline by now, or none.
  private var deadlines = DeadlineHeap()
  private(set) var expired = 0

  // MARK: Deadlines

  /// Removes the key if its time has come. Before each access.
  mutating func expire(_ key: Key, at now: Int64) {
    guard deadlines.count > 0, let entry = entries[key], entry.deadline != 0, entry.deadline <= now else {
      return
    }
    entries[key] = nil
    expired += 1
  }

  /// Removes some of the keys whose time has come; returns whether more are left.
  mutating func expireSome(at now: Int64) -> Bool {
    for _ in 0..<1000 {
      guard let (deadline, key) = deadlines.removeFirst(dueBy: now) else { return false }
      if entries[key]?.deadline == deadline {
        entries[key] = nil
        expired += 1
      }
    }
    return true
  }

  mutating func setDeadline(_ deadline: Int64, of key: Key) {
    entries[key]?.deadline = deadline
    if deadline == 0 { return }
    // Deadlines that no longer hold are dropped once they are most of the heap.
    if deadlines.count > 1000 + 2 * entries.count {
      deadlines.removeAll { deadline, key in entries[key]?.deadline != deadline }
    }
    deadlines.insert(deadline, key)
  }

  mutating func removeAll() {
    entries = [:]
    deadlines = DeadlineHeap()
  }

  // MARK: Changing a value in place

  /// Calls `body` with the part of a value that has one type, or with an empty one; removes the key if that is empty
  /// afterwards. Returns nil, and calls nothing, if the key has a value of another type.
  ///
  /// The value is taken out of the dictionary meanwhile, so that it is the only reference, and nothing is copied.
  mutating func update<Part: Collectible, Result>(
    _ key: Key, as _: Part.Type, createsKey: Bool = true, _ body: (inout Part) -> Result
  ) -> Result? {
    guard let index = entries.index(forKey: key) else {
      var part = Part()
      let result = body(&part)
      if createsKey, !part.isEmpty { entries[key] = Entry(value: part.wrapped) }
      return result
    }
    guard var part = Part(entries.values[index].value) else { return nil }
    entries.values[index].value = .string([])
    let result = body(&part)
    if part.isEmpty { entries.remove(at: index) } else { entries.values[index].value = part.wrapped }
    return result
  }

  /// Calls `body` with the part of a value that has one type, or with an empty one. Returns nil if it has another type.
  func read<Part: Collectible, Result>(_ key: Key, as _: Part.Type, _ body: (Part) -> Result) -> Result? {
    guard let entry = entries[key] else { return body(Part()) }
    return Part(entry.value).map(body)
  }
}

/// A type of value that goes when it is empty.
protocol Collectible {
  init()
  init?(_ value: Keyspace.Value)
  var isEmpty: Bool { get }
  var wrapped: Keyspace.Value { get }
}

extension ListValue: Collectible {
  init?(_ value: Keyspace.Value) { if case .list(let list) = value { self = list } else { return nil } }
  var wrapped: Keyspace.Value { .list(self) }
}

extension [Key: [UInt8]]: Collectible {
  init?(_ value: Keyspace.Value) { if case .hash(let hash) = value { self = hash } else { return nil } }
  var wrapped: Keyspace.Value { .hash(self) }
}

extension Set<Key>: Collectible {
  init?(_ value: Keyspace.Value) { if case .set(let set) = value { self = set } else { return nil } }
  var wrapped: Keyspace.Value { .set(self) }
}

extension SortedSet: Collectible {
  init?(_ value: Keyspace.Value) { if case .sorted(let set) = value { self = set } else { return nil } }
  var wrapped: Keyspace.Value { .sorted(self) }
}

/// A binary heap of deadlines, the earliest first.
struct DeadlineHeap: Sendable {
  private var items: [(deadline: Int64, key: Key)] = []

  var count: Int { items.count }

  mutating func insert(_ deadline: Int64, _ key: Key) {
    items.append((deadline, key))
    var index = items.count - 1
    while index > 0, items[index].deadline < items[(index - 1) / 2].deadline {
      items.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  mutating func removeFirst(dueBy now: Int64) -> (Int64, Key)? {
    guard let first = items.first, first.deadline <= now else { return nil }
    let last = items.removeLast()
    if !items.isEmpty {
      items[0] = last
      sink(from: 0)
    }
    return first
  }

  mutating func removeAll(where isOver: (Int64, Key) -> Bool) {
    items.removeAll { isOver($0.deadline, $0.key) }
    for index in stride(from: items.count / 2 - 1, through: 0, by: -1) { sink(from: index) }
  }

  private mutating func sink(from start: Int) {
    var index = start
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < items.count && items[child].deadline < items[least].deadline { least = child }
      if least == index { return }
      items.swapAt(index, least)
      index = least
    }
  }
}
