import Synchronization

/// Makes other code run the rounds of a loop without a thread: raised by a thread that submits something, once until the code
/// that runs the rounds lowers it.
///
/// ```
///   submitter                              the code that runs the rounds
///   push into the inbox                    rounds until nothing is left
///   tryRaise()                             lower()
///     true: call that code                 something there, and tryRaise() is true: go on
/// ```
///
/// Nothing is forgotten, because both exchange the same word. A submitter that comes before `lower()` has pushed before it, and
/// the check afterwards sees that. A submitter that comes after it finds the signal lowered, and calls the code.
struct RoundsSignal: ~Copyable, Sendable {
  private let isRaised = Atomic(false)
  /// Relaxed: a counter, which wraps like that of an event count.
  private let count: Atomic<UInt32>

  /// - Parameter raises: What ``raises`` begins with.
  init(raises: UInt32 = 0) { count = Atomic(raises) }

  /// How often ``raise(_:)`` has called its closure.
  var raises: UInt32 { count.load(ordering: .relaxed) }

  /// Calls `wake`, unless the signal is raised already. Any thread.
  func raise(_ wake: () -> Void) {
    if !tryRaise() { return }
    count.wrappingAdd(1, ordering: .relaxed)
    wake()
  }

  // Both exchanges acquire and release (and more): the one that comes later in the order of the word sees what the other
  // thread did before the earlier one. So the check after `lower()` finds what was pushed before a `tryRaise()` that returned
  // false until then.

  /// Returns whether this call raised it: then the caller must make the rounds run, or go on with them.
  private func tryRaise() -> Bool { !isRaised.exchange(true, ordering: .sequentiallyConsistent) }

  /// Lowers it, before the last check; returns whether it was raised.
  private func lower() -> Bool { isRaised.exchange(false, ordering: .sequentiallyConsistent) }

  /// Lowers the signal if the loop has nothing to do, so that what comes raises it. The thread that runs the rounds.
  ///
  /// - Returns: Whether the rounds are over for now, and when the first timer is due.
  func lower(after stepper: LoopStepper) -> (isIdle: Bool, deadline: Int64?) {
    let (isIdle, deadline) = stepper.checkForWork()
    if !isIdle { return (false, nil) }
    let state = stepper.loop.state
    // It is not raised if these rounds ran for a timer, or as a final check.
    if lower() {
      state.monitor.notePark()
      state.monitor.noteWakes(total: raises)
    }
    // A loop that was closed since the last round needs one more, in which it ends.
    let isOver = !state.inbox.isWaiting && !state.isEnding
    return (isOver || !tryRaise(), deadline)
  }
}
