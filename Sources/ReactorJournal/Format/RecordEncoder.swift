import ReactorCore

/// A growing buffer into which a record writes its bytes.
///
/// Integers are little-endian. The encoder writes no lengths and no types of its own accord, but for what each method says: a
/// ``RecordDecoder`` must read in the same order.
///
/// Appending is O(number of bytes), and allocates only if the buffer grows. A value type for one thread.
public struct RecordEncoder: Sendable {
  /// The first `end` bytes are written; the others are room.
  @usableFromInline var storage: [UInt8]
  @usableFromInline var end = 0

  /// How many bytes are written.
  @inlinable
  public var byteCount: Int { end }

  @inlinable
  public init() { storage = [] }

  /// Uses the memory of `buffer` again, whose contents are lost.
  @inlinable
  package init(reusing buffer: consuming [UInt8]) { storage = buffer }

  /// Appends an integer with all its bytes.
  @inlinable
  public mutating func append<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value) {
    let size = MemoryLayout<Value>.size
    reserve(size)
    store(value.littleEndian, at: end)
    end &+= size
  }

  /// Appends an unsigned integer with 7 bits in each byte (LEB128): 1 byte if it is below 128, 10 bytes at most.
  @inlinable
  public mutating func append(varint value: UInt64) {
    reserve(10)
    var rest = value
    while rest >= 0x80 {
      store(UInt8(truncatingIfNeeded: rest) | 0x80, at: end)
      end &+= 1
      rest >>= 7
    }
    store(UInt8(truncatingIfNeeded: rest), at: end)
    end &+= 1
  }

  /// Appends one byte: 1 or 0.
  @inlinable
  public mutating func append(_ value: Bool) { append(value ? 1 as UInt8 : 0) }

  /// Appends the 8 bytes of a floating-point number.
  @inlinable
  public mutating func append(_ value: Double) { append(value.bitPattern) }

  /// Appends the length as a varint, and the text as UTF-8.
  @inlinable
  public mutating func append(_ value: String) {
    let utf8 = value.utf8
    append(varint: UInt64(utf8.count))
    append(contentsOf: utf8.span.bytes)
  }

  /// Appends the length as a varint, and the bytes.
  @inlinable
  public mutating func append(_ bytes: [UInt8]) {
    append(varint: UInt64(bytes.count))
    append(contentsOf: bytes.span.bytes)
  }

  /// Appends bytes, and no length.
  @inlinable
  public mutating func append(contentsOf bytes: RawSpan) {
    reserve(bytes.byteCount)
    storage.overwrite(at: end, with: bytes)
    end &+= bytes.byteCount
  }

  /// Appends the bytes of a value as they are in memory.
  @inlinable
  mutating func append<Value: BitwiseCopyable>(bytesOf value: Value) {
    reserve(MemoryLayout<Value>.size)
    store(value, at: end)
    end &+= MemoryLayout<Value>.size
  }

  /// Makes sure that `size` more bytes can be stored.
  @inlinable
  mutating func reserve(_ size: Int) {
    if storage.count &- end < size { grow(by: size) }
  }

  /// Stores a value at an offset, which there must be room for.
  @inlinable
  mutating func store<Value: BitwiseCopyable>(_ value: Value, at offset: Int) {
    var span = storage.mutableSpan
    var bytes = span.mutableBytes
    bytes.storeBytes(of: value, toByteOffset: offset, as: Value.self)
  }

  /// Doubles the buffer, so that many appends cost O(1) each.
  @usableFromInline @inline(never)
  mutating func grow(by size: Int) {
    storage.append(zeros: max(size, storage.count, 256))
  }

  /// Forgets everything after the first `count` bytes.
  @inlinable
  package mutating func truncate(to count: Int) {
    precondition(count >= 0 && count <= end)
    end = count
  }

  /// Returns what was written, and leaves the encoder empty and without memory. O(1).
  @inlinable
  package mutating func take() -> [UInt8] {
    var bytes: [UInt8] = []
    swap(&bytes, &storage)
    bytes.removeLast(bytes.count - end)
    end = 0
    return bytes
  }
}
