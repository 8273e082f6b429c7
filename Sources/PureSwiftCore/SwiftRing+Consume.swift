import RawCore
import Synchronization

// The consumer: one thread at a time.
extension SwiftRing {
  @inlinable
  public func peek(_ cursor: UInt64) -> RawSlot {
    // RING_ITEM: the payloads of the run, from the claimant's publication.
    let found = word(cursor).pointee.load(ordering: .acquiring) ^ (cursor &<< 8)
    // A word of another lap differs in the cursor's bits, so it is 256 or more.
    if found == 0 || found >= 256 { return .notReady }
    if found < Self.skipFlag { return .run(UInt32(truncatingIfNeeded: found)) }
    return .skip(UInt32(truncatingIfNeeded: found &- Self.skipFlag))
  }

  @inlinable
  public var head: UInt64 { consumer.pointee.head.load(ordering: .relaxed) }

  @inlinable
  public func release(_ cursor: UInt64) {
    // RING_SPACE: the slots before `cursor` are emptied, to the claimants.
    consumer.pointee.head.store(cursor, ordering: .releasing)
  }

  @inlinable
  public var runLeft: UInt32 {
    get { consumer.pointee.runLeft }
    nonmutating set { consumer.pointee.runLeft = newValue }
  }

  @inlinable
  public var isIdle: Bool {
    // RING_CLAIM: the owner left, then looks here; if a claimant missed the leaving, this does not miss the
    // claim. A closed ring is not idle.
    producers.pointee.tail.load(ordering: .sequentiallyConsistent)
      == consumer.pointee.head.load(ordering: .relaxed) &<< 1
  }
}
