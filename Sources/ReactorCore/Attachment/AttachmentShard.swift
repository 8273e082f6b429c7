import Synchronization

/// A part of a table: its index, and how that is changed.
///
/// Under the mutex nothing is let go and nothing foreign is called. What is unlinked comes out in `retired`.
final class AttachmentShard: Sendable {
  private struct Fields: Sendable {
    var entries = 0
    /// Slots that are not empty.
    var used = 0
    /// Where the sweep of the next insertion begins.
    var cursor = 0
  }

  /// The address of the index, or 0. It lies beside those of the other shards, so that look-ups find it at
  /// once.
  // Behind the pointer is an atomic, which outlives this.
  private nonisolated(unsafe) let place: UnsafeMutablePointer<Atomic<UInt>>
  private let fields = SystemMutex(Fields())

  init(_ place: UnsafeMutablePointer<Atomic<UInt>>) { self.place = place }

  /// The index that lies there. For who is pinned, or has the shard's mutex.
  @inline(__always)
  static func index(in place: UnsafeMutablePointer<Atomic<UInt>>) -> Unmanaged<AttachmentIndex>? {
    // ENTRY: what the index and its entries hold. PIN: after the pin.
    UnsafeRawPointer(bitPattern: place.pointee.load(ordering: .sequentiallyConsistent))
      .map(Unmanaged.fromOpaque)
  }

  private var index: AttachmentIndex? { Self.index(in: place)?.takeUnretainedValue() }

  var wasCapacity: Int { fields.withLock { _ in index?.capacity ?? 0 } }

  /// What is attached now, whether it was not before, and where to sweep.
  struct Attaching {
    let value: any AnyObject & Sendable
    let isNew: Bool
    let cursor: Int
  }

  /// Links the entry, unless the object has another one and that shall stay.
  func attach(
    _ entry: AttachmentEntry, _ hash: UInt64, replacing: Bool, sweeping: Int,
    retired: inout GracePeriods.Batch
  ) -> Attaching {
    fields.withLock { fields in
      let index = index
      if let index, let (slot, old) = index.find(entry.identity, hash) {
        if !replacing {
          return Attaching(value: old.takeUnretainedValue().value, isNew: false, cursor: fields.cursor)
        }
        index.set(AttachmentIndex.word(.passRetained(entry)), in: slot)
        retired.append(old.takeRetainedValue())
        return Attaching(value: entry.value, isNew: false, cursor: fields.cursor)
      }
      link(.passRetained(entry), hash, in: index, &fields, &retired)
      defer { fields.cursor &+= sweeping }
      return Attaching(value: entry.value, isNew: true, cursor: fields.cursor)
    }
  }

  /// Those entries in `count` slots whose objects are dead. Pinned, without the mutex.
  func deadEntries(from first: Int, count: Int) -> [AttachmentEntry] {
    guard let index else { return [] }
    let slot = first & (index.capacity - 1)
    return index.entries(from: slot, count: count).map { $0.takeUnretainedValue() }.filter { $0.isDead }
  }

  /// Unlinks those of the entries that are linked; answers how many that were.
  func unlink(_ entries: [AttachmentEntry], retired: inout GracePeriods.Batch) -> Int {
    fields.withLock { fields in
      guard let index else { return 0 }
      let before = fields.entries
      for entry in entries {
        let found = index.find(entry.identity, AttachmentHash.hash(entry.identity))
        // Somebody else may have unlinked it, and linked another one.
        guard let (slot, linked) = found, linked.toOpaque() == Unmanaged.passUnretained(entry).toOpaque()
        else { continue }
        index.set(AttachmentIndex.Slot.removed, in: slot)
        retired.append(linked.takeRetainedValue())
        fields.entries -= 1
      }
      let isTooLarge =
        fields.entries * 8 < index.capacity && index.capacity > AttachmentIndex.smallestCapacity
      if fields.entries == 0 || isTooLarge { rebuild(with: nil, index, &fields, &retired) }
      return before - fields.entries
    }
  }

  /// Puts it into a slot, or into a larger index if there is no room or too little is empty.
  private func link(
    _ entry: Unmanaged<AttachmentEntry>, _ hash: UInt64, in index: AttachmentIndex?, _ fields: inout Fields,
    _ retired: inout GracePeriods.Batch
  ) {
    fields.entries += 1
    guard let index, let slot = index.freeSlot(for: hash) else {
      return rebuild(with: entry, index, &fields, &retired)
    }
    if index.word(in: slot) == AttachmentIndex.Slot.empty {
      if (fields.used + 1) * 4 > index.capacity * 3 { return rebuild(with: entry, index, &fields, &retired) }
      fields.used += 1
    }
    index.set(AttachmentIndex.word(entry), in: slot)
  }

  /// Replaces the index by one of the right size, without marks; by none if there are no entries.
  private func rebuild(
    with added: Unmanaged<AttachmentEntry>?, _ old: AttachmentIndex?, _ fields: inout Fields,
    _ retired: inout GracePeriods.Batch
  ) {
    var entries = old.map { Array($0.entries(from: 0, count: $0.capacity)) } ?? []
    if let added { entries.append(added) }
    assert(entries.count == fields.entries)
    fields.used = entries.count
    publish(entries.isEmpty ? nil : .holding(entries))
    if let old { retired.append(Unmanaged.passUnretained(old).takeRetainedValue()) }
  }

  private func publish(_ new: AttachmentIndex?) {
    let word = new.map { UInt(bitPattern: Unmanaged.passRetained($0).toOpaque()) } ?? 0
    // ENTRY: the index with all that is in it, to who finds it. PIN: the old one is unlinked, before the look
    // at the pins.
    place.pointee.store(word, ordering: .sequentiallyConsistent)
  }

  /// Lets go of everything. When nobody has the table any more.
  func removeAll() {
    guard let last = Self.index(in: place)?.takeRetainedValue() else { return }
    publish(nil)
    for entry in last.entries(from: 0, count: last.capacity) { entry.release() }
  }
}
