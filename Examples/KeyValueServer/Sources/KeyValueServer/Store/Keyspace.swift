/// The keys of one shard: the state of its reactor. It changes in place, and reads no clock.
///
/// Time does not go back here, though two connections may read the clock in another order than their commands arrive in, and
/// somebody may set the clock. Otherwise a key that one command has found expired would be there for the next one, which may then
/// write into it what goes with it.
struct Keyspace: Sendable {
  enum Value: Sendable {
    case string(Bytes)
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
    /// The number of the deadline in the heap of the table; none if there is no deadline.
    var number: DeadlineHeap.Number = 0
    /// When it goes, in milliseconds since 1970; 0 is never.
    var deadline: Int64 = 0
  }

  var entries = EntryTable()
  private(set) var expired = 0
  /// The latest time at which a command was run here, in milliseconds since 1970.
  private(set) var latest: Int64 = 0
  /// How many bytes the snapshot had that this was read from; 0 if there was none.
  var snapshotSize = 0

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
    entries.remove(key)
    expired += 1
  }

  /// Whether there may be keys whose time has come, so that ``expireSome(at:)`` has something to do.
  func hasExpired(at now: Int64) -> Bool { entries.firstDeadline.map { $0 <= now } ?? false }

  /// Whether the time of a key has come, though it is still there. In Redis a key exists in the millisecond of its deadline; here no
  /// longer. That stays so: a journal has the time of each command, and a replay must find expired what the command has found expired.
  func isExpired(_ key: Key, at now: Int64) -> Bool {
    guard entries.timedCount > 0, let entry = entries[key] else { return false }
    return entry.deadline != 0 && entry.deadline <= now
  }

  /// Removes some of the keys whose time has come; returns whether more may be left.
  ///
  /// Which ones depends on the keys and their deadlines alone, so that a replay removes the same ones: the earliest, and equal ones in the
  /// order of the keys.
  mutating func expireSome(at now: Int64) -> Bool {
    for _ in 0..<1000 {
      if !entries.removeFirst(dueBy: now) { return false }
      expired += 1
    }
    return true
  }

  mutating func setDeadline(_ deadline: Int64, of key: Key) { entries.setDeadline(deadline, of: key) }

  /// Made once: its table has many parts.
  static let empty = Keyspace()

  mutating func removeAll() { entries = Self.empty.entries }

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
      if createsKey, !part.isEmpty { entries.set(part.wrapped, for: key) }
      return result
    }
    guard var part = Part(entries[index]) else { return nil }
    entries[index] = .string(Bytes())
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
