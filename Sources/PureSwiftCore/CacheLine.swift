import Glibc
import RawCore

/// Memory with a layout by hand, so that fields that different threads write are in different cache lines. Swift cannot
/// align a stored property, so each object of this core consists of a few lines of raw memory, and each line is bound to
/// a struct of its own.
@usableFromInline
enum CacheLine {
  @inlinable
  static var size: Int { cacheLineSize }

  /// The smallest multiple of `unit` that is not less than `value`.
  static func roundUp(_ value: Int, to unit: Int) -> Int { (value + unit - 1) / unit * unit }

  /// Allocates at least `byteCount` bytes that begin at a line. Free them with `free`.
  ///
  /// Does not use `UnsafeMutableRawPointer.allocate`, which stops the program if there is no memory.
  static func allocate(byteCount: Int) throws(CoreError) -> UnsafeMutableRawPointer {
    guard let memory = aligned_alloc(size, roundUp(byteCount, to: size)) else { throw .outOfMemory }
    return memory
  }

  /// Initializes the beginning of line number `line` of `memory` with `value`.
  ///
  /// No value in such a line has a deinitializer that does anything, so the memory is later freed without deinitializing
  /// it.
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
  /// The value that was placed `lines` lines after this one.
  @inlinable
  @inline(__always)
  func afterLines<Value: ~Copyable>(_ lines: Int, as type: Value.Type) -> UnsafeMutablePointer<Value> {
    UnsafeMutableRawPointer(self).advanced(by: lines &* CacheLine.size)
      .assumingMemoryBound(to: Value.self)
  }
}
