import ReactorCore

/// What a ``RecordDecoder`` throws if the bytes are not what it is asked to read.
public struct MalformedRecord: Error, Equatable {
  /// For a person: what is wrong, such as the key that a state lacks. Nil if nothing more is known than that.
  public let reason: String?

  @inlinable
  public init(_ reason: String? = nil) { self.reason = reason }
}

/// Reads the bytes of a record in the order in which a ``RecordEncoder`` wrote them.
///
/// It refers to the bytes without copying them, and reads nothing outside of them, whatever they are. Reading allocates only for a
/// string or an array.
public struct RecordDecoder: ~Escapable {
  @usableFromInline var bytes: RawSpan
  @usableFromInline var offset = 0

  /// How many bytes have been read.
  @inlinable
  public var byteOffset: Int { offset }

  @inlinable @_lifetime(copy bytes)
  public init(_ bytes: RawSpan) { self.bytes = bytes }

  /// How many bytes are left.
  @inlinable
  public var remainingCount: Int { bytes.byteCount &- offset }

  /// Reads an integer with all its bytes.
  ///
  /// - Throws: ``MalformedRecord`` if fewer bytes are left, as do the other methods.
  @inlinable
  public mutating func read<Value: FixedWidthInteger & BitwiseCopyable>(
    _: Value.Type = Value.self
  ) throws(MalformedRecord) -> Value {
    let size = MemoryLayout<Value>.size
    guard remainingCount >= size else { throw MalformedRecord() }
    let value = bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Value.self)
    offset &+= size
    return Value(littleEndian: value)
  }

  /// Reads an unsigned integer that was appended as a varint.
  @inlinable
  public mutating func readVarint() throws(MalformedRecord) -> UInt64 {
    let first = try read(UInt8.self)
    if first < 0x80 { return UInt64(first) }
    return try readVarint(after: first)
  }

  /// Reads the other bytes of a varint of several bytes.
  @usableFromInline
  mutating func readVarint(after first: UInt8) throws(MalformedRecord) -> UInt64 {
    var value = UInt64(first & 0x7F)
    var shift: UInt64 = 7
    while true {
      let byte = try read(UInt8.self)
      // The tenth byte has room for one bit.
      guard shift < 63 || byte <= 1 else { throw MalformedRecord() }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
  }

  /// Reads a byte that must be 1 or 0.
  @inlinable
  public mutating func readBool() throws(MalformedRecord) -> Bool {
    let value = try read(UInt8.self)
    guard value <= 1 else { throw MalformedRecord() }
    return value == 1
  }

  /// Reads a floating-point number.
  @inlinable
  public mutating func readDouble() throws(MalformedRecord) -> Double {
    Double(bitPattern: try read(UInt64.self))
  }

  /// Reads a length and a text, which must be UTF-8.
  @inlinable
  public mutating func readString() throws(MalformedRecord) -> String {
    guard let text = String(validating: try readBytes(), as: UTF8.self) else { throw MalformedRecord() }
    return text
  }

  /// Reads a length and bytes.
  @inlinable
  public mutating func readBytes() throws(MalformedRecord) -> [UInt8] {
    let length = try readVarint()
    guard length <= UInt64(remainingCount) else { throw MalformedRecord() }
    let start = offset
    offset &+= Int(length)
    return [UInt8](copying: bytes.extracting(start..<offset))
  }

  /// Reads a value whose bytes are as they were in memory.
  @inlinable
  mutating func readBytes<Value: BitwiseCopyable>(of _: Value.Type) throws(MalformedRecord) -> Value {
    guard remainingCount >= MemoryLayout<Value>.size else { throw MalformedRecord() }
    let value = bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Value.self)
    offset &+= MemoryLayout<Value>.size
    return value
  }

  /// Reads the bytes that are left, without copying them.
  @inlinable @_lifetime(copy self)
  public mutating func readRest() -> RawSpan {
    let rest = bytes.extracting(offset..<bytes.byteCount)
    offset = bytes.byteCount
    return rest
  }
}
