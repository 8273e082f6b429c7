/// The limits of a ring and of a lane, the same for both cores.
public enum SlotLimits {
  /// 2^31 slots.
  public static var capacity: Int { 1 << 31 }
  /// 1 MiB for each element.
  public static var payload: Int { 1 << 20 }
  /// 128 bytes.
  public static var alignment: Int { 128 }

  /// Throws what is wrong with the arguments of a creation. Checks in the same order as the C core, so both cores
  /// report the same error for the same arguments.
  public static func check(capacity: Int, size: Int, alignment: Int) throws(CoreError) {
    guard capacity > 0 else { throw .capacityIsZero }
    guard isPowerOfTwo(capacity) else { throw .capacityIsNotAPowerOfTwo }
    guard capacity <= Self.capacity else { throw .capacityIsTooLarge }
    guard size > 0 else { throw .elementSizeIsZero }
    guard size <= payload else { throw .elementIsTooLarge }
    guard alignment > 0, isPowerOfTwo(alignment), alignment <= Self.alignment else {
      throw .alignmentIsInvalid
    }
  }

  /// For `value` > 0.
  private static func isPowerOfTwo(_ value: Int) -> Bool { value & (value - 1) == 0 }
}
