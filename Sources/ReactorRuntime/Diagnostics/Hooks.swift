import ReactorCore
import Synchronization

extension Hooks {
  // An object, for the reason that `ErrorHandler` gives.
  private final class FailureHandler: Sendable {
    let call: @Sendable (Failure) -> Void
    init(_ call: @escaping @Sendable (Failure) -> Void) { self.call = call }
  }

  private static let failureHandler = SystemMutex(FailureHandler(Failure.printToStandardError))

  /// Called with each ``Failure`` of a reactor whose runtime has no `onFailure`, such as the runtime of a reactor that
  /// stores none, on the thread that reports it. The default writes to standard error. May be set and read on any
  /// thread.
  public static var defaultFailureHandler: @Sendable (Failure) -> Void {
    get { failureHandler.withLock { $0 }.call }
    set {
      // The old one is released after the mutex: that may run code of the program.
      var handler = FailureHandler(newValue)
      failureHandler.withLock { swap(&$0, &handler) }
    }
  }
}

/// The settings of the checks of debug builds. Release builds contain no checks, so there these have no effect.
extension Hooks {
  private final class WarningHandler: Sendable {
    let call: @Sendable (Warning) -> Void
    init(_ call: @escaping @Sendable (Warning) -> Void) { self.call = call }
  }

  private static let handler = SystemMutex(WarningHandler(Warning.printToStandardError))

  /// Called with each ``Warning``, on the thread that noticed it, which may be inside of a turn. A warning that
  /// repeats for the same type of reactor is reported once a second, with a count, on any thread. The default
  /// writes to standard error. May be set and read on any thread.
  public static var warningHandler: @Sendable (Warning) -> Void {
    get { handler.withLock { $0 }.call }
    set {
      // The old one is released after the mutex: that may run code of the program.
      var new = WarningHandler(newValue)
      handler.withLock { swap(&$0, &new) }
    }
  }

  /// In nanoseconds. Relaxed, since no other memory is read depending on it.
  private static let threshold = Atomic<Int64>(100_000_000)

  /// The duration of a turn above which there is a ``Warning``. The default is 100 milliseconds.
  ///
  /// A turn is the work that a thread does for one reactor before it continues with others: on a loop, at most
  /// `turnLimit` actions. It includes the turns of other reactors that it runs by sending to them. May be set and
  /// read on any thread.
  public static var longTurnThreshold: Duration {
    get { .nanoseconds(threshold.load(ordering: .relaxed)) }
    set {
      let nanoseconds = (newValue / .nanoseconds(1)).rounded()
      // More than 292 years do not fit into 64 bits.
      threshold.store(Int64(exactly: nanoseconds) ?? .max, ordering: .relaxed)
    }
  }
}
