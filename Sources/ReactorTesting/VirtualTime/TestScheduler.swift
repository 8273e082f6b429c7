import ReactorCore
import ReactorRuntime

/// A scheduler with virtual time: nothing waits, and actions run in the same order in each run of the test.
///
/// Scheduled actions run when the test calls ``start()``, ``advanceTo(_:)`` or ``advanceBy(_:)``, on the thread
/// that calls them. Actions of the same time run in the order in which they were scheduled. Any thread may
/// schedule and cancel.
///
/// The end of time, `TestTime.max`, is never reached: what is scheduled for it, such as the timer of a timeout that is as long as a
/// duration can be, does not run.
///
///     let scheduler = TestScheduler(initialClock: 0)
///     let source = scheduler.createHotObservable([.next(210, 1), .next(230, 2), .completed(300)])
///     let observer = scheduler.start { source.delay(.seconds(10), scheduler: scheduler) }
///     #expect(observer.events == [.next(220, 1), .next(240, 2), .completed(310)])
public final class TestScheduler: VirtualTimeSchedulerType {
  /// The default times of ``start(created:subscribed:disposed:create:)``.
  public enum Defaults {
    public static let created: TestTime = 100
    public static let subscribed: TestTime = 200
    public static let disposed: TestTime = 1000
  }

  private struct State: Sendable {
    var queue = ActionQueue()
    var clock: TestTime
    var isRunning = false
    /// The run ends after the current action.
    var mustStop = false

    /// Returns the time of the next action, unless that is later than `end`, or the end of time: a far away moment that does not come.
    mutating func nextTime(until end: TestTime?) -> TestTime? {
      queue.nextTime().flatMap { $0 <= end ?? .max && $0 < .max ? $0 : nil }
    }
  }

  private let state: SystemMutex<State>
  private let resolution: Double
  private let simulateProcessingDelay: Bool
  private let actionLimit: Int
  private let onRunaway: @Sendable (String) -> Void

  /// - Parameters:
  ///   - initialClock: The tick at which time begins.
  ///   - resolution: The length of a tick in seconds.
  ///   - simulateProcessingDelay: Whether an action that is scheduled for now runs at the next tick. One with a
  ///     delay, however short, always does at the earliest.
  ///   - actionLimit: The number of actions that one run may take.
  ///   - onRunaway: Called with a message if a run exceeds `actionLimit`, because an action schedules itself
  ///     again and again. The run ends then.
  public init(
    initialClock: TestTime, resolution: Double = 1, simulateProcessingDelay: Bool = true,
    actionLimit: Int = 1_000_000, onRunaway: @escaping @Sendable (String) -> Void = { fatalError($0) }
  ) {
    guard resolution > 0 else { fatalError("the resolution is \(resolution) seconds; it must be positive") }
    state = SystemMutex(State(clock: initialClock))
    self.resolution = resolution
    self.simulateProcessingDelay = simulateProcessingDelay
    self.actionLimit = actionLimit
    self.onRunaway = onRunaway
  }

  /// The current time, in ticks. Any thread.
  public var clock: TestTime { state.withLock { $0.clock } }

  /// The current time. Any thread.
  public var now: RxTimeInterval { duration(of: clock) }

  /// Limited to a half of what a duration can be, so that operators can add their own to it.
  private func duration(of ticks: TestTime) -> Duration {
    let limit = Int128.max / 2
    let (product, overflow) = Duration.seconds(resolution).attoseconds
      .multipliedReportingOverflow(by: Int128(ticks))
    return Duration(attoseconds: overflow ? (ticks < 0 ? -limit : limit) : min(max(product, -limit), limit))
  }

  /// Returns how many ticks an action waits. A delay takes one at least: what looks again after the rest of its time, which
  /// rounding has cut off, would otherwise find itself at the same time again and again.
  private func ticks(of delay: Duration) -> Int {
    let ticks = (delay / .seconds(resolution)).rounded()
    if ticks >= 1 { return Int(exactly: ticks) ?? .max }
    return delay > .zero || simulateProcessingDelay ? 1 : 0
  }

  /// Returns a time later than another one, or the end of time.
  private static func time(_ ticks: Int, after time: TestTime) -> TestTime {
    let (sum, overflow) = time.addingReportingOverflow(ticks)
    return overflow ? .max : sum
  }
}

/// Scheduling.
extension TestScheduler {
  /// Schedules an action for now. Returns a `Disposable` that cancels it. Any thread.
  public func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    schedule(after: .zero, action)
  }

  /// Schedules an action after a delay, which is rounded to the nearest tick. Returns a `Disposable` that cancels
  /// it. Any thread.
  public func schedule(
    after delay: RxTimeInterval, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable {
    scheduleIn(ticks(of: delay), action)
  }

  /// Schedules an action that repeats until the returned `Disposable` is disposed. The period does not drift,
  /// however long the action takes: after a run that was late, the next one is on time. Runs whose time comes while
  /// another one takes place are one run. Any thread.
  public func schedulePeriodic(
    after delay: RxTimeInterval, every period: RxTimeInterval, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable {
    let periodic = PeriodicAction(action)
    scheduleRun(1, at: Self.time(ticks(of: delay), after: clock), every: ticks(of: period), periodic)
    return periodic
  }

  private func scheduleRun(
    _ run: Int, at time: TestTime, every period: Int, _ periodic: PeriodicAction
  ) {
    let number = state.withLock { state in
      state.queue.insert(at: time) { [self] in
        // Schedules the next run first, so that it precedes what the action schedules for the same time.
        scheduleRun(run + 1, at: nextTime(after: time, every: period), every: period, periodic)
        periodic.run()
      }
    }
    periodic.setNext(Disposables.create { [weak self] in self?.cancel(number) }, run: run)
  }

  /// Returns the time of the next run of a periodic action, without those that were missed.
  private func nextTime(after time: TestTime, every period: Int) -> TestTime {
    let (next, clock) = (Self.time(period, after: time), clock)
    if next > clock || period == 0 { return max(next, clock) }
    return Self.time(period, after: clock - (clock - next) % period)
  }

  /// Schedules an action at a time, in ticks. Any thread.
  public func scheduleAt(_ time: TestTime, action: @escaping @Sendable () -> Void) {
    _ = state.withLock { $0.queue.insert(at: time, action) }
  }

  /// Schedules an action after a number of ticks. Returns a `Disposable` that cancels it. Any thread.
  func scheduleIn(_ ticks: TestTime, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    let number = state.withLock { $0.queue.insert(at: Self.time(ticks, after: $0.clock), action) }
    return Disposables.create { [weak self] in self?.cancel(number) }
  }

  private func cancel(_ number: Int) { _ = state.withLock { $0.queue.cancel(number) } }
}

/// Advancing the time.
extension TestScheduler {
  /// Runs all actions, and those that they schedule, until none is left or ``stop()`` is called. Does nothing if
  /// it is called from inside a run.
  public func start() { _ = run(until: nil) }

  /// Runs the actions up to and including a time, and sets the clock to that time. If ``stop()`` ends the run, the clock stays
  /// where it is, so that the next run continues there; RxTest sets it to that time also then.
  ///
  /// - Parameter time: The time, in ticks; not before the current one.
  public func advanceTo(_ time: TestTime) {
    let clock = clock
    guard time >= clock else { fatalError("time cannot go back from \(clock) to \(time)") }
    let hasRun = run(until: time)
    guard hasRun else { fatalError("advanceTo(_:) was called from inside a run of the scheduler") }
  }

  /// Runs the actions of the next `ticks` ticks, and advances the clock by them, as ``advanceTo(_:)``.
  ///
  /// - Parameter ticks: How many; not negative.
  public func advanceBy(_ ticks: TestTime) { advanceTo(Self.add(ticks, to: clock)) }

  /// Advances the clock without running any action.
  ///
  /// - Parameter ticks: By how many; not negative.
  public func sleep(_ ticks: TestTime) { state.withLock { $0.clock = Self.add(ticks, to: $0.clock) } }

  /// Stops the program with a message if the time would go back, or beyond its end.
  private static func add(_ ticks: TestTime, to clock: TestTime) -> TestTime {
    guard ticks >= 0 else { fatalError("time cannot go back by \(ticks.magnitude)") }
    let (time, overflow) = clock.addingReportingOverflow(ticks)
    guard !overflow else { fatalError("time cannot go on by \(ticks) from \(clock)") }
    return time
  }

  /// Ends the run after the current action. The next run continues with the actions that are left. Any thread.
  public func stop() { state.withLock { $0.mustStop = true } }

  /// Returns false if a run is already in progress.
  private func run(until end: TestTime?) -> Bool {
    let begins = state.withLock { state in
      if state.isRunning { return false }
      state.isRunning = true
      state.mustStop = false
      return true
    }
    guard begins else { return false }
    let begin = clock
    var count = 0
    while let action = takeNext(until: end) {
      action()
      count += 1
      if count == actionLimit, hasMore(until: end) {
        stop()
        onRunaway(runawayMessage(since: begin))
      }
    }
    return true
  }

  private func takeNext(until end: TestTime?) -> ActionQueue.Action? {
    state.withLock { state in
      if state.mustStop {
        state.isRunning = false
        return nil
      }
      if let time = state.nextTime(until: end), let next = state.queue.popFirst() {
        state.clock = max(state.clock, time)
        return next.action
      }
      state.clock = max(state.clock, end ?? state.clock)
      state.isRunning = false
      return nil
    }
  }

  private func hasMore(until end: TestTime?) -> Bool {
    state.withLock { $0.nextTime(until: end) != nil }
  }

  private func runawayMessage(since begin: TestTime) -> String {
    let clock = clock
    let cause =
      clock == begin
      ? "an action schedules itself again for the same time, \(clock)"
      : "a periodic action is never disposed; the run began at \(begin), and the time is \(clock)"
    return """
      Problem: virtual time does not end: \(actionLimit) actions have run, and more are scheduled.
      Likely cause: \(cause).
      Remedy: dispose it, use advanceTo(_:) or start(created:subscribed:disposed:create:), or raise actionLimit.
      """
  }
}

/// An action that repeats in virtual time until it is disposed.
private final class PeriodicAction: Disposable {
  private struct State: Sendable {
    var action: (@Sendable () -> Void)?
    /// Cancels the next run.
    var next: (any Disposable)?
    /// The number of the run that `next` cancels.
    var nextRun = 0
  }

  private let state: SystemMutex<State>

  init(_ action: @escaping @Sendable () -> Void) { state = SystemMutex(State(action: action)) }

  func run() { state.withLock { $0.action }?() }

  /// Stores the `Disposable` that cancels a run. A thread that schedules the first run may call this after the
  /// thread that runs the scheduler has already called it for the second, so a lower number is ignored.
  func setNext(_ next: any Disposable, run: Int) {
    let isDisposed = state.withLock { state in
      if state.action == nil { return true }
      if run > state.nextRun {
        state.next = next
        state.nextRun = run
      }
      return false
    }
    if isDisposed { next.dispose() }
  }

  func dispose() {
    let (action, next) = state.withLock { ($0.action.take(), $0.next.take()) }
    next?.dispose()
    // Destroyed outside of the lock, because its captures may run user code then.
    withExtendedLifetime(action) {}
  }
}

/// Uses virtual time for the operators that are made in `body` without a scheduler of their own.
///
/// It applies to the calling thread. A reactor on a loop makes its operators on the loop's thread; pass the
/// scheduler to those.
public func withVirtualTime<Result>(
  _ scheduler: TestScheduler, _ body: () throws -> Result
) rethrows -> Result {
  try Schedulers.$timing.withValue(scheduler, operation: body)
}

/// Uses virtual time for the operators that are made in `body`, and in the tasks that it starts, without a
/// scheduler of their own.
public func withVirtualTime<Result>(
  _ scheduler: TestScheduler, isolation: isolated (any Actor)? = #isolation,
  _ body: () async throws -> Result
) async rethrows -> Result {
  try await Schedulers.$timing.withValue(scheduler, operation: body)
}
