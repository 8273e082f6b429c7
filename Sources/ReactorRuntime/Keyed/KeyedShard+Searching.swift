/// Searching for keys that are not used.
extension KeyedShard {
  /// How long ago a use was, within 104 days: zero if it was after `now` was read.
  @inlinable
  static func age(of use: UInt32, at now: UInt32) -> Int32 { max(0, Int32(bitPattern: now &- use)) }

  /// What a search for keys that were not used has found.
  @usableFromInline
  enum Idle: Sendable {
    /// This one, which is in transition now.
    case key(Key, R)
    /// None in these slots.
    case none
    /// There are no more slots.
    case end
  }

  /// Makes the first key end that was not used for so long, in the next slots from `index` on.
  ///
  /// Not several at once: what is sent to a key in transition waits, and would wait until the states of others are kept.
  @inlinable
  mutating func beginEnding(
    idleFor idle: Int32, at now: UInt32, from index: inout Int, slots most: Int
  ) -> Idle {
    if index >= slots.count { return .end }
    let end = min(slots.count, index + most)
    while index < end {
      defer { index += 1 }
      // A copy of the slot would refer to the reactor.
      // To load the count of a reactor that nobody used takes its cache line. So not of those that cannot end for long.
      if let age = slots[index].map({ Self.age(of: $0.lastUse, at: now) }), age >= idle / 4 {
        if slots[index]?.isUnused() == false {
          // What refers to it has used it until now.
          slots[index]?.lastUse = now
        } else if age >= idle, let key = slots[index]?.key, let reactor = beginEnding(at: index) {
          return .key(key, reactor)
        }
      }
    }
    return .none
  }

  /// The keys among which the least recently used one is searched for.
  @usableFromInline
  struct Sample: Sendable {
    @usableFromInline var oldest: (key: Key, age: Int32)?
    /// How many were compared.
    @usableFromInline var compared = 0
    /// How many were left out, because their reactors are in use.
    @usableFromInline var inUse = 0

    @inlinable
    init() {}

    /// Whether it is large enough: 16 keys, or fewer if many are in use.
    @inlinable
    var isComplete: Bool { compared + inUse / 8 >= 16 }
  }

  /// Adds the next active keys to a sample, but not `excluded`. It looks at 64 slots at most.
  ///
  /// - Returns: The oldest key before, to be destroyed outside of the mutex. It is of another shard, which may have removed it meanwhile;
  ///   then this may be the last reference to an object whose deinit uses the collection.
  @inlinable
  mutating func sample(_ sample: inout Sample, besides excluded: Key, at now: UInt32) -> Key? {
    let before = sample.oldest?.key
    for _ in 0..<min(slots.count, 64) where !sample.isComplete {
      hand = next(hand)
      // A copy of the slot would refer to the reactor.
      guard let lastUse = slots[hand]?.lastUse, slots[hand]?.reactor != nil else { continue }
      guard slots[hand]?.isUnused() == true, let key = slots[hand]?.key, key != excluded else {
        sample.inUse += 1
        continue
      }
      sample.compared += 1
      let age = Self.age(of: lastUse, at: now)
      if sample.oldest.map({ $0.age < age }) ?? true { sample.oldest = (key, age) }
    }
    return before
  }
}
