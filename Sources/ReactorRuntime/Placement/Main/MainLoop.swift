import Glibc
import ReactorCore

/// The loop of the main thread. Reactors with the placement ``Placement/main`` run their turns there.
///
/// It works however the service runs its main thread: by ``run(handling:)-66hfa``, by `RunLoop.main.run()`, by
/// `dispatchMain()`, or by an asynchronous `main`. Before any of these, what is sent waits.
///
/// The turns run in blocks of Dispatch's main queue, so they never run at the same time as code on the main
/// actor. If a turn runs a run loop itself, as `Process.waitUntilExit()` of Foundation does, such code may run in the middle of
/// that turn, and what is sent to this loop waits until the turn has ended.
///
/// After `dispatchMain()`, and in an asynchronous `main`, the system may run the turns on any thread, one
/// at a time. So ``isCurrent`` tells whether the caller is inside of one; which thread it is on does not.
///
/// A burst of sends wakes the main queue once.
///
/// Nobody else makes room while code on the main actor waits for room in a mailbox of a reactor here. So such a send runs rounds of this
/// loop before it returns: turns, jobs and timers of any reactor of it, in the middle of that code. Where that must not happen, use
/// ``Reactor/trySend(_:)``, ``Reactor/sendSuspending(_:before:)``, or another ``OverflowPolicy``.
public enum MainLoop {
  /// Why ``run(handling:)-66hfa`` returned.
  public enum Ending: Sendable, Hashable {
    /// ``MainLoop/stop()`` was called.
    case stopped
    /// One of the signals that it handles came.
    case signal(Int32)
  }

  /// Whether the caller is inside a turn, a job or a timer of the main loop. Any thread.
  public static var isCurrent: Bool { MainLoopRunner.shared.loop.isCurrent }

  /// What the main loop has done so far; like ``Loop/counters``. Any thread. ``LoopCounters/parks`` counts how often it
  /// ran out of work, and ``LoopCounters/wakes`` how often a sender had to enqueue a block in the main queue.
  public static var counters: LoopCounters { MainLoopRunner.shared.loop.counters }

  /// Runs `job` once on the main loop: like ``Loop/execute(_:)``. Any thread.
  public static func execute(_ job: @escaping @Sendable () -> Void) throws(LoopError) {
    try MainLoopRunner.shared.loop.execute(job)
  }

  /// Runs `body` once on the main loop, as soon as that time has passed: like ``Loop/schedule(after:_:)``. Any thread.
  @discardableResult
  public static func schedule(
    after delay: Duration, _ body: @escaping @Sendable () -> Void
  ) throws(LoopError) -> any Disposable {
    try MainLoopRunner.shared.loop.schedule(after: delay, body)
  }

  /// Runs `body` once on the main loop, at that time: like ``Loop/schedule(at:_:)``. Any thread.
  @discardableResult
  public static func schedule(
    at instant: ContinuousClock.Instant, _ body: @escaping @Sendable () -> Void
  ) throws(LoopError) -> any Disposable {
    try MainLoopRunner.shared.loop.schedule(at: instant, body)
  }

  /// Calls `body` on the main loop as long as the descriptor is ready, again and again, until the returned
  /// `Disposable` is disposed of.
  ///
  /// Any thread. The descriptor must stay open until then, and should be non-blocking. Close it on the main loop: in `body`,
  /// or by `MainLoop.execute { watch.dispose(); close(descriptor) }`.
  ///
  /// - Returns: What ends the watch. If the main loop calls `dispose()`, `body` is not called afterwards; another
  ///   thread that calls it may find that `body` is running or about to be called, so it must not close the descriptor.
  /// - Throws: ``MainLoopError/descriptorRefused(_:)``.
  public static func watch(
    _ descriptor: Int32, for readiness: Readiness, _ body: @escaping @Sendable () -> Void
  ) throws(MainLoopError) -> any Disposable {
    try MainLoopRunner.shared.watch(descriptor, for: readiness, body)
  }

  /// What a watched descriptor is ready for. If its other side has hung up or failed, it is ready for both.
  public enum Readiness: Sendable, Hashable {
    case readable
    case writable
  }

  /// Runs the main loop on the main thread: turns, jobs, timers, watched descriptors, and Dispatch's main queue with the
  /// tasks on the main actor.
  ///
  /// It returns after ``stop()``, or when one of the signals comes. Before it returns it runs what was accepted, so it
  /// never returns while a reactor goes on sending to itself, or while other threads send to reactors here faster than these
  /// process it: stop those threads before. It also runs what that leaves in the main queue, but for 100 ms at
  /// most: a block that enqueues itself again is left there. It can be run again. Meanwhile the signals have no other
  /// effect; afterwards they have the one that they had before, also a second one that came meanwhile.
  ///
  /// A thread of its own receives the signals, and only that thread blocks them: what turns start, threads and other programs,
  /// begins with the signal mask of the main thread.
  ///
  /// - Parameter signals: The signals that end it; may be empty.
  /// - Returns: Why it ended.
  /// - Throws: ``MainLoopError``, if it cannot run here and now.
  public static func run(handling signals: [Int32] = [SIGTERM, SIGINT]) throws(MainLoopError) -> Ending {
    try MainLoopRunner.shared.run(handling: signals)
  }

  /// Ends `run`: the one in progress, or else the next one. Any thread, also from inside a turn.
  public static func stop() { MainLoopRunner.shared.stop() }
}

/// Why the main loop cannot run, or cannot watch a descriptor.
public enum MainLoopError: Error, Hashable, Sendable {
  /// It runs already: `run` was called from inside of something that it runs, or while a task is in `await MainLoop.run()`.
  case runsAlready
  /// `run` was called on another thread than the main thread. After `dispatchMain()`, and in an asynchronous `main`
  /// without Foundation, there is no main thread any more.
  case notTheMainThread
  /// A task called `run` without `await`: the main queue, which it would run, waits for that task. So do the statements of a
  /// `main.swift` with an `await`, where Swift prefers that form even behind `await`: use `@main` with a `static func main() async`.
  case insideATask
  /// A block of the main queue called `run`, for example under `RunLoop.main`: the queue, which it would run, waits for that block.
  case insideTheMainQueue
  /// One of the signals cannot be caught.
  case signalRefused
  /// The system refused to watch a descriptor, with a code such as `EBADF` or `EPERM`; or the process has no
  /// descriptors left, or with `EAGAIN` no threads.
  case descriptorRefused(Int32)
}

extension MainLoopError {
  /// Why signals cannot be caught.
  init(_ error: CoreError) {
    self =
      switch error {
      case .signalIsInvalid: .signalRefused
      case .outOfMemory: .descriptorRefused(ENOMEM)
      default: .descriptorRefused(EMFILE)
      }
  }
}

extension MainLoopError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .runsAlready:
      "MainLoop.run() was called from inside of what it runs, or beside another run; MainLoop.stop() ends it"
    case .notTheMainThread: "MainLoop.run() was called on another thread than the main thread"
    case .insideATask:
      """
      MainLoop.run() was called by a function that a task runs; in an asynchronous one: await MainLoop.run(). In top-level code \
      with an await, Swift takes this form all the same: write @main with a static func main() async
      """
    case .insideTheMainQueue: "MainLoop.run() was called by a block of the main queue, which it would run"
    case .signalRefused: "MainLoop.run() was to handle a number that is no signal, or cannot be caught"
    case .descriptorRefused(let code): "the descriptor cannot be watched: \(Poller.Refusal(code: code))"
    }
  }
}
