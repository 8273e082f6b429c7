/// The keys of one shard: the state of its reactor. It changes in place, and reads no clock.
///
/// Time does not go back here, though two connections may read the clock in another order than their commands arrive in, and
/// somebody may set the clock. Otherwise a key that one command has found expired would be there for the next one, which may then
/// write into it what goes with it.
struct Keyspace: Sendable {
  enum Value: Sendable {
    case string([UInt8])
    case list(ListValue)
    case hash([Key: [UInt8]])
    case set(SetValue)
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

  var entries = EntryTable()
  /// Deadlines, and keys that had them: some may have another deadline by now, or none.
  private var deadlines = DeadlineHeap()
  private(set) var expired = 0
  /// The latest time at which a command was run here, in milliseconds since 1970.
  private(set) var latest: Int64 = 0

  var counts: KeyCounts { KeyCounts(keys: entries.count, timed: entries.timedCount, expired: expired) }

  // MARK: Deadlines

  /// Notes that it is `now`; returns the time that counts, which may be later.
  mutating func advance(to now: Int64) -> Int64 {
    latest = max(latest, now)
    return latest
  }

  /// Removes the key if its time has come. Before each access.
  mutating func expire(_ key: Key, at now: Int64) {
    guard isExpired(key, at: now) else { return }
    entries[key] = nil
    expired += 1
  }

  /// Whether there may be keys whose time has come, so that ``expireSome(at:)`` has something to do.
  func hasExpired(at now: Int64) -> Bool { deadlines.first.map { $0 <= now } ?? false }

  /// Whether the time of a key has come, though it is still there.
  func isExpired(_ key: Key, at now: Int64) -> Bool {
    guard deadlines.count > 0, let entry = entries[key] else { return false }
    return entry.deadline != 0 && entry.deadline <= now
  }

  /// Removes some of the keys whose time has come; returns whether more are left.
  ///
  /// Which ones depends on the keys and their deadlines alone, so that a replay removes the same ones: deadlines that no longer hold
  /// do not count, and the heap orders equal ones by their keys.
  mutating func expireSome(at now: Int64) -> Bool {
    var removed = 0
    defer { expired += removed }
    while removed < 1000 {
      guard let (deadline, key) = deadlines.removeFirst(dueBy: now) else { return false }
      if entries[key]?.deadline == deadline {
        entries[key] = nil
        removed += 1
      }
    }
    return true
  }

  mutating func setDeadline(_ deadline: Int64, of key: Key) {
    entries.setDeadline(deadline, of: key)
    if deadline == 0 { return }
    deadlines.insert(deadline, key)
    // Deadlines that no longer hold are dropped once they are most of the heap. So are those that it has twice, since a key got the
    // same one again: then each key has one.
    if deadlines.count > 1000 + 2 * entries.count {
      deadlines = DeadlineHeap(
        entries.lazy.filter { $0.value.deadline != 0 }.map { ($0.value.deadline, $0.key) })
    }
  }

  mutating func removeAll() {
    entries = EntryTable()
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
    guard let index = entries.index(of: key) else {
      var part = Part()
      let result = body(&part)
      if createsKey, !part.isEmpty { entries[key] = Entry(value: part.wrapped) }
      return result
    }
    guard var part = Part(entries[index]) else { return nil }
    entries[index] = .string([])
    let result = body(&part)
    if part.isEmpty { entries.remove(at: index) } else { entries[index] = part.wrapped }
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

extension SetValue: Collectible {
  init?(_ value: Keyspace.Value) { if case .set(let set) = value { self = set } else { return nil } }
  var wrapped: Keyspace.Value { .set(self) }
}

extension SortedSet: Collectible {
  init?(_ value: Keyspace.Value) { if case .sorted(let set) = value { self = set } else { return nil } }
  var wrapped: Keyspace.Value { .sorted(self) }
}

/// A binary heap of deadlines, the earliest first; equal ones in the order of their keys.
struct DeadlineHeap: Sendable {
  private struct Item: Sendable {
    let deadline: Int64
    let key: Key

    static func < (one: Self, other: Self) -> Bool {
      one.deadline != other.deadline ? one.deadline < other.deadline : one.key < other.key
    }
  }

  private var items: [Item] = []

  var count: Int { items.count }
  var first: Int64? { items.first?.deadline }

  init() {}

  init(_ items: some Sequence<(Int64, Key)>) {
    self.items = items.map { Item(deadline: $0.0, key: $0.1) }
    for index in stride(from: self.items.count / 2 - 1, through: 0, by: -1) {
      sink(self.items[index], from: index)
    }
  }

  mutating func insert(_ deadline: Int64, _ key: Key) {
    let item = Item(deadline: deadline, key: key)
    items.append(item)
    var index = items.count - 1
    while index > 0, item < items[(index - 1) / 2] {
      items[index] = items[(index - 1) / 2]
      index = (index - 1) / 2
    }
    items[index] = item
  }

  mutating func removeFirst(dueBy now: Int64) -> (Int64, Key)? {
    guard let first = items.first, first.deadline <= now else { return nil }
    let last = items.removeLast()
    if !items.isEmpty { sink(last, from: 0) }
    return (first.deadline, first.key)
  }

  /// Puts an item where it belongs: at `start`, where there is none or an item that is kept elsewhere, or below it.
  private mutating func sink(_ item: Item, from start: Int) {
    var index = start
    while 2 * index + 1 < items.count {
      var child = 2 * index + 1
      if child + 1 < items.count, items[child + 1] < items[child] { child += 1 }
      if !(items[child] < item) { break }
      items[index] = items[child]
      index = child
    }
    items[index] = item
  }
}
