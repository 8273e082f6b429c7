import RawCore
import Synchronization

/// A state with one place: `rr_access.h`, which documents the words and why no wake-up is lost. No state is biased to its owner here.
///
/// There is no asymmetric fence, so the end of a change is an exchange, and a thread that waits says so with a
/// read-modify-write of the same order: then at least one of the two sees the other.
extension SwiftTrampoline {
  @inlinable
  static var owner: UInt32 { 1 }
  @inlinable
  static var hold: UInt32 { 2 }
  @inlinable
  static var reader: UInt32 { 4 }

  @inlinable
  var access: UnsafeMutablePointer<Atomic<UInt32>> { pins(0) }
  @inlinable
  var waiting: UnsafeMutablePointer<Atomic<UInt32>> { pins(1) }

  @inlinable
  var starving: UnsafeMutablePointer<Atomic<UInt32>> { pins(4) }

  @inlinable
  var copies: UnsafeMutablePointer<Atomic<UInt64>> {
    (memory + TrampolineLayout.pins + 8).assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  @inlinable
  @inline(__always)
  public func tryBeginChange() -> Bool {
    // Relaxed: not part of the exclusion.
    if waiting.pointee.load(ordering: .relaxed) != 0 { return false }
    // ACCESS: the end of the reads, from the readers.
    return access.pointee.compareExchange(
      expected: 0, desired: Self.owner, successOrdering: .acquiring, failureOrdering: .relaxed
    ).exchanged
  }

  /// Does nothing: every change costs one here.
  @inlinable
  public func giveUpBias() {}

  // Relaxed: only makes readers wait.
  @inlinable
  public func holdReaders() { access.pointee.bitwiseOr(Self.hold, ordering: .relaxed) }

  @inlinable
  public func tryBeginHeldChange() -> Bool {
    // ACCESS: as in `tryBeginChange`.
    access.pointee.compareExchange(
      expected: Self.hold, desired: Self.owner, successOrdering: .acquiring, failureOrdering: .relaxed
    ).exchanged
  }

  @inlinable
  @inline(__always)
  public func endChange() -> Bool {
    // ACCESS: the state, to readers. WAKE: before the load of `waiting`.
    _ = access.pointee.exchange(0, ordering: .sequentiallyConsistent)
    // WAKE: "a reader waits".
    return waiting.pointee.load(ordering: .sequentiallyConsistent) != 0
  }

  @inlinable
  @inline(__always)
  public func tryBeginRead(passingHold: Bool) -> Bool {
    let closed = passingHold ? Self.owner : Self.owner | Self.hold
    // Relaxed: only the compare-and-swap decides.
    var found = access.pointee.load(ordering: .relaxed)
    while found & closed == 0 {
      // ACCESS: the state, from the owner; and before the load in `hasReaders` of another state.
      let (isTaken, current) = access.pointee.compareExchange(
        expected: found, desired: found &+ Self.reader, successOrdering: .sequentiallyConsistent,
        failureOrdering: .relaxed)
      if isTaken { return true }
      found = current
    }
    return false
  }

  @inlinable
  public func wasOpen(passingHold: Bool) -> Bool {
    // WAKE: after the increment of `waiting`.
    let found = access.pointee.load(ordering: .sequentiallyConsistent)
    return found & (passingHold ? Self.owner : Self.owner | Self.hold) == 0
  }

  // Relaxed: may be stale.
  @inlinable
  public var wasHeld: Bool { access.pointee.load(ordering: .relaxed) & Self.hold != 0 }

  @inlinable
  @inline(__always)
  public func endRead() -> Bool {
    // ACCESS: "I have finished reading", to the owner.
    let found = access.pointee.wrappingSubtract(Self.reader, ordering: .releasing).oldValue
    return found & Self.hold != 0
  }

  // Relaxed: may be stale, but contains what the calling thread has added itself.
  @inlinable
  public var wasReaderCount: Int { Int(access.pointee.load(ordering: .relaxed) / Self.reader) }

  // ACCESS: after the compare-and-swap in `tryBeginRead` of another state.
  @inlinable
  public var hasReaders: Bool { access.pointee.load(ordering: .sequentiallyConsistent) >= Self.reader }

  @inlinable
  public func beginWaiting() {
    // WAKE: before the load of the access word.
    waiting.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent)
  }

  // Relaxed: not part of the exclusion.
  @inlinable
  public func endWaiting() { waiting.pointee.wrappingSubtract(1, ordering: .relaxed) }

  // Relaxed: may be stale.
  @inlinable
  public var wasWaitingCount: Int { Int(waiting.pointee.load(ordering: .relaxed)) }

  // Relaxed: these are not part of the exclusion either, and a thread that starves waits already.
  @inlinable
  public func beginStarving() { starving.pointee.wrappingAdd(1, ordering: .relaxed) }

  @inlinable
  public func endStarving() { starving.pointee.wrappingSubtract(1, ordering: .relaxed) }

  @inlinable
  public var hasStarving: Bool { starving.pointee.load(ordering: .relaxed) != 0 }

  // Relaxed: a statistic.
  @inlinable
  public func noteCopy() { copies.pointee.wrappingAdd(1, ordering: .relaxed) }

  // Relaxed: a statistic that may be stale.
  @inlinable
  public var wasCopied: Int { Int(copies.pointee.load(ordering: .relaxed)) }
}
