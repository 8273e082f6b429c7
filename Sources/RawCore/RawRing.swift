/// The result of a claim.
@frozen
public enum RawClaim: Equatable, Sendable {
  /// The claim succeeded; the value is the first of the claimed cursors.
  case claimed(UInt64)
  /// Not enough slots were free.
  case full
  /// The ring is closed.
  case closed
  /// The count is zero, negative, or larger than the capacity.
  case invalidCount
}

/// What the consumer finds in the slot at a cursor.
@frozen
public enum RawSlot: Equatable, Sendable {
  /// The slot is not claimed, or its claim is not published yet.
  case notReady
  /// This many slots, beginning with this one, were published together.
  case run(UInt32)
  /// This many slots, beginning with this one, were abandoned.
  case skip(UInt32)
}

/// A bounded multi-producer single-consumer ring of fixed-size slots of raw memory.
///
/// The contract of each operation is documented in `rr_ring.h`.
public protocol RawRing: RawObject {
  /// Creates a ring of `capacity` slots for payloads of `size` bytes. `start` is the first cursor: 0, except in tests of
  /// wrap-around.
  init(capacity: Int, size: Int, alignment: Int, startingAt start: UInt64) throws(CoreError)

  /// Makes `tail` the first cursor of a ring that no thread has used yet. The slots from `head` to `tail` count as taken
  /// until they are released.
  func restart(head: UInt64, tail: UInt64)

  /// The address of the ring, which is enough to use it.
  var address: UnsafeRawPointer { get }
  /// Refers to the ring at an ``address``.
  init(at address: UnsafeRawPointer)

  /// The number of slots.
  var capacity: Int { get }
  /// The memory of the payloads.
  var slots: RawSlots { get }

  // MARK: Any thread

  /// Claims `count` slots that follow each other, all or none. Lock-free.
  func tryClaim(_ count: Int) -> RawClaim
  /// Publishes slots that the caller claimed and filled. Wait-free.
  func publish(_ cursor: UInt64, count: Int)
  /// Gives up slots that the caller claimed and did not fill: the consumer skips them. Wait-free.
  func abandon(_ cursor: UInt64, count: Int)
  /// Makes every later claim fail with ``RawClaim/closed``. Wait-free.
  func close()
  /// Whether ``close()`` was called.
  var isClosed: Bool { get }
  /// The next cursor to claim: every claim that returned before is below it.
  var tail: UInt64 { get }
  /// The number of slots that were taken a moment ago, claims that are not published included.
  var wasCount: Int { get }

  // MARK: The consumer

  /// The cursor of the next slot to receive.
  var head: UInt64 { get }
  /// The number of slots at the head that belong to a run that was peeked already. Only the first slot of a run has a
  /// word that says so.
  var runLeft: UInt32 { get nonmutating set }
  /// Whether the ring is open and every claim was released.
  var isIdle: Bool { get }
  /// Looks up what the slot at `cursor` holds.
  func peek(_ cursor: UInt64) -> RawSlot
  /// Gives every slot before `cursor` back to the producers.
  func release(_ cursor: UInt64)
}

extension RawRing {
  /// The payload of a slot that the caller claimed or peeked.
  @inlinable
  public func payload(_ cursor: UInt64) -> UnsafeMutableRawPointer { slots.payload(cursor) }
}

/// The memory of the payloads of a ring or a lane. Take it by value before a loop: these are constants, which the
/// compiler then keeps in registers. Read through the ring, they would be loaded again after every store to a slot.
@frozen
public struct RawSlots {
  /// The payload of the slot with index 0.
  public let base: UnsafeMutableRawPointer
  /// The number of slots, minus one.
  public let mask: UInt64
  /// The number of bytes from slot to slot.
  public let stride: Int

  /// - Parameter base: The payload of the slot with index 0.
  @inlinable
  public init(base: UnsafeMutableRawPointer, mask: UInt64, stride: Int) {
    self.base = base
    self.mask = mask
    self.stride = stride
  }

  /// The payload of the slot at a cursor.
  @inlinable
  @inline(__always)
  public func payload(_ cursor: UInt64) -> UnsafeMutableRawPointer {
    base.advanced(by: Int(truncatingIfNeeded: cursor & mask) &* stride)
  }

  /// The same, for a slot whose memory holds or will hold an `Element`.
  @inlinable
  @inline(__always)
  public func payload<Element: ~Copyable>(_ cursor: UInt64, as _: Element.Type) -> UnsafeMutablePointer<
    Element
  > {
    payload(cursor).assumingMemoryBound(to: Element.self)
  }
}

/// The limits of rings and lanes, the same for both cores.
public enum SlotLimits {
  /// The largest number of slots: 2^31.
  public static var capacity: Int { 1 << 31 }
  /// The largest size of an element: 1 MiB.
  public static var payload: Int { 1 << 20 }
  /// The largest alignment of an element: 128 bytes.
  public static var alignment: Int { 128 }

  /// Throws if the arguments of a creation are invalid. Checks in the same order as the C core, so both cores throw the
  /// same error for the same arguments.
  public static func check(capacity: Int, size: Int, alignment: Int) throws(CoreError) {
    guard capacity > 0 else { throw .capacityIsZero }
    guard isPowerOfTwo(capacity) else { throw .capacityIsNotAPowerOfTwo }
    guard capacity <= Self.capacity else { throw .capacityIsTooLarge }
    guard size != 0 else { throw .elementSizeIsZero }
    // C has no negative sizes: there, such a size is a very large one.
    guard (1...payload).contains(size) else { throw .elementIsTooLarge }
    guard alignment > 0, isPowerOfTwo(alignment), alignment <= Self.alignment else {
      throw .alignmentIsInvalid
    }
  }

  /// Requires that `value` is positive.
  private static func isPowerOfTwo(_ value: Int) -> Bool { value & (value - 1) == 0 }
}
