import ReactorCore
import Synchronization

/// What is done where a program has not said what to do.
public enum Hooks {
  private static let errorHandler = SystemMutex<@Sendable (any Error) -> Void>(printToStandardError)

  /// Called with the error of a stream that was subscribed to without a handler for errors, and with
  /// ``ValuesOverflow``, on the thread that reported it. Writes to standard error unless it is replaced. Any
  /// thread.
  public static var defaultErrorHandler: @Sendable (any Error) -> Void {
    get { errorHandler.withLock { $0 } }
    set { errorHandler.withLock { $0 = newValue } }
  }

  private static let failureHandler = SystemMutex<@Sendable (Failure) -> Void>(Failure.printToStandardError)

  /// Called with each ``Failure`` of a reactor whose runtime was given no handler of its own, which is so for
  /// every reactor that stores no runtime; on the thread that reported it. Writes to standard error unless it
  /// is replaced. Any thread.
  public static var defaultFailureHandler: @Sendable (Failure) -> Void {
    get { failureHandler.withLock { $0 } }
    set { failureHandler.withLock { $0 = newValue } }
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

/// What is done about what the checks of debug builds find. In release builds there are no checks, and these
/// have no effect.
extension Hooks {
  private static let handler = SystemMutex<@Sendable (Warning) -> Void>(Warning.printToStandardError)

  /// Called with each ``Warning``, on the thread that noticed it, also inside of turns; and, if the same was
  /// noticed again and again for the same type of reactor, with a count once a second, on any thread. Writes to
  /// standard error unless it is replaced. Any thread.
  public static var warningHandler: @Sendable (Warning) -> Void {
    get { handler.withLock { $0 } }
    set { handler.withLock { $0 = newValue } }
  }

  /// In nanoseconds. Relaxed: nothing else is read because of it.
  private static let threshold = Atomic<Int64>(100_000_000)

  /// How long a turn may take before that is worth a ``Warning``: 100 milliseconds, unless it is replaced. A
  /// turn is what a thread processes of one reactor before it looks after others: at most a loop's turn limit
  /// of actions. It contains the turns of others that it runs by sending to them. Any thread.
  public static var longTurnThreshold: Duration {
    get { .nanoseconds(threshold.load(ordering: .relaxed)) }
    set {
      let nanoseconds = (newValue / .nanoseconds(1)).rounded()
      // Centuries do not fit.
      threshold.store(Int64(exactly: nanoseconds) ?? .max, ordering: .relaxed)
    }
  }
}
