/// Deadlines by key: a hierarchical timing wheel, and a table of the keys. Time is counted in ticks.
///
/// Level 0 has a slot for each of 64 ticks, level 1 one for each of 64 times 64 ticks, and so on. A deadline is in the lowest
/// level whose 64 slots contain both the deadline and ``elapsed``: so each level holds only what comes after everything in
/// the levels below. When ``elapsed`` reaches a slot of a higher level, its deadlines move to lower ones. Each moves five
/// times at most, so every operation takes amortized constant time.
///
/// A slot is a circular list, oldest first. The lists and the table link entries by their index, and the entries are in one
/// array: a deadline takes 32 bytes and its key (40 if that is a plain integer), and up to half of that for growth. An empty
/// wheel keeps memory for 1,024 deadlines at most.
@usableFromInline
struct TimerWheel<Key: Hashable & Sendable>: Sendable {
  /// The index of an entry; ``none`` for no entry.
  @usableFromInline typealias Index = UInt32

  @usableFromInline
  struct Entry: Sendable {
    /// The tick of the deadline.
    @usableFromInline var due: UInt64
    @usableFromInline var next: Index
    @usableFromInline var previous: Index
    /// The next entry of the same bucket, or the next free entry.
    @usableFromInline var chained: Index
    /// The slot that it is in: 64 of each level.
    @usableFromInline var slot: UInt16
    /// Nil if the entry is free.
    @usableFromInline var key: Key?

    @inlinable
    init(_ key: Key, due: UInt64, chained: Index) {
      (self.key, self.due, self.chained) = (key, due, chained)
      (next, previous, slot) = (TimerWheel.none, TimerWheel.none, 0)
    }
  }

  /// The slots of one level.
  @usableFromInline
  struct Level: Sendable {
    /// One bit for each slot that is not empty.
    @usableFromInline var occupied: UInt64 = 0
    /// The first entry of each slot. Empty until the level is first used.
    @usableFromInline var first: ContiguousArray<Index> = []

    @inlinable init() {}
  }

  @usableFromInline var entries: ContiguousArray<Entry> = []
  /// The first entry of each bucket of the table; their number is a power of two, or 0 before the first deadline.
  @usableFromInline var buckets: ContiguousArray<Index> = []
  @usableFromInline var free = TimerWheel.none
  /// ``levelCount`` of them, or none before the first deadline: many reactors have a wheel that they never use.
  @usableFromInline var levels: ContiguousArray<Level> = []
  /// Every deadline that is left is at least as late. While the wheel is not empty it changes in ``removeFirst(dueBy:)`` only.
  @usableFromInline var elapsed: UInt64 = 0
  /// How many deadlines are set.
  @usableFromInline var count = 0

  @inlinable static var none: Index { .max }
  @inlinable static var levelCount: Int { 6 }

  @inlinable init() {}

  // MARK: Setting and cancelling

  /// Sets the deadline of a key, in place of an earlier one.
  ///
  /// - Parameters:
  ///   - due: The tick.
  ///   - now: The tick of the present, for an empty wheel.
  /// - Returns: The tick at which the wheel must be checked for this deadline.
  /// - Complexity: O(1), amortized.
  @inlinable
  mutating func set(_ key: Key, due: UInt64, now: UInt64) -> UInt64 {
    if count == 0 { elapsed = now }
    let due = max(due, elapsed + 1)
    let index = find(key)
    if index != Self.none {
      unlink(index)
      entries[Int(index)].due = due
      return link(index)
    }
    return link(insert(key, due: due))
  }

  /// Removes the deadline of a key; returns whether there was one.
  ///
  /// - Complexity: O(1).
  @inlinable
  mutating func cancel(_ key: Key) -> Bool {
    let index = find(key)
    if index == Self.none { return false }
    unlink(index)
    _ = remove(index)
    return true
  }

  /// Whether a key has a deadline.
  @inlinable
  func contains(_ key: Key) -> Bool { find(key) != Self.none }

  // MARK: Time

  /// Removes the earliest deadline that is not after `now`, and returns its key. Of two of the same tick, the one that was set
  /// first is the first.
  ///
  /// - Complexity: O(1), amortized.
  @inlinable
  mutating func removeFirst(dueBy now: UInt64) -> Key? {
    while let (slot, start) = nextSlot, start <= now {
      elapsed = start
      if slot < 64 {
        let index = levels[0].first[slot]
        unlink(index)
        return remove(index)
      }
      moveDown(slot)
    }
    // What is left comes later, so it stays where it is. Otherwise the next deadline, compared with a time long ago, would be in a slot
    // that has begun, and be checked at once.
    elapsed = max(elapsed, now)
    return nil
  }

  /// The tick at which the wheel must be checked: not after the earliest deadline. Nil if there is none.
  @inlinable
  var nextCheck: UInt64? { nextSlot?.start }

  /// The slot with the earliest deadlines, and the tick at which it begins.
  @inlinable
  var nextSlot: (slot: Int, start: UInt64)? {
    for level in levels.indices where levels[level].occupied != 0 {
      let shift = UInt64(6 * level)
      // In a higher level, what is in the slot of the present comes after a whole round.
      let first = (elapsed >> shift) + (level == 0 ? 0 : 1)
      let occupied = levels[level].occupied
      let rotated = occupied >> (first & 63) | occupied << ((64 - first & 63) & 63)
      let slot = first + UInt64(rotated.trailingZeroBitCount)
      return (64 * level + Int(slot & 63), slot << shift)
    }
    return nil
  }

  /// Moves the deadlines of a slot, which has begun, to lower levels.
  @inlinable
  mutating func moveDown(_ slot: Int) {
    let first = levels[slot / 64].first[slot % 64]
    levels[slot / 64].first[slot % 64] = Self.none
    levels[slot / 64].occupied &= ~(1 << UInt64(slot % 64))
    var index = first
    repeat {
      let next = entries[Int(index)].next
      _ = link(index)
      index = next
    } while index != first
  }

  // MARK: Slots

  /// Appends an entry to the slot of its deadline; returns the tick at which that begins.
  @inlinable
  mutating func link(_ index: Index) -> UInt64 {
    let due = entries[Int(index)].due
    let level = min((63 - (due ^ elapsed | 63).leadingZeroBitCount) / 6, Self.levelCount - 1)
    let slot = Int(due >> UInt64(6 * level) & 63)
    entries[Int(index)].slot = UInt16(64 * level + slot)
    if levels[level].first.isEmpty {
      levels[level].first = ContiguousArray(repeating: Self.none, count: 64)
    }
    levels[level].occupied |= 1 << UInt64(slot)
    let first = levels[level].first[slot]
    if first == Self.none {
      levels[level].first[slot] = index
      (entries[Int(index)].next, entries[Int(index)].previous) = (index, index)
    } else {
      let last = entries[Int(first)].previous
      (entries[Int(index)].next, entries[Int(index)].previous) = (first, last)
      entries[Int(last)].next = index
      entries[Int(first)].previous = index
    }
    return (due >> UInt64(6 * level)) << UInt64(6 * level)
  }

  /// Takes an entry out of its slot.
  @inlinable
  mutating func unlink(_ index: Index) {
    let (next, previous) = (entries[Int(index)].next, entries[Int(index)].previous)
    let (level, slot) = (Int(entries[Int(index)].slot) / 64, Int(entries[Int(index)].slot) % 64)
    if next == index {
      levels[level].first[slot] = Self.none
      levels[level].occupied &= ~(1 << UInt64(slot))
      return
    }
    entries[Int(previous)].next = next
    entries[Int(next)].previous = previous
    if levels[level].first[slot] == index { levels[level].first[slot] = next }
  }

  // MARK: The table

  @inlinable
  func bucket(of key: Key) -> Int { key._rawHashValue(seed: 0) & (buckets.count - 1) }

  @inlinable
  func find(_ key: Key) -> Index {
    if count == 0 { return Self.none }
    var index = buckets[bucket(of: key)]
    while index != Self.none, entries[Int(index)].key != key { index = entries[Int(index)].chained }
    return index
  }

  @inlinable
  mutating func insert(_ key: Key, due: UInt64) -> Index {
    if count == buckets.count { growBuckets() }
    count += 1
    let bucket = bucket(of: key)
    let entry = Entry(key, due: due, chained: buckets[bucket])
    let index: Index
    if free != Self.none {
      index = free
      free = entries[Int(index)].chained
      entries[Int(index)] = entry
    } else {
      // Not twice as much, as an array grows by itself.
      if entries.count == entries.capacity {
        entries.reserveCapacity(max(8, entries.count + entries.count / 2))
      }
      index = Index(entries.count)
      entries.append(entry)
    }
    buckets[bucket] = index
    return index
  }

  /// Removes an entry that is in no slot, and returns its key.
  @inlinable
  mutating func remove(_ index: Index) -> Key? {
    guard let key = entries[Int(index)].key.take() else { return nil }
    let bucket = bucket(of: key)
    let chained = entries[Int(index)].chained
    if buckets[bucket] == index {
      buckets[bucket] = chained
    } else {
      var before = buckets[bucket]
      while entries[Int(before)].chained != index { before = entries[Int(before)].chained }
      entries[Int(before)].chained = chained
    }
    entries[Int(index)].chained = free
    free = index
    count -= 1
    // The memory of a peak is given back when all is over.
    if count == 0, entries.capacity > 1024 { (entries, buckets, free) = ([], [], Self.none) }
    return key
  }

  /// Makes the first buckets, or twice as many.
  @inlinable
  mutating func growBuckets() {
    if levels.isEmpty { levels = ContiguousArray(repeating: Level(), count: Self.levelCount) }
    buckets = ContiguousArray(repeating: Self.none, count: max(8, 2 * buckets.count))
    for index in entries.indices {
      guard let key = entries[index].key else { continue }
      let bucket = bucket(of: key)
      entries[index].chained = buckets[bucket]
      buckets[bucket] = Index(index)
    }
  }
}
