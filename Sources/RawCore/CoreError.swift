/// Why a part of the core could not be made, or an operation was refused because of its arguments.
public enum CoreError: Error, Equatable, Sendable {
  case capacityIsZero
  case capacityIsNotAPowerOfTwo
  case capacityIsTooLarge
  /// Of raw memory only: no Swift type has a stride of zero.
  case elementSizeIsZero
  case elementIsTooLarge
  case alignmentIsInvalid
  case countIsInvalid
  case outOfMemory
  /// Every lane is taken by another producer.
  case lanesExhausted
  case laneCountIsInvalid
  /// The kernel gave no descriptor.
  case noDescriptor
  /// There is no such processor, or the process may not use it.
  case processorIsInvalid
  /// There is no such signal, or it cannot be caught.
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
    case .countIsInvalid: "the count is zero, negative, or larger than the capacity"
    case .outOfMemory: "out of memory"
    case .lanesExhausted: "every lane is taken by another producer"
    case .laneCountIsInvalid: "the number of lanes is not between 1 and 1024"
    case .noDescriptor: "the kernel gave no descriptor"
    case .processorIsInvalid: "there is no such processor, or this process may not use it"
    case .signalIsInvalid: "there is no such signal, or it cannot be caught"
    }
  }
}
