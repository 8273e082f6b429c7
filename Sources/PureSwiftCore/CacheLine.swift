import Glibc
import RawCore

/// Memory laid out by hand, so that what different threads write lies in different cache lines. Swift
/// cannot align a stored property, so each object of this core is a few lines of raw memory, and each line
/// is bound to a struct of its own.
@usableFromInline
enum CacheLine {
  @inlinable
  static var size: Int { cacheLineSize }

  static func roundUp(_ value: Int, to unit: Int) -> Int { (value + unit - 1) / unit * unit }

  /// At least `byteCount` bytes, beginning at a line. Free them with `free`.
  ///
  /// Not `UnsafeMutableRawPointer.allocate`, which stops the program when there is no memory.
  static func allocate(byteCount: Int) throws(CoreError) -> UnsafeMutableRawPointer {
    guard let memory = aligned_alloc(size, roundUp(byteCount, to: size)) else { throw .outOfMemory }
    return memory
  }

  /// Puts `value` at the beginning of the line number `line` of `memory`.
  ///
  /// Nothing that lives in such a line has a deinitializer that does anything, so the memory is later freed
  /// as it stands.
  @discardableResult
  static func place<Value: ~Copyable>(
    _ value: consuming Value, inLine line: Int, of memory: UnsafeMutableRawPointer
  ) -> UnsafeMutablePointer<Value> {
    precondition(MemoryLayout<Value>.size <= size && MemoryLayout<Value>.alignment <= size)
    let place = memory.advanced(by: line * size).bindMemory(to: Value.self, capacity: 1)
    place.initialize(to: value)
    return place
  }
}

extension UnsafeMutablePointer where Pointee: ~Copyable {
  /// What was placed `lines` lines after this.
  @inlinable
  @inline(__always)
  func afterLines<Value: ~Copyable>(_ lines: Int, as type: Value.Type) -> UnsafeMutablePointer<Value> {
    UnsafeMutableRawPointer(self).advanced(by: lines &* CacheLine.size)
      .assumingMemoryBound(to: Value.self)
  }
}
