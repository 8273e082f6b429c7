import ReactorCore

/// What waits for the end of a loop or a reactor: actions that run then, and threads that sleep until then.
///
/// Whether the end has come is known to the life cycle, not to this list.
@usableFromInline
final class Termination: Sendable {
  /// Nil once they were run.
  let actions = SystemMutex<WaitingLine<Action>?>(WaitingLine())

  typealias Action = @Sendable () -> Void

  @usableFromInline
  init() {}

  /// Runs `action` after the end: on the thread that calls ``finish()``, or at once if it is too late for that. Any
  /// thread. What was done before `finish()` happens before the action: both take the lock.
  @usableFromInline
  func whenOver(_ action: @escaping @Sendable () -> Void) {
    if add(action) == nil { action() }
  }

  /// Returns the place of the action; nil if it is too late.
  private func add(_ action: @escaping Action) -> WaitingLine<Action>.Place? {
    actions.withLock { $0?.append(action) }
  }

  /// Runs the actions, in the order in which they came, and wakes the threads that wait. The thread that has made the
  /// transition to the end; calling it again does nothing.
  @usableFromInline
  func finish() {
    var waiting = actions.withLock { $0.take() }
    // Not under the lock: an action may add one.
    while let action = waiting?.removeFirst() { action() }
  }

  /// Whether ``finish()`` was called. Any thread.
  var isOver: Bool { actions.withLock { $0 == nil } }

  /// Waits until ``finish()`` is called; returns false if that takes longer. Any thread that is not needed for the end.
  @usableFromInline
  func wait(until deadline: ContinuousClock.Instant) -> Bool {
    let end = ThreadSignal()
    guard let place = add({ end.signal() }) else { return true }
    if end.wait(until: deadline) { return true }
    // Destroyed after the lock. If it is gone, the end has come meanwhile.
    let removed = actions.withLock { $0?.remove(at: place) }
    return removed == nil
  }
}
