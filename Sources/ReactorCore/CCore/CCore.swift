import CReactorCore

/// The core written in C11, called from Swift.
public enum CCore: Core {
  public typealias Ring = CRing
  public typealias Lanes = CLanes
  public typealias Trampoline = CTrampoline
  public typealias EventCount = CEventCount

  public static var name: String { "C" }

  @inlinable
  public static var threadToken: UInt64 { rr_thread_token() }

  @inlinable
  public static func pause() { rr_pause() }

  @inlinable
  public static var hasFences: Bool { true }

  @inlinable
  public static func lightFence() { rr_fence_light() }

  @inlinable
  public static func heavyFence() -> Bool { rr_fence_heavy() }
}

extension CoreError {
  /// The error of a status code; nil for a code that is a result, not an error.
  @usableFromInline
  init?(_ status: rr_status) {
    switch status {
    case RR_CAPACITY_ZERO: self = .capacityIsZero
    case RR_CAPACITY_NOT_POWER_OF_TWO: self = .capacityIsNotAPowerOfTwo
    case RR_CAPACITY_TOO_LARGE: self = .capacityIsTooLarge
    case RR_STRIDE_ZERO: self = .elementSizeIsZero
    case RR_STRIDE_TOO_LARGE: self = .elementIsTooLarge
    case RR_ALIGNMENT_INVALID: self = .alignmentIsInvalid
    case RR_OUT_OF_MEMORY: self = .outOfMemory
    case RR_LANES_EXHAUSTED: self = .lanesExhausted
    case RR_LANE_COUNT_INVALID: self = .laneCountIsInvalid
    case RR_DESCRIPTOR_FAILED: self = .noDescriptor
    default: return nil
    }
  }

  /// Calls a C function that creates an object, and returns the object.
  @usableFromInline
  static func creating<Object>(
    _ create: (inout Object?) -> rr_status
  ) throws(CoreError) -> Object {
    var object: Object?
    let status = create(&object)
    guard let object, status == RR_OK else { throw CoreError(status) ?? .outOfMemory }
    return object
  }
}
