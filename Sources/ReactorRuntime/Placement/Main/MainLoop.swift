import Glibc
import ReactorCore

/// The loop of the main thread, and the placement of reactors whose turns are to run there:
/// ``Placement/main``.
///
/// It works however the service runs its main thread: by ``run(handling:)``, by `RunLoop.main.run()`, by
/// `dispatchMain()`, or by an asynchronous `main`. Before any of these, what is sent waits.
///
/// Its turns are blocks of Dispatch's main queue, so they never run at the same time as code on the main
/// actor. After `dispatchMain()`, and in an asynchronous `main`, the system may run them on any thread, one
/// at a time: ``isCurrent`` says whether the caller is inside of one, and no question for a thread does.
///
/// A burst of sends wakes the main queue once.
public enum MainLoop {
  /// Why ``run(handling:)`` returned.
  public enum Ending: Sendable, Hashable {
    /// By ``stop()``.
    case stopped
    /// By one of the signals that it handles.
    case signal(Int32)
  }

  /// Whether the caller is inside a turn, a job or a timer of the main loop.
  public static var isCurrent: Bool { MainLoopHost.shared.loop.isCurrent }

  /// As that of a ``Loop``. ``LoopCounters/parks`` counts how often it came to rest,
  /// ``LoopCounters/wakes`` how often the main queue was asked to go on.
  public static var counters: LoopCounters { MainLoopHost.shared.loop.counters }

  /// As ``Loop/execute(_:)``.
  public static func execute(_ job: @escaping @Sendable () -> Void) throws(LoopError) {
    try MainLoopHost.shared.loop.execute(job)
  }

  /// As ``Loop/schedule(after:_:)``.
  @discardableResult
  public static func schedule(
    after delay: Duration, _ body: @escaping @Sendable () -> Void
  ) throws(LoopError) -> any Disposable {
    try MainLoopHost.shared.loop.schedule(after: delay, body)
  }

  /// As ``Loop/schedule(at:_:)``.
  @discardableResult
  public static func schedule(
    at instant: ContinuousClock.Instant, _ body: @escaping @Sendable () -> Void
  ) throws(LoopError) -> any Disposable {
    try MainLoopHost.shared.loop.schedule(at: instant, body)
  }

  /// Calls `body` on the main loop whenever the descriptor is ready, until the answer is disposed: again and
  /// again, as long as it is ready.
  ///
  /// Any thread. The descriptor must stay open until then; it should not block.
  ///
  /// - Returns: What ends it. On the main loop: once `dispose()` has returned, `body` is not called.
  /// - Throws: ``MainLoopError/descriptorRefused(_:)``.
  public static func watch(
    _ descriptor: Int32, for readiness: Readiness, _ body: @escaping @Sendable () -> Void
  ) throws(MainLoopError) -> any Disposable {
    try MainLoopHost.shared.watches.add(descriptor, for: readiness, body)
  }

  /// What a watched descriptor is ready for. If its other side has hung up or failed, it is ready for both.
  public enum Readiness: Sendable, Hashable {
    case readable
    case writable
  }

  /// Runs the main loop on the main thread: turns, timers, watched descriptors, and Dispatch's main queue,
  /// with it tasks on the main actor.
  ///
  /// It returns after ``stop()``, or when one of the signals comes; before that it does what was accepted, so
  /// it goes on for as long as a reactor sends to itself. It can be run again. The signals do nothing else
  /// meanwhile, and have their usual effect, or that of the handler they had, afterwards.
  ///
  /// - Parameter signals: What ends it; empty for none.
  /// - Throws: Why it cannot run here and now.
  public static func run(handling signals: [Int32] = [SIGTERM, SIGINT]) throws(MainLoopError) -> Ending {
    try MainLoopHost.shared.run(handling: signals)
  }

  /// Ends ``run(handling:)``: the one in progress, or else the next one. Any thread, also from inside a turn.
  public static func stop() { MainLoopHost.shared.stop() }
}

/// What the main loop refuses.
public enum MainLoopError: Error, Hashable, Sendable {
  /// It runs already: it was called from inside of what it runs.
  case runsAlready
  /// Not on the main thread. Behind `dispatchMain()`, and in an asynchronous `main` without Foundation, there
  /// is none any more.
  case notTheMainThread
  /// From inside a task, as in an asynchronous `main`: the main queue, which it is to run, waits for that.
  case insideATask
  /// One of the signals cannot be caught.
  case signalRefused
  /// What the system says of a descriptor, as `EBADF` or `EPERM`; or the process has none left.
  case descriptorRefused(Int32)
}

extension MainLoopError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .runsAlready: "MainLoop.run() was called from inside of what it runs; MainLoop.stop() ends it"
    case .notTheMainThread: "MainLoop.run() was called on another thread than the main thread"
    case .insideATask: "MainLoop.run() was called from a task; the main queue runs already, so leave it out"
    case .signalRefused: "MainLoop.run() was to handle a number that is no signal, or cannot be caught"
    case .descriptorRefused(let code): "the descriptor cannot be watched: \(Poller.Refusal(code: code))"
    }
  }
}

extension Placement {
  /// The turns run on the main loop: see ``MainLoop``.
  public static var main: Placement { .loop(MainLoopHost.shared.loop) }
}
