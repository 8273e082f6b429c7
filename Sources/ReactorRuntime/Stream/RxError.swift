/// What goes wrong in a stream by itself.
public enum RxError: Error, Equatable, Sendable {
  /// Something, nobody knows what.
  case unknown
  /// A number does not fit.
  case overflow
  /// An argument, such as an index, that no element has.
  case argumentOutOfRange
  /// The stream completed without an element where one was wanted.
  case noElements
  /// The stream had a second element where one was wanted.
  case moreThanOneElement
  /// No element came in time.
  case timeout
}

extension RxError: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String {
    switch self {
    case .unknown: "an unknown error"
    case .overflow: "a number does not fit"
    case .argumentOutOfRange: "an argument is out of range"
    case .noElements: "the stream has no elements"
    case .moreThanOneElement: "the stream has more than one element"
    case .timeout: "no element came in time"
    }
  }

  public var debugDescription: String { description }
}
