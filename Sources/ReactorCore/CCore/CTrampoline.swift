import CReactorCore

/// The trampoline of the C core; see `rr_trampoline.h`, `rr_pins.h` and `rr_readers.h`.
@frozen
public struct CTrampoline: RawTrampoline, @unchecked Sendable {
  // Unchecked: the pointee consists of atomics, and of memory that only the owner accesses.
  @usableFromInline let word: OpaquePointer

  @inlinable
  public init(payload: Int) throws(CoreError) {
    word = try CoreError.creating { object in rr_trampoline_create(&object, payload) }
  }

  public func destroy() { rr_trampoline_destroy(word) }

  @inlinable
  public var memory: UnsafeMutableRawPointer { UnsafeMutableRawPointer(word) }

  @inlinable
  public func tryInitialize(_ token: UInt64) -> Bool { rr_trampoline_try_initialize(word, token) }

  @inlinable
  public func tryAcquire(_ token: UInt64) -> Bool { rr_trampoline_try_acquire(word, token) }

  @inlinable
  public func trySchedule() -> Bool { rr_trampoline_try_schedule(word) }

  @inlinable
  public func isOwner(_ token: UInt64) -> Bool { rr_trampoline_is_owner(word, token) }

  @inlinable
  public var wasOwner: UInt64 { rr_trampoline_was_owner(word) }

  @inlinable
  public func acquireScheduled(_ token: UInt64) { rr_trampoline_acquire_scheduled(word, token) }

  @inlinable
  public func publish(_ token: UInt64, slot: Int) {
    rr_trampoline_publish(word, token, UInt64(truncatingIfNeeded: slot))
  }

  @inlinable
  public func release(slot: Int) { rr_trampoline_release(word, UInt64(truncatingIfNeeded: slot)) }

  @inlinable
  public func isFree(slot: Int) -> Bool { rr_pins_is_free(word, Int32(truncatingIfNeeded: slot)) }

  public func revokeKeptPins() -> Bool { rr_readers_revoke(word) }

  public func noteDeferred() { rr_pins_note_deferred(word) }

  public var wasDeferred: Int { Int(rr_pins_was_deferred_count(word)) }

  @inlinable
  public var publishedSlot: Int { Int(rr_trampoline_published_slot(word)) }

  @inlinable
  public func pin(slot: Int) { rr_pins_pin(word, Int32(truncatingIfNeeded: slot)) }

  @inlinable
  public func unpin(slot: Int) { rr_pins_unpin(word, Int32(truncatingIfNeeded: slot)) }

  @inlinable
  @inline(__always)
  public func pinPublished() -> SnapshotPin {
    let pin = rr_readers_pin(word)
    return SnapshotPin(slot: Int(pin.slot), reader: pin.reader, depth: pin.depth)
  }

  @inlinable
  @inline(__always)
  public func unpin(_ pin: SnapshotPin) {
    rr_readers_unpin(
      word, rr_pin(reader: pin.reader, slot: Int32(truncatingIfNeeded: pin.slot), depth: pin.depth))
  }
}
