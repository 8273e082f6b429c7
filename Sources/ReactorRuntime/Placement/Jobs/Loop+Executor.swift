import ReactorCore

/// Actors can live on a loop:
///
/// ```swift
/// actor Ledger {
///   let loop: Loop    // keeps it: an executor is not retained by its actor
///   nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
/// }
/// ```
///
/// In turns, jobs and timers of that loop, `ledger.assumeIsolated { … }` works, without a wait.
///
/// A task cannot be refused. So what comes once the loop is over is still run, in order and one at a time, on
/// a thread of Dispatch's; ``Loop/isCurrent`` and `assumeIsolated` hold there as on the loop.
extension Loop: SerialExecutor {
  /// Runs a piece of a task on the loop. Any thread; the Swift runtime calls it.
  public func enqueue(_ job: consuming ExecutorJob) { state.post(UnownedJob(job), for: self) }

  /// Any thread.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Whether the calling thread is the loop's.
  public func isIsolatingCurrentContext() -> Bool? { isCurrent }

  /// Stops the program unless the calling thread is the loop's.
  public func checkIsolated() {
    precondition(
      isCurrent,
      """
      Problem: code that belongs to an actor on the loop "\(name)" runs elsewhere.
      Likely cause: assumeIsolated was called outside of the loop's turns and jobs.
      Remedy: await the actor, or go there first: loop.execute { … }
      """)
  }
}
