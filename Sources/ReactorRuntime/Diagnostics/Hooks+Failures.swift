import ReactorCore

extension Hooks {
  private static let failureHandler = SystemMutex<@Sendable (Failure) -> Void>(Failure.printToStandardError)

  /// Called with each ``Failure`` of a reactor whose runtime has no handler of its own, on the thread that
  /// reports it. A reactor that stores no runtime is such a reactor. Writes to standard error unless it is
  /// replaced. Any thread may read and set it.
  public static var defaultFailureHandler: @Sendable (Failure) -> Void {
    get { failureHandler.withLock { $0 } }
    set { failureHandler.withLock { $0 = newValue } }
  }
}
