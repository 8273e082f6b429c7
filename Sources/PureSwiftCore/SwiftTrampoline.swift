import Glibc
import RawCore
import Synchronization

/// The trampoline of the pure-Swift core: `rr_trampoline.h` and `rr_pins.h` written with `Synchronization`
/// atomics. The picture of the word, the diagram of its states, and why nothing is lost stand there.
///
/// No thread keeps a pin (`rr_readers.h`): that needs an asymmetric fence.
@frozen
public struct SwiftTrampoline: RawTrampoline, @unchecked Sendable {
  // Unchecked: behind the pointer are atomics, and what the owner alone touches.
  @usableFromInline let word: UnsafeMutablePointer<Atomic<UInt64>>

  public init(payload: Int) throws(CoreError) {
    let memory = try CacheLine.allocate(byteCount: TrampolineLayout.payload + payload)
    word = CacheLine.place(Atomic(Self.newBit), inLine: 0, of: memory)
    for slot in 0..<snapshotSlotCount { pins(slot).initialize(to: Atomic(0)) }
    deferredCount.initialize(to: Atomic(0))
  }

  @inlinable
  public var memory: UnsafeMutableRawPointer { UnsafeMutableRawPointer(word) }

  public func destroy() { free(word) }

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
    // New → owned, the first one wins. Relaxed: there is nothing to take over yet, and what is given is given
    // when the state is shown.
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
    // OWNERSHIP: sequentially consistent although it only looks. This is the producer's "then looks at the
    // word": whoever finds it busy goes away on the strength of this one load, so it must stand in one order
    // with the claim before it and with the owner's leaving. (It is a plain load on x86.)
    var found = word.pointee.load(ordering: .sequentiallyConsistent)
    while found & ~Self.slotMask == 0 {
      // OWNERSHIP: idle → owned or scheduled; what the owner before wrote, from its leaving. Fails only
      // because another took it or published. Then it may be relaxed: what it saw is newer than what the
      // load above saw, so another entered after the claim, and that one looks at the mailbox when it leaves.
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
    // Relaxed: who scheduled has taken over what the last owner wrote, and hands it on.
    let found = word.pointee.load(ordering: .relaxed)
    // OWNERSHIP: the snapshot, to readers. Nobody else writes a scheduled word, so a store will do.
    word.pointee.store((found & Self.slotMask) | token, ordering: .releasing)
  }

  @inlinable
  public func publish(_ token: UInt64, slot: Int) {
    // OWNERSHIP: the snapshot in `slot`, to readers; before the next look at the pins.
    _ = word.pointee.exchange(
      token | UInt64(truncatingIfNeeded: slot), ordering: .sequentiallyConsistent)
  }

  @inlinable
  public func release(slot: Int) {
    // OWNERSHIP: everything the owner wrote, to the next owner; before the owner's last look at the mailbox.
    _ = word.pointee.exchange(UInt64(truncatingIfNeeded: slot), ordering: .sequentiallyConsistent)
  }

  @inlinable
  public func isOwner(_ token: UInt64) -> Bool {
    // Relaxed: only the caller itself can have written its own token, or taken it away.
    word.pointee.load(ordering: .relaxed) & Self.ownerMask == token
  }

  @inlinable
  public var wasOwner: UInt64 {
    // OWNERSHIP.
    word.pointee.load(ordering: .sequentiallyConsistent) & Self.ownerMask
  }
}

// MARK: Snapshot slots

extension SwiftTrampoline {
  @inlinable
  public var slot: Int {
    // OWNERSHIP: the snapshot in that slot, from the owner's publication; after the reader's pin.
    let found = word.pointee.load(ordering: .sequentiallyConsistent)
    return found & Self.newBit != 0 ? -1 : Int(truncatingIfNeeded: found & Self.slotMask)
  }

  @inlinable
  public func pin(slot: Int) {
    // SNAPSHOT_PIN: before the reader's second look at the word.
    pins(slot).pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
  }

  @inlinable
  public func unpin(slot: Int) {
    // SNAPSHOT_PIN: "I have read it", to the owner that overwrites the slot.
    pins(slot).pointee.wrappingSubtract(1, ordering: .releasing)
  }

  @inlinable
  public func isFree(slot: Int) -> Bool {
    // SNAPSHOT_PIN: from the readers that unpinned; after the naming of another slot.
    pins(slot).pointee.load(ordering: .sequentiallyConsistent) == 0
  }

  @inlinable
  public func pinShown() -> SnapshotPin {
    while true {
      let slot = slot
      if slot < 0 { return SnapshotPin(slot: slot) }
      pin(slot: slot)
      // Pinned too late if the word names another slot by now: the owner may be writing this one.
      if self.slot == slot { return SnapshotPin(slot: slot) }
      unpin(slot: slot)
    }
  }

  @inlinable
  public func unpin(_ pin: SnapshotPin) { unpin(slot: pin.slot) }

  public func revokeKeptPins() -> Bool { false }

  // Relaxed: the owner alone writes it.
  public func noteDeferred() {
    deferredCount.pointee.store(deferredCount.pointee.load(ordering: .relaxed) + 1, ordering: .relaxed)
  }

  public var wasDeferred: Int { deferredCount.pointee.load(ordering: .relaxed) }

  @inlinable
  func pins(_ slot: Int) -> UnsafeMutablePointer<Atomic<UInt32>> {
    (memory + TrampolineLayout.pins).assumingMemoryBound(to: Atomic<UInt32>.self) + slot
  }

  private var deferredCount: UnsafeMutablePointer<Atomic<Int>> {
    (memory + TrampolineLayout.deferredCount).assumingMemoryBound(to: Atomic<Int>.self)
  }
}
