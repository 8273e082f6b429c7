import CReactorCore

/// The event count of the C core; see `rr_eventcount.h`.
@frozen
public struct CEventCount: RawEventCount, @unchecked Sendable {
  // Unchecked: the pointee consists of an atomic and a constant.
  @usableFromInline let pointer: OpaquePointer

  @inlinable
  public init(_ kind: EventCountKind) throws(CoreError) {
    pointer = try CoreError.creating { object in
      rr_eventcount_create(
        &object, kind == .futex ? RR_EVENTCOUNT_FUTEX : RR_EVENTCOUNT_DESCRIPTOR)
    }
  }

  public func destroy() { rr_eventcount_destroy(pointer) }

  public func prepare() -> UInt32 { rr_eventcount_prepare(pointer) }

  public func wait(_ key: UInt32, timeoutNanoseconds: Int64) -> Bool {
    rr_eventcount_wait(pointer, key, timeoutNanoseconds)
  }

  public func maySleep(_ key: UInt32) -> Bool { rr_eventcount_may_sleep(pointer, key) }

  @inlinable
  public func notify() { rr_eventcount_notify(pointer) }

  @inlinable
  public var mustNotify: Bool { rr_eventcount_must_notify(pointer) }

  @inlinable
  public var wasArmed: Bool { rr_eventcount_was_armed(pointer) }

  public var wakes: UInt32 { rr_eventcount_wake_count(pointer) }

  public var descriptor: Int32 { rr_eventcount_descriptor(pointer) }

  public func acknowledge() { rr_eventcount_acknowledge(pointer) }
}
