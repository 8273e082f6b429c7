import Dispatch
import ReactorCore
import Synchronization

/// What remains to be done when a loop's thread has run its last turn, or a closed reactor has.
@usableFromInline
final class Ending: Sendable {
  /// Nil once the end has come.
  private let actions = SystemMutex<[@Sendable () -> Void]?>([])
  private let hasCome = Atomic(false)
  /// Whether the reactor was told to close; its loop may close without. Relaxed: of a look and the telling, which
  /// another thread does at that moment, either may be the first.
  @usableFromInline let isWanted = Atomic(false)

  @usableFromInline
  init() {}

  /// Whether no turn will run any more. Any thread.
  // Acquire: what was written in the turns, to who takes over what was their owner's alone.
  @usableFromInline
  var isOver: Bool { hasCome.load(ordering: .acquiring) }

  /// Runs `action` once the end has come: then on the thread of the last turn, or at once.
  func whenOver(_ action: @escaping @Sendable () -> Void) {
    let isLate = actions.withLock { actions in
      actions?.append(action)
      return actions == nil
    }
    if isLate { action() }
  }

  /// The end has come; only the first call counts. The thread of the last turn.
  ///
  /// - Parameter last: What is done when it is over, and before anybody is told.
  @usableFromInline
  func finish(_ last: () -> Void = {}) {
    // Release: the other side of `isOver`.
    hasCome.store(true, ordering: .releasing)
    last()
    let left = actions.withLock { $0.take() }
    for action in left ?? [] { action() }
  }

  /// Waits until the end has come; false if that takes longer. Any thread that is not needed for it.
  @usableFromInline
  func wait(until deadline: ContinuousClock.Instant) -> Bool {
    let over = DispatchSemaphore(value: 0)
    whenOver { over.signal() }
    let left = ContinuousClock.now.duration(to: deadline)
    return over.wait(timeout: .now() + left.dispatchInterval(atLeast: 0)) == .success
  }
}
