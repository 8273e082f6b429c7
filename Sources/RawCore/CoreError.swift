/// The reason why a part of the core could not be created, or why an operation failed.
public enum CoreError: Error, Equatable, Sendable {
  /// The capacity is zero or negative.
  case capacityIsZero
  /// The capacity is not a power of two.
  case capacityIsNotAPowerOfTwo
  /// The capacity is larger than ``SlotLimits/capacity``.
  case capacityIsTooLarge
  /// The size of an element is zero. Only raw memory can have this error: no Swift type has a stride of zero.
  case elementSizeIsZero
  /// An element is larger than ``SlotLimits/payload``.
  case elementIsTooLarge
  /// The alignment is not a power of two, or larger than ``SlotLimits/alignment``.
  case alignmentIsInvalid
  /// An allocation failed.
  case outOfMemory
  /// Every lane is taken by another producer.
  case lanesExhausted
  /// The number of lanes is not between 1 and 1024.
  case laneCountIsInvalid
  /// The kernel refused a descriptor.
  case noDescriptor
  /// The processor does not exist, or the process may not use it.
  case processorIsInvalid
  /// The signal does not exist, or it cannot be caught.
  case signalIsInvalid
}

extension CoreError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .capacityIsZero: "the capacity is zero or negative; it must be a power of two"
    case .capacityIsNotAPowerOfTwo: "the capacity is not a power of two"
    case .capacityIsTooLarge: "the capacity is larger than 2^31 slots"
    case .elementSizeIsZero: "the size of an element is zero"
    case .elementIsTooLarge: "an element is larger than 1 MiB; send a reference to it instead"
    case .alignmentIsInvalid: "the element's alignment is larger than 128 bytes"
    case .outOfMemory: "out of memory"
    case .lanesExhausted: "every lane is taken by another producer"
    case .laneCountIsInvalid: "the number of lanes is not between 1 and 1024"
    case .noDescriptor: "the kernel gave no descriptor"
    case .processorIsInvalid: "there is no such processor, or this process may not use it"
    case .signalIsInvalid: "there is no such signal, or it cannot be caught"
    }
  }
}
