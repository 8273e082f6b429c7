import CReactorCore
// Exported: inlinable code of ReactorCore, and of the modules above it, uses declarations of these modules. They also
// appear in the public API, as errors and parameters.
@_exported import RawCore

#if PureSwiftCore
  @_exported import PureSwiftCore

  /// The core of this build: the pure-Swift twin, because the trait `PureSwiftCore` is on.
  public typealias CurrentCore = SwiftCore
#else
  /// The core of this build: the C core, unless the trait `PureSwiftCore` is on.
  public typealias CurrentCore = CCore
#endif

/// The core written in C11, called from Swift.
public enum CCore: Core {
  public typealias Ring = CRing
  public typealias Lanes = CLanes
  public typealias Trampoline = CTrampoline
  public typealias EventCount = CEventCount

  public static var name: String { "C" }

  @inlinable
  public static var threadToken: UInt64 { rr_thread_token() }

  @inlinable
  public static func pause() { rr_pause() }

  @inlinable
  public static var hasFences: Bool { true }

  @inlinable
  public static func lightFence() { rr_fence_light() }

  @inlinable
  public static func lightFenceAfterExchange() {
    #if !arch(x86_64)
      rr_fence_light()
    #endif
  }

  @inlinable
  public static func heavyFence() -> Bool { rr_fence_heavy() }
}

extension CoreError {
  /// The error of a status code; nil for a code that is a result, not an error.
  @usableFromInline
  init?(_ status: rr_status) {
    switch status {
    case RR_CAPACITY_ZERO: self = .capacityIsZero
    case RR_CAPACITY_NOT_POWER_OF_TWO: self = .capacityIsNotAPowerOfTwo
    case RR_CAPACITY_TOO_LARGE: self = .capacityIsTooLarge
    case RR_STRIDE_ZERO: self = .elementSizeIsZero
    case RR_STRIDE_TOO_LARGE: self = .elementIsTooLarge
    case RR_ALIGNMENT_INVALID: self = .alignmentIsInvalid
    case RR_OUT_OF_MEMORY: self = .outOfMemory
    case RR_LANES_EXHAUSTED: self = .lanesExhausted
    case RR_LANE_COUNT_INVALID: self = .laneCountIsInvalid
    case RR_DESCRIPTOR_FAILED: self = .noDescriptor
    default: return nil
    }
  }

  /// Calls a C function that creates an object, and returns the object.
  @usableFromInline
  static func creating<Object>(
    _ create: (inout Object?) -> rr_status
  ) throws(CoreError) -> Object {
    var object: Object?
    let status = create(&object)
    guard let object, status == RR_OK else { throw CoreError(status) ?? .outOfMemory }
    return object
  }
}

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

/// The lanes of the C core; see `rr_lanes.h`.
@frozen
public struct CLanes: RawLanes, @unchecked Sendable {
  // Unchecked: the pointee consists of atomics and constants.
  @usableFromInline let pointer: OpaquePointer

  @inlinable
  public init(
    limit: Int, capacity: Int, size: Int, alignment: Int, startingAt start: UInt64
  ) throws(CoreError) {
    pointer = try CoreError.creating { object in
      rr_lanes_create(
        &object, UInt32(clamping: limit), UInt64(clamping: capacity), size, alignment, start)
    }
  }

  public func destroy() { rr_lanes_destroy(pointer) }

  @inlinable
  public func register() throws(CoreError) -> CLaneProducer {
    var producer = rr_lane_producer()
    let status = rr_lanes_register(pointer, &producer)
    guard status == RR_OK else { throw CoreError(status) ?? .outOfMemory }
    return CLaneProducer(producer)
  }

  @inlinable
  public var count: Int { Int(rr_lanes_count(pointer)) }

  @inlinable
  public func lane(_ index: Int) -> CLane { CLane(rr_lanes_at(pointer, UInt32(index))) }
}

/// The producer's side of a lane of the C core; see `rr_lanes.h`.
@frozen
public struct CLaneProducer: RawLaneProducer, @unchecked Sendable {
  // Unchecked: the pointees of its fields are atomics, and slots that belong to the producer until it publishes them.
  @usableFromInline var producer: rr_lane_producer

  @inlinable
  init(_ producer: rr_lane_producer) { self.producer = producer }

  @inlinable
  public mutating func tryClaim() -> UnsafeMutableRawPointer? { rr_lane_try_claim(&producer) }

  @inlinable
  public mutating func publish() { rr_lane_publish(&producer) }

  @inlinable
  public func close() { withUnsafePointer(to: producer) { rr_lane_close($0) } }
}

/// The consumer's side of a lane of the C core; see `rr_lanes.h`.
@frozen
public struct CLane: RawLane, @unchecked Sendable {
  // Unchecked: the pointee consists of atomics, and of fields that belong to one side each.
  @usableFromInline let pointer: OpaquePointer

  @inlinable
  init(_ pointer: OpaquePointer) { self.pointer = pointer }

  @inlinable
  public var slots: RawSlots {
    RawSlots(
      base: rr_lane_payload(pointer, 0), mask: rr_lane_capacity(pointer) &- 1,
      stride: rr_lane_stride(pointer))
  }

  @inlinable
  public var head: UInt64 { rr_lane_head(pointer) }

  @inlinable
  public func ready() -> Int { Int(rr_lane_poll(pointer)) }

  @inlinable
  public func release(_ cursor: UInt64) { rr_lane_release(pointer, cursor) }

  @inlinable
  public func recycle() { rr_lane_recycle(pointer) }
}

/// The trampoline of the C core; see `rr_trampoline.h` and `rr_readers.h`.
@frozen
public struct CTrampoline: RawTrampoline, @unchecked Sendable {
  // Unchecked: the pointee consists of atomics, and of memory that only the owner accesses.
  @usableFromInline let word: UnsafeMutablePointer<rr_trampoline>

  @inlinable
  public init(payload: Int) throws(CoreError) {
    word = try CoreError.creating { object in rr_trampoline_create(&object, payload) }
  }

  public func destroy() { rr_trampoline_destroy(word) }

  public func destroyPlace() { rr_trampoline_destroy_place(word) }

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
  public var ownerToken: UInt64 { rr_trampoline_owner(word) }

  @inlinable
  @inline(__always)
  public var isBusy: Bool { rr_trampoline_is_busy(word) }

  @inlinable
  @inline(__always)
  public func tryReleaseLightly(slot: Int) -> Bool {
    rr_trampoline_try_release_lightly(word, UInt64(truncatingIfNeeded: slot))
  }

  @inlinable
  public func releaseHeavily(slot: Int, afterTurns turns: Int) {
    rr_trampoline_release_heavily(
      word, UInt64(truncatingIfNeeded: slot), UInt64(truncatingIfNeeded: turns))
  }

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

  public func noteUndeferred() { rr_pins_note_undeferred(word) }

  public var wasDeferred: Int { Int(rr_pins_was_deferred_count(word)) }

  @inlinable
  public var publishedSlot: Int { Int(rr_trampoline_published_slot(word)) }

  @inlinable
  public func pin(slot: Int) { rr_pins_pin(word, Int32(truncatingIfNeeded: slot)) }

  @inlinable
  public func unpin(slot: Int) { rr_pins_unpin(word, Int32(truncatingIfNeeded: slot)) }

  @inlinable
  @inline(__always)
  public func pinKept() -> SnapshotPin { SnapshotPin(rr_readers_pin_kept(word)) }

  @inlinable
  public func pinUnkept() -> SnapshotPin { SnapshotPin(rr_readers_pin_unkept(word)) }

  @inlinable
  @inline(__always)
  @discardableResult
  public func unpin(_ pin: SnapshotPin) -> Bool {
    rr_readers_unpin(
      word, rr_pin(reader: pin.reader, slot: Int64(truncatingIfNeeded: pin.slot), place: pin.place))
  }
}

extension SnapshotPin {
  @inlinable
  @inline(__always)
  init(_ pin: rr_pin) { self.init(slot: Int(pin.slot), reader: pin.reader, place: pin.place) }
}

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

  public func prepare(again key: UInt32) -> UInt32 { rr_eventcount_prepare_again(pointer, key) }

  public func wait(_ key: UInt32, timeoutNanoseconds: Int64) -> Bool {
    // The word, if the kernel has refused `prepare` the fence, and nobody has notified since. A notification may miss this
    // thread, so it sleeps for a moment only; but it does sleep, or its caller would use a processor.
    let armed = key &+ 2
    guard rr_fence_was_refused(), rr_eventcount_may_sleep(pointer, armed) else {
      return rr_eventcount_wait(pointer, key, timeoutNanoseconds)
    }
    let moment: Int64 = 1_000_000
    if timeoutNanoseconds >= 0, timeoutNanoseconds < moment {
      return rr_eventcount_wait(pointer, armed, timeoutNanoseconds)
    }
    _ = rr_eventcount_wait(pointer, armed, moment)
    return true
  }

  public func maySleep(_ key: UInt32) -> Bool { rr_eventcount_may_sleep(pointer, key) }

  @inlinable
  public func notify() { rr_eventcount_notify(pointer) }

  @inlinable
  public var mustNotify: Bool { rr_eventcount_must_notify(pointer) }

  public var wakes: UInt32 { rr_eventcount_wake_count(pointer) }

  public var descriptor: Int32 { rr_eventcount_descriptor(pointer) }

  public func acknowledge() { rr_eventcount_acknowledge(pointer) }
}
