import ReactorCore

/// An error of a stream itself.
public enum RxError: Error, Equatable, Sendable {
  /// An error without a known cause.
  case unknown
  /// Too many elements or streams wait in an operator: see `zip` and ``ObservableType/merge(maxConcurrent:)``.
  case overflow
  /// An argument is out of range, such as an index that no element has.
  case argumentOutOfRange
  /// The stream completed without an element where one was expected.
  case noElements
  /// The stream had a second element where one was expected.
  case moreThanOneElement
  /// No element came in time.
  case timeout
}

extension RxError: CustomStringConvertible, CustomDebugStringConvertible {
  public var description: String {
    switch self {
    case .unknown: "an unknown error"
    case .overflow: "too much waits in an operator"
    case .argumentOutOfRange: "an argument is out of range"
    case .noElements: "the stream has no elements"
    case .moreThanOneElement: "the stream has more than one element"
    case .timeout: "no element came in time"
    }
  }

  public var debugDescription: String { description }
}

extension Hooks {
  // An object, for the reason that `WarningHandler` gives.
  private final class ErrorHandler: Sendable {
    let call: @Sendable (any Error) -> Void
    init(_ call: @escaping @Sendable (any Error) -> Void) { self.call = call }
  }

  private static let errorHandler = SystemMutex(ErrorHandler(printToStandardError))

  /// Called with the error of a stream whose subscription has no `onError`, and with ``ValuesOverflow``, on the
  /// thread that reports it. The default writes to standard error. May be set and read on any thread.
  public static var defaultErrorHandler: @Sendable (any Error) -> Void {
    get { errorHandler.withLock { $0 }.call }
    set {
      // The old one is released after the mutex: that may run code of the program.
      var handler = ErrorHandler(newValue)
      errorHandler.withLock { swap(&$0, &handler) }
    }
  }

  private static let printToStandardError: @Sendable (any Error) -> Void = { error in
    if let overflow = error as? ValuesOverflow { return StandardError.write("\(overflow)\n") }
    StandardError.write(
      """
      Problem: a stream failed, and nothing handled its error: \(error).
      Likely cause: the subscription has no onError.
      Remedy: handle the error in onError, or before the subscription with catch or catchAndReturn.\n
      """)
  }
}
