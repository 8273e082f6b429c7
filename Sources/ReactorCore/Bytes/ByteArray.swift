import Glibc

/// Copies of many bytes at once, for which the standard library has no safe function yet.
extension [UInt8] {
  /// Copies bytes into a new array.
  @inlinable
  public init(copying bytes: RawSpan) {
    self = bytes.withUnsafeBytes { [UInt8]($0) }
  }

  /// Replaces the bytes from `offset` on by `bytes`, which must not reach beyond the end.
  @inlinable
  public mutating func overwrite(at offset: Int, with bytes: RawSpan) {
    precondition(offset >= 0 && offset <= count && bytes.byteCount <= count - offset)
    // The source cannot be a part of this array: a mutation has exclusive access.
    bytes.withUnsafeBytes { source in
      withUnsafeMutableBytes { $0[offset...].copyBytes(from: source) }
    }
  }

  /// Appends zeros. At once: in a debug build `append(contentsOf:)` takes them one by one, and with many calls for each.
  public mutating func append(zeros: Int) {
    precondition(zeros >= 0)
    guard zeros > 0 else { return }
    let bytes = self
    self = [UInt8](unsafeUninitializedCapacity: bytes.count + zeros) { buffer, count in
      bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(buffer).copyMemory(from: $0) }
      memset(buffer.baseAddress! + bytes.count, 0, zeros)
      count = bytes.count + zeros
    }
  }

  /// Copies the bytes in `range` to those from `offset` on, which must not reach beyond the end. The two may overlap.
  @inlinable
  public mutating func copyBytes(in range: Range<Int>, to offset: Int) {
    precondition(range.lowerBound >= 0 && range.upperBound <= count)
    precondition(offset >= 0 && offset <= count && range.count <= count - offset)
    withUnsafeMutableBytes { bytes in
      UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: bytes[range]))
    }
  }
}
