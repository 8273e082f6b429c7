import CReactorCore

/// The ring of the C core; see `rr_ring.h`.
@frozen
public struct CRing: RawRing, @unchecked Sendable {
  // Unchecked: the pointee consists of atomics, constants, and fields that only the consumer accesses.
  @usableFromInline let pointer: OpaquePointer

  @inlinable
  public init(capacity: Int, size: Int, alignment: Int, startingAt start: UInt64) throws(CoreError) {
    pointer = try CoreError.creating { object in
      rr_ring_create(&object, UInt64(clamping: capacity), size, alignment, start)
    }
  }

  @inlinable
  public var address: UnsafeRawPointer { UnsafeRawPointer(pointer) }

  @inlinable
  public init(at address: UnsafeRawPointer) { pointer = OpaquePointer(address) }

  public func restart(head: UInt64, tail: UInt64) { rr_ring_reset(pointer, head, tail) }

  public func destroy() { rr_ring_destroy(pointer) }

  @inlinable
  public var capacity: Int { Int(rr_ring_capacity(pointer)) }

  @inlinable
  public var slots: RawSlots {
    RawSlots(
      base: rr_ring_payload(pointer, 0), mask: rr_ring_capacity(pointer) &- 1,
      stride: rr_ring_stride(pointer))
  }

  @inlinable
  @inline(__always)
  public func tryClaim(_ count: Int) -> RawClaim {
    var cursor: UInt64 = 0
    switch rr_ring_try_claim(pointer, UInt64(truncatingIfNeeded: count), &cursor) {
    case RR_OK: return .claimed(cursor)
    case RR_FULL: return .full
    case RR_CLOSED: return .closed
    default: return .invalidCount
    }
  }

  @inlinable
  public func publish(_ cursor: UInt64, count: Int) {
    rr_ring_publish(pointer, cursor, UInt64(truncatingIfNeeded: count))
  }

  @inlinable
  public func abandon(_ cursor: UInt64, count: Int) {
    rr_ring_abandon(pointer, cursor, UInt64(truncatingIfNeeded: count))
  }

  @inlinable
  public func close() { rr_ring_close(pointer) }

  @inlinable
  public var isClosed: Bool { rr_ring_is_closed(pointer) }

  @inlinable
  public var tail: UInt64 { rr_ring_tail(pointer) }

  @inlinable
  public var wasCount: Int { Int(rr_ring_was_count(pointer)) }

  @inlinable
  public var head: UInt64 { rr_ring_head(pointer) }

  @inlinable
  public var runLeft: UInt32 {
    get { rr_ring_run_left(pointer) }
    nonmutating set { rr_ring_set_run_left(pointer, newValue) }
  }

  @inlinable
  public var isIdle: Bool { rr_ring_is_idle(pointer) }

  @inlinable
  public func peek(_ cursor: UInt64) -> RawSlot {
    let found = rr_ring_peek(pointer, cursor)
    if found == 0 { return .notReady }
    let skip = UInt32(RR_RING_SKIP)
    return found < skip ? .run(found) : .skip(found - skip)
  }

  @inlinable
  public func release(_ cursor: UInt64) { rr_ring_release(pointer, cursor) }
}
