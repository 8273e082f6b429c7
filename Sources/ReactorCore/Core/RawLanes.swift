/// A set of single-producer rings polled by one consumer; the contract stands in `rr_lanes.h`.
///
/// A value of this type is a reference; whoever made it calls ``destroy()`` once.
public protocol RawLanes: Sendable {
  associatedtype Lane: RawLane

  init(limit: Int, capacity: Int, size: Int, alignment: Int, startingAt start: UInt64) throws(CoreError)
  func destroy()

  // Any thread.
  func register() throws(CoreError) -> Lane

  // The consumer.
  var count: Int { get }
  func lane(_ index: Int) -> Lane
}

/// One lane of ``RawLanes``.
public protocol RawLane: Sendable {
  func payload(_ cursor: UInt64) -> UnsafeMutableRawPointer

  // The lane's producer.
  func tryClaim() -> UInt64?
  func publish(_ cursor: UInt64)
  func close()

  // The consumer.
  var head: UInt64 { get }
  func ready() -> Int
  func release(_ cursor: UInt64)
  func recycle()
}
