import ReactorCore
import Synchronization

/// What remains to be done when a loop's thread has run its last turn.
@usableFromInline
final class LoopEnding: Sendable {
  /// Nil once the end has come.
  private let actions = SystemMutex<[@Sendable () -> Void]?>([])
  private let hasCome = Atomic(false)

  @usableFromInline
  init() {}

  /// Whether the loop's thread runs no turn any more. Any thread.
  // Acquire: what the thread wrote in its turns, to who takes over what was the thread's alone.
  var isOver: Bool { hasCome.load(ordering: .acquiring) }

  /// Runs `action` once the end has come: then on the loop's thread, or at once.
  func whenOver(_ action: @escaping @Sendable () -> Void) {
    let isLate = actions.withLock { actions in
      actions?.append(action)
      return actions == nil
    }
    if isLate { action() }
  }

  /// The end has come. The loop's thread, last of all.
  @usableFromInline
  func finish() {
    // Release: the other side of `isOver`.
    hasCome.store(true, ordering: .releasing)
    let left = actions.withLock { $0.take() }
    for action in left ?? [] { action() }
  }
}
