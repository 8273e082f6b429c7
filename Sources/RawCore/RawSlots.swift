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
