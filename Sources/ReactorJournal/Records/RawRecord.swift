/// A mutation that is written as it is in memory. For structures of numbers, where writing each property by hand takes too long.
///
/// ```swift
/// struct Trade: RawRecord {
///   var account: UInt64
///   var amount: Int64
///   static let layout = RawLayout(of: Trade.self, \.account, \.amount)
/// }
/// ```
///
/// Such a record has no form of its own: another property, another order or another type of one changes what its bytes mean. So each
/// record begins with the ``RawLayout/fingerprint``, 4 bytes, and one that was written with another layout is refused when the
/// journal is read, with its position: ``JournalError/malformed(position:reason:)``. To change the structure, give the
/// ``Schema`` a new version and an upcaster. An upcaster gets the bytes with the old fingerprint, and writes the new one.
public protocol RawRecord: JournalRecord, BitwiseCopyable {
  /// All stored properties. A constant.
  static var layout: RawLayout { get }
}

/// A number that a ``RawRecord`` may have as a property: each value of its bytes is valid, so no damaged record can make a value that
/// does not exist.
public protocol RawField: BitwiseCopyable {}

extension Int8: RawField {}
extension Int16: RawField {}
extension Int32: RawField {}
extension Int64: RawField {}
extension Int128: RawField {}
extension UInt8: RawField {}
extension UInt16: RawField {}
extension UInt32: RawField {}
extension UInt64: RawField {}
extension UInt128: RawField {}
extension Float: RawField {}
extension Double: RawField {}

/// Where the properties of a ``RawRecord`` are in its bytes.
public struct RawLayout: Sendable, Hashable {
  /// A number that differs if the place or the type of a property does, or the order of the bytes in a number.
  public let fingerprint: UInt32

  /// Notes a layout. Stops the program if the properties do not cover each byte of the structure: bytes between them have no defined
  /// values, and would go to the disk as they are.
  ///
  /// - Parameters:
  ///   - type: The structure.
  ///   - fields: Its stored properties, in any order.
  public init<Record: BitwiseCopyable, each Field: RawField>(
    of type: Record.Type, _ fields: repeat KeyPath<Record, each Field>
  ) {
    var parts: [(offset: Int, size: Int, name: String)] = []
    for field in repeat each fields { Self.add(field, to: &parts) }
    parts.sort { $0.offset < $1.offset }
    var (end, checksum) = (0, CRC32C())
    for part in parts {
      guard part.offset == end else { fatalError(Self.gap(type, at: end)) }
      checksum.update(UInt64(part.offset))
      checksum.update([UInt8](part.name.utf8).span.bytes)
      end += part.size
    }
    guard end == MemoryLayout<Record>.size else { fatalError(Self.gap(type, at: end)) }
    // As it is in memory: another order of bytes gives another number.
    fingerprint = checksum.value ^ (UInt32(1).littleEndian == 1 ? 0 : .max)
  }

  private static func add<Record, Field: RawField>(
    _ field: KeyPath<Record, Field>, to parts: inout [(offset: Int, size: Int, name: String)]
  ) {
    guard let offset = MemoryLayout<Record>.offset(of: field) else {
      fatalError("\(field) is no stored property of \(Record.self)")
    }
    parts.append((offset, MemoryLayout<Field>.size, "\(Field.self)"))
  }

  private static func gap(_ type: Any.Type, at offset: Int) -> String {
    """
    Problem: the layout of \(type) does not say what its byte \(offset) is.
    Likely cause: a property is missing, or there are unused bytes between two of them.
    Remedy: name all stored properties, the largest types first; fill up what is left with a property of its own.
    """
  }
}

extension RawRecord {
  @inlinable
  public func encode(into encoder: inout RecordEncoder) {
    encoder.append(Self.layout.fingerprint)
    encoder.append(bytesOf: self)
  }

  @inlinable
  public init(from decoder: inout RecordDecoder, version: UInt16) throws(MalformedRecord) {
    guard try decoder.read(UInt32.self) == Self.layout.fingerprint else { throw MalformedRecord() }
    self = try decoder.readBytes(of: Self.self)
    guard decoder.remainingCount == 0 else { throw MalformedRecord() }
  }
}
