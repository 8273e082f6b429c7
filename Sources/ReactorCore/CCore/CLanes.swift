import CReactorCore

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
