import ReactorCore

/// What is done where a program has not said what to do.
public enum Hooks {
  private static let errorHandler = SystemMutex<@Sendable (any Error) -> Void>(printToStandardError)

  /// Called with the error of a stream that was subscribed to without a handler for errors, and with
  /// ``ValuesOverflow``, on the thread that reports it. Writes to standard error unless it is replaced. Any
  /// thread may read and set it.
  public static var defaultErrorHandler: @Sendable (any Error) -> Void {
    get { errorHandler.withLock { $0 } }
    set { errorHandler.withLock { $0 = newValue } }
  }

  private static let printToStandardError: @Sendable (any Error) -> Void = { error in
    if let overflow = error as? ValuesOverflow { return StandardError.write("\(overflow)\n") }
    StandardError.write(
      """
      Problem: a stream failed, and nobody handled that: \(error).
      Likely cause: it was subscribed to without onError.
      Remedy: handle the error in onError, or before by catch or catchAndReturn.\n
      """)
  }
}
