/// A set of single-producer rings polled by one consumer; the contract stands in `rr_lanes.h`.
public protocol RawLanes: RawObject {
  associatedtype Lane: RawLane
  associatedtype Producer: RawLaneProducer

  init(limit: Int, capacity: Int, size: Int, alignment: Int, startingAt start: UInt64) throws(CoreError)

  // Any thread.
  func register() throws(CoreError) -> Producer

  // The consumer.
  var count: Int { get }
  func lane(_ index: Int) -> Lane
}

/// One lane of ``RawLanes``, as its producer sees it: a value, so that a loop keeps it in registers.
public protocol RawLaneProducer: Sendable {
  /// Room for the next payload; nil while full.
  mutating func tryClaim() -> UnsafeMutableRawPointer?
  /// Publishes what was claimed.
  mutating func publish()
  /// No more sends.
  func close()
}

/// One lane of ``RawLanes``, as the consumer sees it.
public protocol RawLane: Sendable {
  var head: UInt64 { get }
  func ready() -> Int
  /// Once something was published.
  var slots: RawSlots { get }
  func release(_ cursor: UInt64)
  func recycle()
}

extension RawLane {
  /// The payload of a slot that is ready.
  @inlinable
  public func payload(_ cursor: UInt64) -> UnsafeMutableRawPointer { slots.payload(cursor) }
}
