import ReactorCore

extension Hooks {
  // An object, for the reason that `WarningHandler` gives.
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
