extension AtomicRepresentable where Self: FixedWidthInteger & UnsignedInteger {
  public var bits: UInt64 { UInt64(self) }
  public init(bits: UInt64) { self.init(truncatingIfNeeded: bits) }
}

extension UInt: AtomicRepresentable {}
extension UInt8: AtomicRepresentable {}
extension UInt16: AtomicRepresentable {}
extension UInt32: AtomicRepresentable {}
extension UInt64: AtomicRepresentable {}

extension Int: AtomicRepresentable {
  public var bits: UInt64 { UInt64(bitPattern: Int64(self)) }
  public init(bits: UInt64) { self.init(truncatingIfNeeded: bits) }
}

extension Int64: AtomicRepresentable {
  public var bits: UInt64 { UInt64(bitPattern: self) }
  public init(bits: UInt64) { self.init(bitPattern: bits) }
}

extension Bool: AtomicRepresentable {
  public var bits: UInt64 { self ? 1 : 0 }
  public init(bits: UInt64) { self = bits != 0 }
}

extension Unmanaged: AtomicRepresentable {
  public var bits: UInt64 { UInt64(UInt(bitPattern: toOpaque())) }
  // Not nil: the bits of a reference.
  public init(bits: UInt64) { self = .fromOpaque(UnsafeRawPointer(bitPattern: UInt(bits))!) }
}

extension Optional: AtomicRepresentable where Wrapped: AtomicOptionalRepresentable {
  public var bits: UInt64 { map { $0.bits } ?? 0 }
  public init(bits: UInt64) { self = bits == 0 ? nil : Wrapped(bits: bits) }
}

/// A type of which no value has only zero bits.
public protocol AtomicOptionalRepresentable: AtomicRepresentable {}

extension Unmanaged: AtomicOptionalRepresentable {}
