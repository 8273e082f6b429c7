/// A state that one thread at a time changes, and any thread reads whole without waiting for it.
///
/// The state lives in slots. One slot is shown to readers, who read it there. The owner's first change copies
/// the shown slot to a free one and goes on there, in place; leaving, or ``publish()``, shows that slot
/// instead, in one atomic exchange with the ownership itself. Readers pin the slot they read; the argument
/// why nobody sees a torn state stands in `rr_pins.h`, and how frequent readers do it for next to nothing in
/// `rr_readers.h`.
///
/// Nobody waits for anybody. If readers pin all slots, the owner goes on in one of its own, and what it
/// changes is shown as soon as it finds a slot free when it publishes or leaves; until then readers see an
/// older state. It takes seven readers, each still inside a read of another earlier state.
///
/// One earlier state stays alive until it is overwritten, and each that is pinned, at most seven
/// (``wasHeldCount``), until the first change after it was unpinned. A thread that reads often keeps the state
/// pinned that it read last, until it reads again, ends, or the owner needs the slot. A state made of values
/// with shared storage (arrays, dictionaries, strings) shares that storage with the slot it was copied from,
/// so the first change of a turn copies what it changes.
///
/// What there may be a million of is small: one block of 176 bytes for a state of up to 16 bytes.
public struct OwnedState<State: Sendable>: ~Copyable {
  @usableFromInline let raw: CurrentCore.Trampoline

  /// Makes an owned state that has not started: it holds no state yet, and nobody can enter.
  ///
  /// - Throws: ``CoreError/outOfMemory``.
  @inlinable
  public init() throws(CoreError) {
    raw = try CurrentCore.Trampoline(payload: StatePlaces<State>.payload)
    StatePlaces<State>.prepare(raw.memory)
  }

  deinit {
    StatePlaces<State>.destroy(in: raw.memory)
    raw.destroy()
  }

  /// What only the owner touches.
  @inlinable
  @inline(__always)
  var owner: UnsafeMutablePointer<OwnerFields> { StatePlaces<State>.owner(in: raw.memory) }

  /// Likewise; what it needs to find a slot and to show it.
  @inlinable
  @inline(__always)
  var slots: UnsafeMutablePointer<SlotFields> { StatePlaces<State>.slots(in: raw.memory) }

  /// Where the state of a slot is.
  @inlinable
  @inline(__always)
  func place(of slot: Int) -> UnsafeMutablePointer<State> {
    StatePlaces<State>.place(of: slot, in: raw.memory)
  }
}

// Unchecked: the slot that is not shown and the owner's fields are touched by the owner only, of which the
// trampoline makes one at a time with a happens-before edge between two; a slot is pinned while read.
extension OwnedState: @unchecked Sendable {}
