import ReactorCore
import Synchronization

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
