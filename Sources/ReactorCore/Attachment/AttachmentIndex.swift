import Synchronization

/// The slots of one shard, in one generation: its size never changes, what is in its slots does.
///
/// Slots refer to entries; the references are counted as those of the shard, so an index that was replaced
/// owns nothing.
final class AttachmentIndex: Sendable {
  enum Slot {
    static var empty: UInt { 0 }
    /// No entry lies at an odd address.
    static var removed: UInt { 1 }
  }

  /// Behind the place that a hash says, so many slots may hold its entry.
  static var reach: Int { 32 }
  static var smallestCapacity: Int { 8 }

  // Atomics; the memory goes away with this.
  private nonisolated(unsafe) let slots: UnsafeMutablePointer<Atomic<UInt>>
  private let mask: Int
  private let shift: UInt64
  private let reach: Int

  /// - Parameter capacity: A power of two.
  private init(capacity: Int) {
    slots = .allocate(capacity: capacity)
    for slot in 0..<capacity { (slots + slot).initialize(to: Atomic(Slot.empty)) }
    mask = capacity - 1
    shift = UInt64(64 - capacity.trailingZeroBitCount)
    reach = min(capacity, Self.reach)
  }

  deinit { slots.deallocate() }

  /// One with these entries: from a quarter to half full; less if one of them found no room.
  static func holding(_ entries: [Unmanaged<AttachmentEntry>]) -> AttachmentIndex {
    var capacity = smallestCapacity
    while capacity < entries.count * 2 { capacity *= 2 }
    while true {
      let index = AttachmentIndex(capacity: capacity)
      if entries.allSatisfy({ index.put($0) }) { return index }
      capacity *= 2
    }
  }

  private func put(_ entry: Unmanaged<AttachmentEntry>) -> Bool {
    let identity = entry._withUnsafeGuaranteedRef { $0.identity }
    guard let slot = freeSlot(for: AttachmentHash.hash(identity)) else { return false }
    set(Self.word(entry), in: slot)
    return true
  }

  var capacity: Int { mask + 1 }

  /// Where the slots begin that an entry with this hash may be in.
  @inline(__always)
  private func home(of hash: UInt64) -> Int {
    // The uppermost bits have chosen the shard.
    Int(truncatingIfNeeded: (hash &<< AttachmentHash.shardBits) &>> shift)
  }

  /// What is in a slot: an entry's address, or a mark.
  @inline(__always)
  func word(in slot: Int) -> UInt {
    // ENTRY: what the entry holds, from who linked it. PIN: after the pin.
    slots[slot].load(ordering: .sequentiallyConsistent)
  }

  /// The shard's mutex.
  func set(_ word: UInt, in slot: Int) {
    // ENTRY: what the entry holds, to who finds it. PIN: before the look at the pins, if something is
    // unlinked.
    slots[slot].store(word, ordering: .sequentiallyConsistent)
  }

  /// Where the object's entry is; nil if nowhere. Pinned, or under the shard's mutex.
  @inline(__always)
  func find(_ identity: ObjectIdentifier, _ hash: UInt64) -> (slot: Int, entry: Unmanaged<AttachmentEntry>)? {
    let home = home(of: hash)
    for step in 0..<reach {
      let slot = (home &+ step) & mask
      let word = word(in: slot)
      if word == Slot.empty { return nil }
      if let entry = Self.entry(word), entry._withUnsafeGuaranteedRef({ $0.identity == identity }) {
        return (slot, entry)
      }
    }
    return nil
  }

  /// The first slot that an entry with this hash can be put into; nil if there is none. The shard's mutex.
  func freeSlot(for hash: UInt64) -> Int? {
    let home = home(of: hash)
    return (home..<(home + reach)).lazy.map { [mask] in $0 & mask }.first { Self.entry(word(in: $0)) == nil }
  }

  /// Some of the entries that are linked: those in `count` slots from `first` on, around the end. Pinned, or
  /// under the shard's mutex.
  func entries(from first: Int, count: Int) -> some Sequence<Unmanaged<AttachmentEntry>> {
    (first..<(first + min(count, capacity))).lazy.compactMap { [self] in Self.entry(word(in: $0 & mask)) }
  }

  @inline(__always)
  static func entry(_ word: UInt) -> Unmanaged<AttachmentEntry>? {
    if word <= Slot.removed { return nil }
    return UnsafeRawPointer(bitPattern: word).map(Unmanaged.fromOpaque)
  }

  static func word(_ entry: Unmanaged<AttachmentEntry>) -> UInt { UInt(bitPattern: entry.toOpaque()) }
}
