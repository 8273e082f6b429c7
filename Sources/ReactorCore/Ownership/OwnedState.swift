/// A state that one thread at a time changes, and any thread reads whole without waiting for it.
///
/// The state lives in slots. One slot is shown to readers, who copy from it. The owner's first change copies
/// the shown slot to a free one and goes on there, in place; leaving, or ``publish()``, shows that slot
/// instead, in one atomic exchange with the ownership itself. Readers pin the slot they copy from; the
/// argument why nobody sees a torn state stands in `rr_pins.h`.
///
/// Up to three earlier states stay alive in their slots until they are overwritten. A state made of values
/// with shared storage (arrays, dictionaries, strings) shares that storage with the slot it was copied from,
/// so the first change of a turn copies what it changes.
public struct OwnedStateOn<C: Core, State: Sendable>: ~Copyable {
  @usableFromInline let raw: C.Trampoline
  #if DEBUG
    /// Without optimisation, Swift 6.3 does not call the deinitializer of another module's generic struct
    /// that looks trivial. This makes it look otherwise.
    @usableFromInline let deinitializes: (any AnyObject & Sendable)? = nil
  #endif
  @usableFromInline let slots: UnsafeMutablePointer<State>
  @usableFromInline let owner: UnsafeMutablePointer<OwnerFields>
  @usableFromInline let keeper: OwnedStateKeeper<C, State>

  /// Makes an owned state that has not started: it holds no state yet, and nobody can enter.
  ///
  /// - Throws: ``CoreError/outOfMemory``.
  @inlinable
  public init() throws(CoreError) {
    keeper = OwnedStateKeeper(try C.Trampoline())
    raw = keeper.raw
    slots = keeper.slots
    owner = keeper.owner
  }
}

// Unchecked: the slot that is not shown and the owner's fields are touched by the owner only, of which the
// trampoline makes one at a time with a happens-before edge between two; a slot is pinned while copied.
extension OwnedStateOn: @unchecked Sendable {}

/// What the owner is doing to the state.
@usableFromInline
enum Change: Sendable {
  case none
  /// It may be in pieces.
  case inPlace
  /// A new one is being made; this one stays whole.
  case byValue
}

/// What only the owner touches.
@usableFromInline
struct OwnerFields {
  @usableFromInline var shown = 0
  /// The slot with the owner's changes; the shown one if there are none.
  @usableFromInline var current = 0
  /// One bit for each slot that holds a state.
  @usableFromInline var initialized = 0
  @usableFromInline var change = Change.none
  @usableFromInline init() {}
}

/// Has and destroys the memory of an owned state; why it is an object: see `RawKeeper`.
@usableFromInline
final class OwnedStateKeeper<C: Core, State: Sendable> {
  @usableFromInline let raw: C.Trampoline
  @usableFromInline let slots: UnsafeMutablePointer<State>
  @usableFromInline let owner: UnsafeMutablePointer<OwnerFields>

  @usableFromInline
  init(_ raw: C.Trampoline) {
    self.raw = raw
    slots = .allocate(capacity: snapshotSlotCount)
    owner = .allocate(capacity: 1)
    owner.initialize(to: OwnerFields())
  }

  deinit {
    for slot in 0..<snapshotSlotCount where owner.pointee.initialized & (1 << slot) != 0 {
      (slots + slot).deinitialize(count: 1)
    }
    slots.deallocate()
    owner.deallocate()
    raw.destroy()
  }
}

// Unchecked: it is used when the owned state is made, and when it goes away.
extension OwnedStateKeeper: @unchecked Sendable {}

/// The owned state of the C core.
public typealias OwnedState<State: Sendable> = OwnedStateOn<CCore, State>
