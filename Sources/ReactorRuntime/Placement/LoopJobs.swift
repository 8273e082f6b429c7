import Dispatch
import ReactorCore

/// What a loop runs besides reactors: jobs and timers.
extension Loop {
  /// Runs `job` once on the loop, after what its thread is doing now. Jobs that one thread submits run in their order.
  ///
  /// Any thread, also from inside a turn. After the loop was shut down, it accepts jobs only from its own turns and
  /// jobs, until it has ended.
  ///
  /// - Throws: ``LoopError/closed``, or ``LoopError/full`` if as many wait as `jobCapacity` allows; then the
  ///   job is not run.
  public func execute(_ job: @escaping @Sendable () -> Void) throws(LoopError) {
    try state.post(evenIfClosed: isCurrent) { $0.jobs.append(.closure(job)) }
  }

  /// Runs `body` once on the loop, as soon as that time has passed.
  ///
  /// Any thread. It runs even if nothing holds the returned `Disposable`. A timer that is not due when the loop is shut
  /// down does not run.
  ///
  /// - Returns: What cancels the timer, unless its body has begun, and at once releases what it captures. Any thread
  ///   may dispose of it; if the loop itself does, the body does not run afterwards.
  /// - Throws: Like ``execute(_:)``; ``LoopError/closed`` also from inside a turn.
  /// - Complexity: O(log n) on the loop, with n timers.
  @discardableResult
  public func schedule(
    after delay: Duration, _ body: @escaping @Sendable () -> Void
  ) throws(LoopError) -> any Disposable {
    try state.schedule(at: MonotonicTime.after(delay), body)
  }

  /// Runs `body` once on the loop at that time, or as soon as possible if it has passed: like ``schedule(after:_:)``.
  @discardableResult
  public func schedule(
    at instant: ContinuousClock.Instant, _ body: @escaping @Sendable () -> Void
  ) throws(LoopError) -> any Disposable {
    try state.schedule(at: MonotonicTime.at(instant), body)
  }
}

/// Why a loop refused a job or a timer.
public enum LoopError: Error, Hashable, Sendable {
  /// The loop was shut down.
  case closed
  /// As many jobs and timers wait as the loop's `jobCapacity` allows.
  case full
}

extension LoopError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .closed: "the loop was shut down"
    case .full: "too many jobs and timers wait for the loop"
    }
  }
}

extension LoopState {
  /// Takes in a timer. Any thread.
  ///
  /// - Parameter deadline: In the time of `MonotonicTime`.
  func schedule(
    at deadline: Int64, _ body: @escaping @Sendable () -> Void
  ) throws(LoopError) -> any Disposable {
    let timer = LoopTimer(at: deadline, countedBy: cancelledTimers, body)
    try post { $0.timers.append(timer) }
    return timer
  }

  /// Takes in a job or a timer. Any thread.
  ///
  /// - Parameter evenIfClosed: Whether it is accepted until the loop is sealed: for what the loop's own turns and jobs
  ///   submit.
  func post(
    evenIfClosed: Bool = false, _ add: (inout InboxContents) -> Void
  ) throws(LoopError) {
    var refusal = LoopError.closed
    let isPosted = inbox.post(
      unless: { contents in
        if evenIfClosed ? lifecycle.isSealed : isClosed { return true }
        refusal = .full
        return !tryMakeRoom(in: &contents)
      },
      { contents in
        contents.submitted += 1
        add(&contents)
      })
    if !isPosted { throw refusal }
  }

  /// Returns whether fewer jobs and timers wait than `jobCapacity` allows. Under the lock of the inbox.
  private func tryMakeRoom(in contents: inout InboxContents) -> Bool {
    // Relaxed: an old number of finished ones only refuses a job that would just have found room.
    let waiting = contents.submitted - monitor.tasksDone.load(ordering: .relaxed)
    if waiting < jobCapacity { return true }
    // Cancelled timers do not count, but they must not pile up in the inbox either while the loop is busy.
    let cancelled = cancelledTimers.wasCount
    cancelledTimers.remove(contents.removeCancelledTimers(ifMany: cancelledTimers.wasTotal))
    return waiting - cancelled < jobCapacity
  }

  /// Takes in a piece of a task, which cannot be refused, in any phase of the loop's life. Any thread.
  func postInAnyPhase(_ job: LoopJob) {
    let isPosted = inbox.post(
      unless: { _ in lifecycle.isSealed },
      { contents in
        contents.submitted += 1
        contents.jobs.append(job)
      })
    // Sealed: the loop has ended, or is about to.
    if !isPosted { lateJobs.submit(job, to: self) }
  }
}

/// Actors can live on a loop:
///
/// ```swift
/// actor Ledger {
///   let loop: Loop    // an actor does not retain its executor
///   nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
/// }
/// ```
///
/// Turns, jobs and timers of that loop may call `ledger.assumeIsolated { … }`, which does not wait.
///
/// Tasks can prefer it, for what belongs to no actor: `Task(executorPreference: loop) { … }`.
///
/// A task cannot be refused. So the pieces of tasks that come after the loop has ended still run, in order and one at a
/// time, on a thread of Dispatch's. There, too, ``Loop/isCurrent`` is true and `assumeIsolated` works.
extension Loop: SerialExecutor, TaskExecutor {
  /// Runs a piece of a task on the loop. Any thread; the Swift runtime calls it.
  public func enqueue(_ job: consuming ExecutorJob) { state.postInAnyPhase(.task(UnownedJob(job), self)) }

  /// The reference that an actor returns as its executor. Any thread.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Whether the calling thread is inside of a turn, a job or a timer of the loop. The Swift runtime calls it.
  public func isIsolatingCurrentContext() -> Bool? { isCurrent }

  /// Stops the program unless ``Loop/isCurrent``. The Swift runtime calls it.
  public func checkIsolated() {
    guard isCurrent else {
      fatalError(
        """
        Problem: code that belongs to an actor on the loop "\(name)" runs elsewhere.
        Likely cause: assumeIsolated was called outside of the loop's turns and jobs.
        Remedy: await the actor, or go there first: loop.execute { … }
        """)
    }
  }
}

/// Runs the pieces of tasks that a loop receives after it has ended. They cannot be refused, because a task
/// that is refused a piece never ends. So a thread of Dispatch runs them in the place of the loop's thread:
/// one at a time, in order.
///
/// A ``SerialDrain`` whose drainer is not named: nobody waits for it, and what is queued is not bounded.
final class LateJobs: Sendable {
  private let jobs = SystemMutex(SerialDrain<LoopJob>())

  /// Runs a job once the loop has ended. Call it when the loop is sealed. Any thread.
  ///
  /// The job has its place in the order from now on, also if it is the first one, and must wait for the end.
  func submit(_ job: LoopJob, to loop: LoopState) {
    let submission = jobs.withLock { $0.enqueue(job, on: 0) }
    guard case .becameDrainer = submission else { return }
    loop.whenEnded { DispatchQueue.global().async { self.run(in: loop) } }
  }

  private func run(in loop: LoopState) {
    // Marks the thread as the loop's only during a job, because another thread may become the drainer before this one
    // returns.
    SerialDrain.drain(
      takeBatch: { jobs.withLock { $0.takeBatch() } }, handle: { job in loop.asCurrent { job.run() } })
  }
}
