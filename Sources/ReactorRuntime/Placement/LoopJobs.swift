import ReactorCore

/// Jobs and timers: what a loop runs besides reactors.
extension Loop {
  /// Runs `job` once on the loop, after what its thread is doing now; jobs of one thread in their order.
  ///
  /// Any thread, also from inside a turn. Once the loop was shut down only its own turns and jobs get jobs
  /// in, until it is over.
  ///
  /// - Throws: ``LoopError/closed``, or ``LoopError/full`` if as many wait as `jobCapacity` allows; then the
  ///   job is not run.
  public func execute(_ job: @escaping @Sendable () -> Void) throws(LoopError) {
    try state.post(evenIfClosed: isCurrent) { $0.jobs.append(.closure(job)) }
  }

  /// Runs `body` once on the loop, as soon as that time has passed.
  ///
  /// Any thread. It runs whether or not anybody holds the answer. What is not due when the loop is shut down
  /// is not run.
  ///
  /// - Returns: What prevents it, unless it has begun, and lets go at once of what it captures; any thread.
  ///   On the loop: once `dispose()` has returned, it does not run.
  /// - Throws: As ``execute(_:)``; ``LoopError/closed`` also from inside a turn.
  /// - Complexity: O(log n) on the loop, with n timers.
  @discardableResult
  public func schedule(
    after delay: Duration, _ body: @escaping @Sendable () -> Void
  ) throws(LoopError) -> any Disposable {
    try schedule(atTime: MonotonicTime.after(delay), body)
  }

  /// As ``schedule(after:_:)``, at a moment; at once if it has passed.
  @discardableResult
  public func schedule(
    at instant: ContinuousClock.Instant, _ body: @escaping @Sendable () -> Void
  ) throws(LoopError) -> any Disposable {
    try schedule(atTime: MonotonicTime.at(instant), body)
  }

  private func schedule(
    atTime deadline: Int64, _ body: @escaping @Sendable () -> Void
  ) throws(LoopError) -> any Disposable {
    let timer = LoopTimer(at: deadline, countedBy: state.cancelledTimers, body)
    try state.post { $0.timers.append(timer) }
    return timer
  }
}

extension LoopState {
  /// Takes in a job or a timer. Any thread.
  ///
  /// - Parameter evenIfClosed: The loop's thread: as long as it is not over.
  func post(
    evenIfClosed: Bool = false, _ add: (inout InboxContents) -> Void
  ) throws(LoopError) {
    var refusal = LoopError.closed
    let isPosted = intake.post(
      unless: { mail in
        if mail.isOver || (isClosed && !evenIfClosed) { return true }
        refusal = .full
        return isFull(&mail)
      },
      { mail in
        mail.submitted += 1
        add(&mail)
      })
    if !isPosted { throw refusal }
  }

  private func isFull(_ mail: inout InboxContents) -> Bool {
    let waiting = mail.submitted - monitor.tasksDone.load(ordering: .relaxed)
    if waiting < jobCapacity { return false }
    // Timers that were cancelled do not count, but they must not pile up either while the loop is busy.
    let swept = mail.removeCancelledTimers()
    cancelledTimers.remove(swept)
    return waiting - swept - cancelledTimers.wasCount >= jobCapacity
  }

  /// Takes in a piece of a task, whatever the loop's state is. Any thread.
  func post(_ job: UnownedJob, for executor: any SerialExecutor) {
    let job = LoopJob.task(job, executor)
    let isPosted = intake.post(
      unless: { $0.isOver },
      { mail in
        mail.submitted += 1
        mail.jobs.append(job)
      })
    // Over, or about to be.
    if !isPosted { ending.whenOver { [self] in lateJobs.submit(job, to: self) } }
  }
}

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
