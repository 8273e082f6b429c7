/// The checksum CRC-32C (Castagnoli): finds every change of up to 32 consecutive bits, and others but for 1 in 2^32.
///
/// Eight bytes at a time by eight tables, about 2 GB/s: a processor's own instruction would need C code for each architecture, and
/// a journal checksums some hundred MB/s at most.
struct CRC32C {
  /// The inverted remainder so far.
  private var remainder: UInt32 = ~0

  var value: UInt32 { ~remainder }

  mutating func update(_ value: UInt64) {
    remainder = Self.remainder(after: value ^ UInt64(remainder), in: Self.tables.span)
  }

  mutating func update(_ bytes: RawSpan) {
    let tables = Self.tables.span
    var rest = remainder
    let words = bytes.byteCount / 8
    for index in 0..<words {
      let word = UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: index &* 8, as: UInt64.self))
      rest = Self.remainder(after: word ^ UInt64(rest), in: tables)
    }
    for index in (words &* 8)..<bytes.byteCount {
      let byte = bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
      rest = tables[Int(UInt8(truncatingIfNeeded: rest) ^ byte)] ^ (rest &>> 8)
    }
    remainder = rest
  }

  /// Looks up each byte of `word` in the table for its distance to the end.
  @inline(__always)
  private static func remainder(after word: UInt64, in tables: Span<UInt32>) -> UInt32 {
    // No index reaches the tables' end: each is below 256 plus 7 times 256.
    func look(_ table: Int, _ shift: UInt64) -> UInt32 {
      tables[unchecked: table &* 256 &+ Int(UInt8(truncatingIfNeeded: word &>> shift))]
    }
    var rest: UInt32 = look(7, 0)
    rest ^= look(6, 8)
    rest ^= look(5, 16)
    rest ^= look(4, 24)
    rest ^= look(3, 32)
    rest ^= look(2, 40)
    rest ^= look(1, 48)
    return rest ^ look(0, 56)
  }

  /// Eight tables of 256: the k-th has the remainder of each byte that k bytes of zeros follow.
  private static let tables: [UInt32] = {
    var tables: [UInt32] = []
    for byte in 0..<256 as Range<UInt32> {
      var rest = byte
      for _ in 0..<8 { rest = rest & 1 == 1 ? (rest >> 1) ^ 0x82F6_3B78 : rest >> 1 }
      tables.append(rest)
    }
    for index in 256..<2048 {
      let shorter = tables[index - 256]
      tables.append(tables[Int(shorter & 0xFF)] ^ (shorter >> 8))
    }
    return tables
  }()
}
