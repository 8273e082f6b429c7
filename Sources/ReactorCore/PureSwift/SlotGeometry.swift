/// What the ring and the lanes share when they are created: limits, rounding, and the memory of the slots.
enum SlotGeometry {
  static var largestCapacity: Int { 1 << 31 }
  static var largestPayload: Int { 1 << 20 }
  static var largestAlignment: Int { 128 }

  /// Says what is wrong with the arguments of a creation, with the same words and in the same order as the
  /// C core does.
  static func check(capacity: Int, size: Int, alignment: Int) throws(CoreError) {
    guard capacity > 0 else { throw .capacityIsZero }
    guard isPowerOfTwo(capacity) else { throw .capacityIsNotAPowerOfTwo }
    guard capacity <= largestCapacity else { throw .capacityIsTooLarge }
    guard size > 0 else { throw .elementSizeIsZero }
    guard size <= largestPayload else { throw .elementIsTooLarge }
    guard alignment > 0, isPowerOfTwo(alignment), alignment <= largestAlignment else {
      throw .alignmentIsInvalid
    }
  }

  static func roundUp(_ value: Int, to unit: Int) -> Int { (value + unit - 1) / unit * unit }

  /// At most 2^31 slots of less than 2^21 bytes: the product cannot overflow.
  static func allocate(capacity: Int, stride: Int) throws(CoreError) -> UnsafeMutableRawPointer {
    try CacheLine.allocate(byteCount: capacity * stride)
  }

  /// For `value` > 0.
  private static func isPowerOfTwo(_ value: Int) -> Bool { value & (value - 1) == 0 }
}
