import ReactorCore
import Synchronization

/// The handlers for errors, failures and warnings that the program handles nowhere else.
public enum Hooks {}

/// The settings of the checks of debug builds. Release builds contain no checks, so there these have no effect.
extension Hooks {
  /// A handler is kept in an object of its own. A closure that is the value of a generic type, such as a mutex, is
  /// wrapped in a thunk at each access, and the one behind `withLock` would keep all of these.
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
