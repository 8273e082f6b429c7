/// A state that one thread at a time changes, and any thread reads whole without waiting for it.
///
/// The owner changes the live state in place. Leaving, or ``publish()``, copies it to a snapshot slot and
/// shows that slot to readers, in one atomic exchange with the ownership itself. Readers pin the slot they
/// copy from; the argument why nobody sees a torn state stands in `rr_pins.h`.
///
/// Up to four earlier states stay alive in their slots until they are overwritten. A state made of values
/// with shared storage (arrays, dictionaries, strings) shares that storage with its snapshot, so the first
/// change after a snapshot copies what it changes.
public struct OwnedStateOn<C: Core, State: Sendable>: ~Copyable {
  @usableFromInline let raw: C.Trampoline
  @usableFromInline let live: UnsafeMutablePointer<State>
  @usableFromInline let snapshots: UnsafeMutablePointer<State>
  @usableFromInline let owner: UnsafeMutablePointer<OwnerFields>

  /// What only the owner touches.
  @usableFromInline
  struct OwnerFields {
    @usableFromInline var slot = 0
    /// One bit for each snapshot slot that holds a state.
    @usableFromInline var initialized = 0
    @usableFromInline var hasChanged = false
    @usableFromInline var isChanging = false
    @usableFromInline init() {}
  }

  /// Makes an owned state that has not started: it holds no state yet, and nobody can enter.
  ///
  /// - Throws: ``CoreError/outOfMemory``.
  @inlinable
  public init() throws(CoreError) {
    raw = try C.Trampoline()
    live = .allocate(capacity: 1)
    snapshots = .allocate(capacity: snapshotSlotCount)
    owner = .allocate(capacity: 1)
    owner.initialize(to: OwnerFields())
  }

  @inlinable
  deinit {
    for slot in 0..<snapshotSlotCount where owner.pointee.initialized & (1 << slot) != 0 {
      (snapshots + slot).deinitialize(count: 1)
    }
    // The first snapshot and the live state are made together.
    if owner.pointee.initialized != 0 { live.deinitialize(count: 1) }
    snapshots.deallocate()
    live.deallocate()
    owner.deallocate()
    raw.destroy()
  }
}

// Unchecked: the live state and the owner's fields are touched by the owner only, which the trampoline
// makes one at a time with a happens-before edge between two of them; snapshots are pinned while copied.
extension OwnedStateOn: @unchecked Sendable {}

/// The owned state of the C core.
public typealias OwnedState<State: Sendable> = OwnedStateOn<CCore, State>
