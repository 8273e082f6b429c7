import RawCore
import Synchronization

/// The producer's side of a ``SwiftLane``, by value: a loop that sends keeps it in registers.
@frozen
public struct SwiftLaneProducer: RawLaneProducer, @unchecked Sendable {
  // Unchecked: behind the pointers are atomics, and slots that are the producer's until it publishes them.
  @usableFromInline let lane: SwiftLane
  @usableFromInline let slots: UnsafeMutableRawPointer
  @usableFromInline let mask: UInt64
  @usableFromInline let stride: Int
  @usableFromInline var tail: UInt64
  @usableFromInline var headSeen: UInt64

  /// - Parameter lane: Taken by the caller, and with slots.
  init(_ lane: SwiftLane, slots: UnsafeMutableRawPointer) {
    self.lane = lane
    self.slots = slots
    mask = lane.shared.pointee.mask
    stride = lane.shared.pointee.stride
    tail = lane.tail.pointee.load(ordering: .relaxed)
    // Relaxed: LANE_STATE has carried it, with the emptied slots.
    headSeen = lane.consumer.pointee.head.load(ordering: .relaxed)
  }

  @inlinable
  public mutating func tryClaim() -> UnsafeMutableRawPointer? {
    if tail &- headSeen > mask {
      // LANE_SPACE: the slots before it are emptied, from the consumer's release.
      headSeen = lane.consumer.pointee.head.load(ordering: .acquiring)
      if tail &- headSeen > mask { return nil }
    }
    return slots.advanced(by: Int(truncatingIfNeeded: tail & mask) &* stride)
  }

  @inlinable
  public mutating func publish() {
    tail &+= 1
    // LANE_ITEM: the payload, to the consumer's look at the tail.
    lane.tail.pointee.store(tail, ordering: .releasing)
  }

  @inlinable
  public func close() {
    // LANE_STATE: the producer's last word: a tail that is read after it is final.
    lane.shared.pointee.state.store(SwiftLane.stateClosed, ordering: .releasing)
  }
}
