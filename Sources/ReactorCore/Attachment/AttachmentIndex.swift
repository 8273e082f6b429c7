/// One object and its value. Constant.
final class AttachmentEntry: @unchecked Sendable {
  // Unchecked: all properties are constants, and of the object, which need not be Sendable, only the reference
  // counts are used.
  let identity: ObjectIdentifier
  private weak let object: AnyObject?
  /// Never read. As long as it exists, the object's memory is not freed, so its address stays its own.
  private unowned let address: AnyObject
  let value: any AnyObject & Sendable

  init(_ object: AnyObject, _ value: any AnyObject & Sendable) {
    identity = ObjectIdentifier(object)
    self.object = object
    address = object
    self.value = value
  }

  /// Whether the object's deinit has begun; true is final.
  ///
  /// Not to be called under a mutex: this retains the object for a moment, and if all other references go away
  /// in that moment, the object's deinit runs here.
  var isDead: Bool { object == nil }
}

/// The entries of one shard: a hash table with linear probing, at most half full.
///
/// A plain value: a copy shares its memory until one of the two is changed. A removal moves later entries back, so there are no
/// marks for removed ones.
struct AttachmentIndex: Sendable {
  private var slots: ContiguousArray<AttachmentEntry?>
  private(set) var count = 0

  /// An index of these entries, at most a quarter full. O(entries).
  init(_ entries: [AttachmentEntry]) {
    var capacity = 8
    while capacity < entries.count * 4 { capacity *= 2 }
    slots = ContiguousArray(repeating: nil, count: capacity)
    for entry in entries { put(entry) }
  }

  /// All entries, in no order. O(slots).
  var entries: [AttachmentEntry] {
    var entries: [AttachmentEntry] = []
    entries.reserveCapacity(count)
    for case let entry? in slots { entries.append(entry) }
    return entries
  }

  /// Removes these entries if they are there. O(number of removed ones) on average, amortised: an index that has become much too
  /// large is made anew.
  mutating func remove(_ removed: [AttachmentEntry]) {
    for entry in removed {
      var slot = home(of: entry.identity)
      while let found = slots[slot], found !== entry { slot = next(slot) }
      if slots[slot] == nil { continue }
      slots.emptyProbed(slot) { Self.hash($0.identity) }
      count -= 1
    }
    if slots.count > 8, count * 16 < slots.count { self = AttachmentIndex(entries) }
  }

  /// The entry of the object with this identity. O(1) on average.
  @inline(__always)
  func entry(of identity: ObjectIdentifier) -> AttachmentEntry? {
    var slot = home(of: identity)
    while let entry = slots[slot] {
      if entry.identity == identity { return entry }
      slot = next(slot)
    }
    return nil
  }

  /// Adds an entry of an object that has none, and doubles the capacity first if the index is half full. O(1)
  /// amortised.
  ///
  /// - Returns: Whether it doubled the capacity.
  mutating func insert(_ entry: AttachmentEntry) -> Bool {
    let isFull = count * 2 >= slots.count
    if isFull { self = AttachmentIndex(entries) }
    put(entry)
    return isFull
  }

  private mutating func put(_ entry: AttachmentEntry) {
    var slot = home(of: entry.identity)
    while slots[slot] != nil { slot = next(slot) }
    slots[slot] = entry
    count += 1
  }

  @inline(__always)
  private func home(of identity: ObjectIdentifier) -> Int { Self.hash(identity) & (slots.count - 1) }

  @inline(__always)
  private func next(_ slot: Int) -> Int { (slot + 1) & (slots.count - 1) }

  /// A cheap hash of an address, without the lowest bits, which are the same in all addresses. The lower half
  /// chooses a slot, the upper bits choose a shard.
  @inline(__always)
  static func hash(_ identity: ObjectIdentifier) -> Int {
    Int(truncatingIfNeeded: (UInt64(UInt(bitPattern: identity)) &* 0x9e37_79b9_7f4a_7c15) &>> 32)
  }
}
