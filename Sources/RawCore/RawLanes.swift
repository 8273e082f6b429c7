/// A set of single-producer rings that one consumer polls. The contract is documented in `rr_lanes.h`.
public protocol RawLanes: RawObject {
  associatedtype Lane: RawLane
  associatedtype Producer: RawLaneProducer

  /// Creates at most `limit` lanes, each with `capacity` slots for payloads of `size` bytes. The slots of a lane are
  /// allocated when the lane is registered for the first time. `start` is the first cursor.
  init(limit: Int, capacity: Int, size: Int, alignment: Int, startingAt start: UInt64) throws(CoreError)

  // MARK: Any thread

  /// Takes a free lane. O(limit).
  func register() throws(CoreError) -> Producer

  // MARK: The consumer

  /// The number of lanes that the consumer must poll: every lane that was ever taken has a smaller index.
  var count: Int { get }
  /// The lane with that index.
  func lane(_ index: Int) -> Lane
}

/// One lane of ``RawLanes``, as its producer sees it. It is a value, so that a loop keeps it in registers.
public protocol RawLaneProducer: Sendable {
  /// Returns memory for the next payload, or nil while the lane is full.
  mutating func tryClaim() -> UnsafeMutableRawPointer?
  /// Publishes the payload that was claimed last.
  mutating func publish()
  /// Gives the lane back after its last send. The consumer recycles it once it is empty.
  func close()
}

/// One lane of ``RawLanes``, as the consumer sees it.
public protocol RawLane: Sendable {
  /// The cursor of the next payload to receive.
  var head: UInt64 { get }
  /// The number of payloads that are ready, from the head on.
  func ready() -> Int
  /// The memory of the payloads. Only after something was published in this lane.
  var slots: RawSlots { get }
  /// Gives every slot before `cursor` back to the producer.
  func release(_ cursor: UInt64)
  /// Frees the lane for another producer if its producer closed it and it is empty; else does nothing.
  func recycle()
}

extension RawLane {
  /// The payload of a slot that is ready.
  @inlinable
  public func payload(_ cursor: UInt64) -> UnsafeMutableRawPointer { slots.payload(cursor) }
}
