/// What a claim of cursors came to.
@frozen
public enum RawClaim: Equatable, Sendable {
  /// The first of the claimed cursors.
  case claimed(UInt64)
  case full
  case closed
  case invalidCount
}

/// What the slot at a cursor holds, as the consumer sees it.
@frozen
public enum RawSlot: Equatable, Sendable {
  case notReady
  /// This and the following slots, so many in all, were published together.
  case run(UInt32)
  /// So many slots were abandoned.
  case skip(UInt32)
}

/// A bounded multi-producer single-consumer ring of fixed-size slots of raw memory.
///
/// The contract of each operation, with the threads that may call it, stands in `rr_ring.h`.
public protocol RawRing: RawObject {
  init(capacity: Int, size: Int, alignment: Int, startingAt start: UInt64) throws(CoreError)

  /// Makes `tail` the first cursor, and the slots from `head` on taken. Nobody has used it yet.
  func restart(head: UInt64, tail: UInt64)

  /// Where it lies: enough to use it.
  var address: UnsafeRawPointer { get }
  init(at address: UnsafeRawPointer)

  var capacity: Int { get }
  var slots: RawSlots { get }

  // Any thread.
  func tryClaim(_ count: Int) -> RawClaim
  func publish(_ cursor: UInt64, count: Int)
  func abandon(_ cursor: UInt64, count: Int)
  func close()
  var isClosed: Bool { get }
  var tail: UInt64 { get }
  var wasCount: Int { get }

  // The consumer.
  var head: UInt64 { get }
  var runLeft: UInt32 { get nonmutating set }
  var isIdle: Bool { get }
  func peek(_ cursor: UInt64) -> RawSlot
  func release(_ cursor: UInt64)
}

extension RawRing {
  /// The payload of a slot that the caller claimed, or peeked.
  @inlinable
  public func payload(_ cursor: UInt64) -> UnsafeMutableRawPointer { slots.payload(cursor) }
}
