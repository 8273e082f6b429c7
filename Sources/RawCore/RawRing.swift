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

/// Where the payloads of a ring or a lane lie: constants, taken by value before a loop, so that the compiler
/// keeps them in registers; read through the ring, they would be loaded anew after every store to a slot.
@frozen
public struct RawSlots {
  public let base: UnsafeMutableRawPointer
  public let mask: UInt64
  public let stride: Int

  /// - Parameter base: The payload of the slot with index 0.
  @inlinable
  public init(base: UnsafeMutableRawPointer, mask: UInt64, stride: Int) {
    self.base = base
    self.mask = mask
    self.stride = stride
  }

  /// The payload of the slot of a cursor.
  @inlinable
  @inline(__always)
  public func payload(_ cursor: UInt64) -> UnsafeMutableRawPointer {
    base.advanced(by: Int(truncatingIfNeeded: cursor & mask) &* stride)
  }

  @inlinable
  @inline(__always)
  public func payload<Element: ~Copyable>(_ cursor: UInt64, as _: Element.Type) -> UnsafeMutablePointer<
    Element
  > {
    payload(cursor).assumingMemoryBound(to: Element.self)
  }
}

/// The limits of a ring and of a lane, the same for both cores.
public enum SlotLimits {
  /// 2^31 slots.
  public static var capacity: Int { 1 << 31 }
  /// 1 MiB for each element.
  public static var payload: Int { 1 << 20 }
  /// 128 bytes.
  public static var alignment: Int { 128 }

  /// Throws what is wrong with the arguments of a creation. Checks in the same order as the C core, so both cores
  /// report the same error for the same arguments.
  public static func check(capacity: Int, size: Int, alignment: Int) throws(CoreError) {
    guard capacity > 0 else { throw .capacityIsZero }
    guard isPowerOfTwo(capacity) else { throw .capacityIsNotAPowerOfTwo }
    guard capacity <= Self.capacity else { throw .capacityIsTooLarge }
    guard size > 0 else { throw .elementSizeIsZero }
    guard size <= payload else { throw .elementIsTooLarge }
    guard alignment > 0, isPowerOfTwo(alignment), alignment <= Self.alignment else {
      throw .alignmentIsInvalid
    }
  }

  /// For `value` > 0.
  private static func isPowerOfTwo(_ value: Int) -> Bool { value & (value - 1) == 0 }
}
