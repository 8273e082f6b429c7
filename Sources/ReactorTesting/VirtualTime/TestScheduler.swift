import ReactorCore
import ReactorRuntime

/// Virtual time: nothing waits, and everything happens in an order that is the same in each run.
///
/// What is scheduled runs when the test says so, by ``start()``, ``advanceTo(_:)`` or ``advanceBy(_:)``, on
/// the thread that calls them; of the same time, what was scheduled first. Any thread may schedule and
/// cancel.
///
///     let scheduler = TestScheduler(initialClock: 0)
///     let source = scheduler.createHotObservable([.next(210, 1), .next(230, 2), .completed(300)])
///     let observer = scheduler.start { source.delay(.seconds(10), scheduler: scheduler) }
///     #expect(observer.events == [.next(220, 1), .next(240, 2), .completed(310)])
public final class TestScheduler: SchedulerType {
  /// The times of ``start(created:subscribed:disposed:create:)`` where they are not told.
  public enum Defaults {
    public static let created: TestTime = 100
    public static let subscribed: TestTime = 200
    public static let disposed: TestTime = 1000
  }

  struct State: Sendable {
    var agenda = Agenda()
    var clock: TestTime
    var isRunning = false
    /// The run is to end after the present action.
    var mustStop = false
  }

  let state: SystemMutex<State>
  let actionLimit: Int
  let onRunaway: @Sendable (String) -> Void
  private let resolution: Double
  private let simulateProcessingDelay: Bool

  /// - Parameters:
  ///   - initialClock: The tick at which it begins.
  ///   - resolution: How many seconds a tick is.
  ///   - simulateProcessingDelay: Whether what is scheduled for now, or for less than half a tick from now,
  ///     happens at
  ///     the next tick.
  ///   - actionLimit: How many actions one run may take.
  ///   - onRunaway: Called with a message if a run takes more, because something schedules itself again and
  ///     again. The
  ///     run ends then.
  public init(
    initialClock: TestTime, resolution: Double = 1, simulateProcessingDelay: Bool = true,
    actionLimit: Int = 1_000_000, onRunaway: @escaping @Sendable (String) -> Void = { fatalError($0) }
  ) {
    precondition(resolution > 0, "the resolution is \(resolution) seconds; it must be positive")
    state = SystemMutex(State(clock: initialClock))
    self.resolution = resolution
    self.simulateProcessingDelay = simulateProcessingDelay
    self.actionLimit = actionLimit
    self.onRunaway = onRunaway
  }

  /// The present time, in ticks. Any thread.
  public var clock: TestTime { state.withLock { $0.clock } }

  /// The present time. Any thread.
  public var now: RxTimeInterval { duration(of: clock) }

  /// Any thread.
  public func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    schedule(after: .zero, action)
  }

  /// Any thread. Rounded to the nearest tick.
  public func schedule(
    after delay: RxTimeInterval, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable {
    let number = state.withLock { state in
      let time = ticks(duration(of: state.clock) + delay)
      let soonest = state.clock + (simulateProcessingDelay ? 1 : 0)
      return state.agenda.insert(at: time <= state.clock ? soonest : time, action)
    }
    return Disposables.create { [weak self] in self?.cancel(number) }
  }

  /// Any thread. As a timer of the system's, it does not shift, however long the action takes.
  public func schedulePeriodic(
    after delay: RxTimeInterval, every period: RxTimeInterval, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable {
    let periodic = PeriodicAction(action)
    scheduleTick(1, after: delay, every: period, periodic)
    return periodic
  }

  private func scheduleTick(
    _ tick: Int, after delay: RxTimeInterval, every period: RxTimeInterval, _ periodic: PeriodicAction
  ) {
    let next = schedule(after: delay) { [self] in
      // First, so that it comes before what the action schedules for the same time.
      scheduleTick(tick + 1, after: period, every: period, periodic)
      periodic.run()
    }
    periodic.hold(next, tick)
  }

  /// Runs `action` at a time, in ticks. Any thread.
  public func scheduleAt(_ time: TestTime, action: @escaping @Sendable () -> Void) {
    _ = state.withLock { $0.agenda.insert(at: time, action) }
  }

  /// As ``scheduleAt(_:action:)``, so many ticks from now, with what cancels it.
  func scheduleIn(_ ticks: TestTime, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    let number = state.withLock { $0.agenda.insert(at: $0.clock + ticks, action) }
    return Disposables.create { [weak self] in self?.cancel(number) }
  }

  private func cancel(_ number: Int) { _ = state.withLock { $0.agenda.cancel(number) } }

  private func duration(of ticks: TestTime) -> Duration { .seconds(resolution) * ticks }

  private func ticks(_ duration: Duration) -> TestTime { Int((duration / .seconds(resolution)).rounded()) }
}
