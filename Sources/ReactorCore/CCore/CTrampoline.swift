import CReactorCore

/// `rr_trampoline` and `rr_pins`, spelled in Swift. See `rr_trampoline.h`.
@frozen
public struct CTrampoline: RawTrampoline, @unchecked Sendable {
  // Unchecked: the pointees are made of atomics.
  @usableFromInline let word: OpaquePointer
  @usableFromInline let pins: OpaquePointer

  @inlinable
  public init() throws(CoreError) {
    word = try CoreError.creating { object in rr_trampoline_create(&object) }
    do {
      pins = try CoreError.creating { object in rr_pins_create(&object) }
    } catch {
      rr_trampoline_destroy(word)
      throw error
    }
  }

  public func destroy() {
    rr_trampoline_destroy(word)
    rr_pins_destroy(pins)
  }

  @inlinable
  public func tryStart(_ token: UInt64) -> Bool { rr_trampoline_try_start(word, token) }

  @inlinable
  public func tryEnter(_ token: UInt64) -> Bool { rr_trampoline_try_enter(word, token) }

  @inlinable
  public func trySchedule() -> Bool { rr_trampoline_try_schedule(word) }

  @inlinable
  public func isOwner(_ token: UInt64) -> Bool { rr_trampoline_is_owner(word, token) }

  @inlinable
  public var wasIdle: Bool { rr_trampoline_was_idle(word) }

  @inlinable
  public var wasOwner: UInt64 { rr_trampoline_was_owner(word) }

  @inlinable
  public func begin(_ token: UInt64) { rr_trampoline_begin(word, token) }

  @inlinable
  public func publish(_ token: UInt64, slot: Int) {
    rr_trampoline_publish(word, token, UInt64(truncatingIfNeeded: slot))
  }

  @inlinable
  public func leave(slot: Int) { rr_trampoline_leave(word, UInt64(truncatingIfNeeded: slot)) }

  @inlinable
  public func isFree(slot: Int) -> Bool { rr_pins_is_free(pins, Int32(truncatingIfNeeded: slot)) }

  @inlinable
  public var slot: Int { Int(rr_trampoline_slot(word)) }

  @inlinable
  public func pin(slot: Int) { rr_pins_pin(pins, Int32(truncatingIfNeeded: slot)) }

  @inlinable
  public func unpin(slot: Int) { rr_pins_unpin(pins, Int32(truncatingIfNeeded: slot)) }
}
