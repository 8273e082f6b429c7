import Synchronization

/// An ``AttachmentTable`` without the type of its values.
@usableFromInline
final class AttachmentStore: Sendable {
  /// So many slots are swept at each insertion. An index is seldom less than an eighth full, so that is about
  /// one entry or more, and what is dead does not gather.
  private static var sweptPerInsertion: Int { 8 }

  // Behind the pointer are atomics, one for each shard; the memory goes away with this.
  private nonisolated(unsafe) let indexes: UnsafeMutablePointer<Atomic<UInt>>
  private let shards: [AttachmentShard]
  private let grace = GracePeriods()
  /// Those of `grace`.
  private let pins: ReaderPins
  private let sweepsInBackground: Bool
  /// Entries that are linked, and that ever were.
  private let linked = Atomic(0)
  private let inserted = Atomic(0)
  let isSweeperRunning = Atomic(false)

  init(sweepsInBackground: Bool) {
    let indexes = UnsafeMutablePointer<Atomic<UInt>>.allocate(capacity: AttachmentHash.shardCount)
    for shard in 0..<AttachmentHash.shardCount { (indexes + shard).initialize(to: Atomic(0)) }
    self.indexes = indexes
    pins = grace.pins
    self.sweepsInBackground = sweepsInBackground
    shards = (0..<AttachmentHash.shardCount).map { AttachmentShard(indexes + $0) }
  }

  deinit {
    for shard in shards { shard.removeAll() }
    indexes.deallocate()
  }

  @usableFromInline var wasCount: Int { linked.load(ordering: .relaxed) }

  /// Entries that were ever linked. May be stale.
  var wasInserted: Int { inserted.load(ordering: .relaxed) }

  /// Whether the background sweep goes on. May be stale.
  var wasSwept: Bool { isSweeperRunning.load(ordering: .relaxed) }

  /// Slots for entries, in all shards. May be stale.
  var wasCapacity: Int { shards.reduce(0) { $0 + $1.wasCapacity } }

  /// Whether there is nothing to sweep and nothing to let go.
  var isEmpty: Bool {
    // SWEEPER: after the look, or the store, at `isSweeperRunning`.
    linked.load(ordering: .sequentiallyConsistent) == 0 && !grace.isHolding
  }

  @usableFromInline
  func value(at identity: ObjectIdentifier) -> (any AnyObject & Sendable)? {
    let hash = AttachmentHash.hash(identity)
    let pin = pins.pin()
    defer { pins.unpin(pin) }
    guard let index = AttachmentShard.index(in: indexes + AttachmentHash.shard(hash)) else { return nil }
    return index._withUnsafeGuaranteedRef { index in
      index.find(identity, hash)?.entry._withUnsafeGuaranteedRef { $0.value }
    }
  }

  /// Answers what is attached afterwards.
  @usableFromInline
  func attach(
    _ value: any AnyObject & Sendable, to object: AnyObject, replacing: Bool
  ) -> any AnyObject & Sendable {
    let entry = AttachmentEntry(object, value)
    // Inside its own deinit. The sweep of this very insertion could take it out again, or another one later:
    // better never.
    if entry.isDead { return value }
    let hash = AttachmentHash.hash(entry.identity)
    let shard = shards[AttachmentHash.shard(hash)]
    var retired: GracePeriods.Batch = []
    // Not let go under the mutex, if it is not linked.
    let result = withExtendedLifetime(entry) {
      shard.attach(
        entry, hash, replacing: replacing, sweeping: Self.sweptPerInsertion, retired: &retired)
    }
    if result.isNew {
      inserted.add(1, ordering: .relaxed)
      // SWEEPER: before the look whether it runs.
      linked.add(1, ordering: .sequentiallyConsistent)
      sweep(shard, from: result.cursor, count: Self.sweptPerInsertion, retired: &retired)
    }
    letGo(retired)
    if result.isNew { runSweeper() }
    return result.value
  }

  /// Takes out the entry of what has or had this identity.
  @usableFromInline
  func detach(_ identity: ObjectIdentifier, ifDead: Bool) {
    let hash = AttachmentHash.hash(identity)
    let shard = AttachmentHash.shard(hash)
    let pin = pins.pin()
    let entry = AttachmentShard.index(in: indexes + shard)?.takeUnretainedValue()
      .find(identity, hash)?.entry.takeUnretainedValue()
    pins.unpin(pin)
    guard let entry, !ifDead || entry.isDead else { return }
    var retired: GracePeriods.Batch = []
    unlink([entry], from: shards[shard], retired: &retired)
    letGo(retired)
  }

  /// Takes out the entries of all objects that are dead; answers how many.
  @usableFromInline
  @discardableResult
  func sweep() -> Int {
    var swept = 0
    for shard in shards {
      var retired: GracePeriods.Batch = []
      swept += sweep(shard, from: 0, count: .max, retired: &retired)
      letGo(retired)
    }
    // What earlier ones could not let go.
    letGo([])
    return swept
  }

  @discardableResult
  private func sweep(
    _ shard: AttachmentShard, from first: Int, count: Int, retired: inout GracePeriods.Batch
  ) -> Int {
    let pin = pins.pin()
    let dead = shard.deadEntries(from: first, count: count)
    pins.unpin(pin)
    return dead.isEmpty ? 0 : unlink(dead, from: shard, retired: &retired)
  }

  @discardableResult
  private func unlink(
    _ entries: [AttachmentEntry], from shard: AttachmentShard, retired: inout GracePeriods.Batch
  ) -> Int {
    let unlinked = shard.unlink(entries, retired: &retired)
    linked.subtract(unlinked, ordering: .sequentiallyConsistent)
    return unlinked
  }

  /// Sees to it that what was unlinked is let go, now or soon.
  private func letGo(_ retired: consuming GracePeriods.Batch) {
    if retired.isEmpty, !grace.isHolding { return }
    grace.retire(retired)
    if grace.isHolding { runSweeper() }
  }

  private func runSweeper() { if sweepsInBackground { startSweeper() } }
}
