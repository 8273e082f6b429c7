import ReactorCore
import Synchronization

/// Something that a loop runs once at a certain time, unless it is cancelled before.
final class LoopTimer: Disposable {
  /// Of ``MonotonicTime``.
  let deadline: Int64
  private let cancelled: CancelledTimers
  private let isTaken = Atomic(false)
  private let body: OwnerCell<(@Sendable () -> Void)?>

  init(at deadline: Int64, countedBy cancelled: CancelledTimers, _ body: @escaping @Sendable () -> Void) {
    self.deadline = deadline
    self.cancelled = cancelled
    self.body = OwnerCell(body)
  }

  /// Takes out what is to be run, once: nil if it was cancelled. The body belongs to whoever won.
  func take() -> (@Sendable () -> Void)? {
    // Acquire: what the thread that scheduled it wrote.
    if isTaken.exchange(true, ordering: .acquiring) { return nil }
    return body.value.take()
  }

  /// Prevents it, unless it has begun, and lets go of what it captures.
  func dispose() {
    if take() != nil { cancelled.add() }
  }

  /// Relaxed: it is only swept.
  var wasTaken: Bool { isTaken.load(ordering: .relaxed) }
}

/// How many cancelled timers are still in the heap of a loop, so that it sweeps them before they are many.
final class CancelledTimers: Sendable {
  // Relaxed: an estimate.
  private let count = Atomic(0)

  var wasCount: Int { count.load(ordering: .relaxed) }
  func add() { count.add(1, ordering: .relaxed) }
  func remove(_ removed: Int) { count.subtract(removed, ordering: .relaxed) }
}
