import Glibc
import RawCore
import Synchronization

/// The trampoline of the pure-Swift core: `rr_trampoline.h` written with `Synchronization` atomics. That file documents the
/// word, the diagram of its states, and why nothing is lost.
///
/// No thread keeps a pin between its reads, as `rr_readers.h` does: that needs an asymmetric fence.
@frozen
public struct SwiftTrampoline: RawTrampoline, @unchecked Sendable {
  // Unchecked: the pointee consists of atomics, and of memory that only the owner accesses.
  @usableFromInline let word: UnsafeMutablePointer<Atomic<UInt64>>

  public init(payload: Int) throws(CoreError) {
    guard (0...SlotLimits.payload).contains(payload) else { throw .elementIsTooLarge }
    let memory = try CacheLine.allocate(byteCount: TrampolineLayout.payload + payload)
    word = CacheLine.place(Atomic(Self.newBit), inLine: 0, of: memory)
    for slot in 0..<snapshotSlotCount { pins(slot).initialize(to: Atomic(0)) }
    deferrals.initialize(to: Atomic(0))
  }

  @inlinable
  public var memory: UnsafeMutableRawPointer { UnsafeMutableRawPointer(word) }

  public func destroy() { free(word) }

  public func destroyPlace() { free(word) }

  @inlinable
  static var slotMask: UInt64 { 7 }
  @inlinable
  static var newBit: UInt64 { 8 }
  @inlinable
  static var scheduled: UInt64 { 16 }
  @inlinable
  static var ownerMask: UInt64 { ~15 }
}

// MARK: Ownership

extension SwiftTrampoline {
  @inlinable
  public func tryInitialize(_ token: UInt64) -> Bool {
    // Relaxed: there is nothing to take over from an earlier owner. What this thread writes is released later, when it
    // publishes the state.
    word.pointee.compareExchange(
      expected: Self.newBit, desired: Self.newBit | token, ordering: .relaxed
    ).exchanged
  }

  @inlinable
  public func tryAcquire(_ token: UInt64) -> Bool { tryTake(for: token) }

  @inlinable
  public func trySchedule() -> Bool { tryTake(for: Self.scheduled) }

  @inlinable
  @inline(__always)
  func tryTake(for owner: UInt64) -> Bool {
    // OWNERSHIP: sequentially consistent, because a producer that finds the word busy does nothing more. So this load
    // must be in one order with the claim before it and with the owner's release. (It is a plain load on x86.)
    var found = word.pointee.load(ordering: .sequentiallyConsistent)
    while found & ~Self.slotMask == 0 {
      // OWNERSHIP: what the previous owner wrote, from its release. Fails only if another thread acquired, scheduled or
      // published. Relaxed then: the value is newer than the one that the load above found, so another owner acquired
      // after the claim, and that owner loads the mailbox's tail after its release.
      let (isTaken, current) = word.pointee.compareExchange(
        expected: found, desired: found | owner, successOrdering: .sequentiallyConsistent,
        failureOrdering: .relaxed)
      if isTaken { return true }
      found = current
    }
    return false
  }

  @inlinable
  public func acquireScheduled(_ token: UInt64) {
    // Relaxed: the thread that scheduled has acquired what the last owner wrote, and there is a happens-before edge from
    // that thread to this one.
    let found = word.pointee.load(ordering: .relaxed)
    // OWNERSHIP: the snapshot, to readers. A store suffices, because no other thread writes a scheduled word.
    word.pointee.store((found & Self.slotMask) | token, ordering: .releasing)
  }

  @inlinable
  public func publish(_ token: UInt64, slot: Int) {
    // OWNERSHIP: the snapshot in `slot`, to readers; before the next load of the pins.
    _ = word.pointee.exchange(
      token | UInt64(truncatingIfNeeded: slot), ordering: .sequentiallyConsistent)
  }

  @inlinable
  public func release(slot: Int) {
    // OWNERSHIP: everything that the owner wrote, to the next owner; before the owner's last load of the mailbox's tail.
    _ = word.pointee.exchange(UInt64(truncatingIfNeeded: slot), ordering: .sequentiallyConsistent)
  }

  // No word is light: that needs an asymmetric fence. So each release is a heavy one, and nothing is left for the other function.
  @inlinable
  public func tryReleaseLightly(slot: Int) -> Bool {
    release(slot: slot)
    return true
  }

  @inlinable
  public func releaseHeavily(slot: Int, afterTurns turns: Int) { release(slot: slot) }

  @inlinable
  public var isBusy: Bool {
    // OWNERSHIP: a producer that finds the word busy does nothing more; as in `tryTake(for:)`.
    word.pointee.load(ordering: .sequentiallyConsistent) & Self.ownerMask != 0
  }

  @inlinable
  public func isOwner(_ token: UInt64) -> Bool {
    // Relaxed: only the calling thread writes or removes its own token.
    word.pointee.load(ordering: .relaxed) & Self.ownerMask == token
  }

  // Relaxed: nobody relies on that owner because of it.
  @inlinable
  public var ownerToken: UInt64 { word.pointee.load(ordering: .relaxed) & Self.ownerMask }
}

// MARK: Snapshot slots

extension SwiftTrampoline {
  @inlinable
  public var publishedSlot: Int {
    // OWNERSHIP: the snapshot in that slot, from the owner's publication; after the reader's pin.
    let found = word.pointee.load(ordering: .sequentiallyConsistent)
    return found & Self.newBit != 0 ? -1 : Int(truncatingIfNeeded: found & Self.slotMask)
  }

  @inlinable
  public func pin(slot: Int) {
    // SNAPSHOT_PIN: before the reader's second load of the word.
    pins(slot).pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
  }

  @inlinable
  public func unpin(slot: Int) {
    // SNAPSHOT_PIN: "I have finished reading", to the owner that overwrites the slot; before the load of `isDeferred`.
    pins(slot).pointee.wrappingSubtract(1, ordering: .sequentiallyConsistent)
  }

  @inlinable
  public func isFree(slot: Int) -> Bool {
    // SNAPSHOT_PIN: the end of the reads, from the readers that unpinned; after the publication of another slot.
    pins(slot).pointee.load(ordering: .sequentiallyConsistent) == 0
  }

  // No thread keeps a pin.
  @inlinable
  @inline(__always)
  public func pinKept() -> SnapshotPin { SnapshotPin(slot: -1) }

  @inlinable
  public func pinUnkept() -> SnapshotPin {
    while true {
      let slot = publishedSlot
      if slot < 0 { return SnapshotPin(slot: slot) }
      pin(slot: slot)
      // Too late if the word names another slot by now: the owner may be writing this one.
      if publishedSlot == slot { return SnapshotPin(slot: slot) }
      unpin(slot: slot)
    }
  }

  @inlinable
  @discardableResult
  public func unpin(_ pin: SnapshotPin) -> Bool {
    unpin(slot: pin.slot)
    return isDeferred
  }

  public func revokeKeptPins() -> Bool { false }

  public func noteDeferred() {
    // Relaxed: only the owner writes it.
    let count = deferrals.pointee.load(ordering: .relaxed)
    // SNAPSHOT_PIN: "a state is deferred", to readers; before the owner's load of the pins after its release.
    _ = deferrals.pointee.exchange((count | 1) + 2, ordering: .sequentiallyConsistent)
  }

  // Relaxed: only the owner writes it, and a reader that finds an older value tries to publish for nothing.
  public func noteUndeferred() {
    deferrals.pointee.store(deferrals.pointee.load(ordering: .relaxed) & ~1, ordering: .relaxed)
  }

  @inlinable
  var isDeferred: Bool {
    // SNAPSHOT_PIN: "a state is deferred", from the owner; after the reader's unpin.
    deferrals.pointee.load(ordering: .sequentiallyConsistent) & 1 != 0
  }

  // Relaxed: a statistic that may be stale.
  public var wasDeferred: Int { deferrals.pointee.load(ordering: .relaxed) / 2 }

  @inlinable
  func pins(_ slot: Int) -> UnsafeMutablePointer<Atomic<UInt32>> {
    (memory + TrampolineLayout.pins).assumingMemoryBound(to: Atomic<UInt32>.self) + slot
  }

  @inlinable
  var deferrals: UnsafeMutablePointer<Atomic<Int>> {
    (memory + TrampolineLayout.deferrals).assumingMemoryBound(to: Atomic<Int>.self)
  }
}
