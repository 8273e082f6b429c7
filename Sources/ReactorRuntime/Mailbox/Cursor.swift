/// Cursors wrap, so they are compared by their distance; bit 63 is not part of it.
@usableFromInline
enum Cursor {
  @inlinable
  static func distance(from first: UInt64, to second: UInt64) -> Int64 {
    Int64(bitPattern: (second &- first) << 1) >> 1
  }

  @inlinable
  static func isBefore(_ first: UInt64, _ second: UInt64) -> Bool { distance(from: second, to: first) < 0 }
}
