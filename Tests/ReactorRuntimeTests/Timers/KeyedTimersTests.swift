import ReactorCore
import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// Timers by key. Time is virtual, one second a tick, where a test does not say otherwise.
@Suite struct KeyedTimersTests {
  @Test func `a timer sends its action when its time has come, and not before`() {
    let time = TestScheduler(initialClock: 0)
    let sessions = Sessions(time: time)
    sessions.send(.touch("a", 10))
    sessions.send(.touch("b", 200))
    time.advanceTo(9)
    #expect(sessions.expired == [])
    time.advanceTo(10)
    #expect(sessions.expired == ["a"])
    time.advanceTo(199)
    #expect(sessions.expired == ["a"])
    time.advanceTo(200)
    #expect(sessions.expired == ["a", "b"])
  }

  @Test func `a timer fires at its time also if virtual time does not simulate a delay of processing`() {
    let messages = Record<String>()
    let time = TestScheduler(
      initialClock: 0, simulateProcessingDelay: false, actionLimit: 1000, onRunaway: messages.append)
    let sessions = Sessions(time: time)
    sessions.send(.touch("a", 5))
    sessions.send(.touchFor("b", .milliseconds(1400)))
    sessions.send(.touchFor("c", .milliseconds(400)))
    for (clock, expected) in [(0, []), (1, ["c"]), (2, ["c", "b"]), (4, ["c", "b"]), (5, ["c", "b", "a"])] {
      time.advanceTo(clock)
      #expect(sessions.expired == expected)
    }
    time.start()
    #expect(messages.elements == [])
  }

  @Test func `a timer that is set again starts again`() {
    let time = TestScheduler(initialClock: 0)
    let sessions = Sessions(time: time)
    for clock in [0, 30, 70, 75] {
      time.advanceTo(clock)
      sessions.send(.touch("a", 50))
    }
    time.advanceTo(124)
    #expect(sessions.expired == [])
    time.advanceTo(1000)
    #expect(sessions.expired == ["a"])
    sessions.send(.touch("a", 5))
    sessions.send(.touch("a", 1))
    time.advanceTo(1001)
    #expect(sessions.expired == ["a", "a"])
    time.advanceTo(1010)
    #expect(sessions.expired == ["a", "a"])
  }

  @Test func `a resolution of any length is accepted`() throws {
    for resolution in [Duration.seconds(Int64.max), .seconds(5_000_000_000)] {
      let loop = try SteppedLoop()
      let sessions = Sessions(on: loop.placement, time: nil, resolution: resolution)
      sessions.send(.touch("a", 1))
      sessions.send(.touchFor("b", .seconds(Int64.max)))
      loop.run()
      #expect(sessions.expired == [])
      loop.shutdown()
    }
  }

  @Test func `timers can be set near the end of what nanoseconds can count`() {
    let time = TestScheduler(initialClock: 0)
    let sessions = Sessions(time: time)
    time.advanceTo(8_000_000_000)
    sessions.send(.touchFor("a", .seconds(Int64.max)))
    sessions.send(.touchFor("b", Duration(attoseconds: .max)))
    sessions.send(.touch("c", 10))
    time.advanceBy(10)
    #expect(sessions.expired == ["c"])
  }

  @Test func `an action that cancels a timer wins, even if the time is over`() throws {
    let (time, loop) = (TestScheduler(initialClock: 0), try SteppedLoop())
    let sessions = Sessions(on: loop.placement, time: time)
    sessions.send(.touch("a", 10))
    sessions.send(.touch("b", 10))
    sessions.send(.touch("c", 10))
    loop.run()
    // Before the timers in the mailbox.
    sessions.send(.end("a"))
    sessions.send(.touch("b", 20))
    time.advanceTo(11)
    loop.run()
    #expect(sessions.expired == ["c"])
    time.advanceTo(31)
    loop.run()
    #expect(sessions.expired == ["c", "b"])
    loop.shutdown()
  }

  @Test func `an action of a timer that is due with others can cancel them`() {
    let time = TestScheduler(initialClock: 0)
    let sessions = Sessions(time: time, onExpiry: { $0.timers.cancel("b", in: $0) })
    for key in ["a", "b", "c"] { sessions.send(.touch(key, 10)) }
    time.advanceTo(10)
    #expect(sessions.expired == ["a", "c"])
  }

  @Test func `timers of one tick come in the order in which they were set`() {
    let time = TestScheduler(initialClock: 0)
    let sessions = Sessions(time: time)
    let keys = (0..<1000).map { "\($0)" }
    for key in keys { sessions.send(.touch(key, 100)) }
    // One batch a tick of the test's scheduler.
    time.advanceTo(110)
    #expect(sessions.expired == keys)
  }

  @Test func `one wake-up waits, however many timers there are and are set again`() {
    let time = CountedScheduler(TestScheduler(initialClock: 0))
    let sessions = Sessions(time: time)
    for round in 0..<10 {
      for key in 0..<100 { sessions.send(.touch("\(key)", 3000)) }
      time.scheduler.advanceTo(10 * (round + 1))
    }
    #expect(time.count == 1)
    time.scheduler.advanceTo(4000)
    #expect(sessions.expired.count == 100)
    // One for each level of the wheel, for those that were set first and for those that were set last.
    #expect(time.count <= 6)
  }

  @Test func `a wake-up is not late by the time that the timers before it take`() {
    let time = SetTime()
    let sessions = Sessions(time: time, onExpiry: { _ in time.advance(by: .milliseconds(50)) })
    sessions.send(.touchFor("a", .milliseconds(10)))
    sessions.send(.touchFor("b", .milliseconds(100)))
    time.advance(by: .milliseconds(10))
    time.runLast()
    #expect(sessions.expired == ["a"])
    #expect(time.lastIsDue == .milliseconds(100))
    time.advance(by: .milliseconds(40))
    time.runLast()
    #expect(sessions.expired == ["a", "b"])
  }

  @Test func `no timer fires after its reactor was closed`() throws {
    let (time, loop) = (TestScheduler(initialClock: 0), try SteppedLoop())
    let sessions = Sessions(on: loop.placement, time: time)
    sessions.send(.touch("a", 10))
    loop.run()
    sessions.close()
    time.advanceTo(100)
    loop.run()
    #expect(sessions.expired == [])
    loop.shutdown()
  }

  @Test func `no timer fires after another one that was due with it has closed the reactor`() {
    let time = TestScheduler(initialClock: 0)
    let sessions = Sessions(time: time, onExpiry: { $0.close() })
    for key in ["a", "b", "c"] { sessions.send(.touch(key, 10)) }
    time.advanceTo(100)
    #expect(sessions.expired == ["a"])
  }

  @Test func `timers do not keep a reactor, and end with it`() {
    let (time, lifetimes) = (TestScheduler(initialClock: 0), Lifetimes())
    do {
      let sessions = Sessions(time: time, tracked: lifetimes.track())
      sessions.send(.touch("a", 10))
      #expect(lifetimes.alive == 1)
    }
    #expect(lifetimes.alive == 0)
    time.advanceTo(100)
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `timers fire in real time on each placement, none early`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let sessions = Sessions(on: stage.placement, time: nil, resolution: .milliseconds(1))
    let began = ContinuousClock.now
    for key in 0..<20 { sessions.send(.touchFor("\(key)", .milliseconds(20 - key))) }
    var isEarly = false
    let isFinished = Threads.yield {
      // In this order: more time may pass before the comparison.
      let count = sessions.expired.count
      if count > 0, began.duration(to: .now) < .milliseconds(count) { isEarly = true }
      return count == 20
    }
    #expect(isFinished)
    #expect(!isEarly)
    #expect(stage.finish())
    #expect(began.duration(to: .now) >= .milliseconds(20))
  }

  @Test func `timers fire also if their loop has no room for a wake-up`() throws {
    let loop = try Loop(jobCapacity: 1)
    try loop.schedule(after: .seconds(3600)) {}
    #expect(throws: LoopError.full) { try loop.execute {} }
    let sessions = Sessions(on: .loop(loop), time: nil, resolution: .milliseconds(1))
    for key in ["a", "b"] {
      sessions.send(.touchFor(key, .milliseconds(1)))
      #expect(Threads.yield(seconds: 60) { sessions.expired.last == key })
    }
    #expect(sessions.expired == ["a", "b"])
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test func `the wake-up of timers that are gone leaves room in their loop`() throws {
    let loop = try Loop(jobCapacity: 1)
    do {
      let sessions = Sessions(on: .loop(loop), time: nil)
      sessions.send(.touch("a", 3600))
      #expect(Threads.yield { loop.counters.waitingJobs == 1 })
      #expect(throws: LoopError.full) { try loop.execute {} }
      withExtendedLifetime(sessions) {}
    }
    // The loop may have the last reference.
    #expect(Threads.yield { (try? loop.execute {}) != nil })
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test func `the wake-up of timers whose reactor was closed by one of them leaves room in their loop`()
    throws
  {
    let loop = try Loop(jobCapacity: 1)
    let sessions = Sessions(on: .loop(loop), time: nil, onExpiry: { $0.close() })
    sessions.send(.touchFor("a", .milliseconds(20)))
    // So late that the wheel has nothing to do before.
    sessions.send(.touchFor("b", .seconds(1 << 40)))
    #expect(Threads.yield { sessions.expired == ["a"] })
    #expect(Threads.yield { (try? loop.execute {}) != nil })
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(sessions.expired == ["a"])
  }

  @Test func `a wake-up that finds its reactor closed is the last one`() {
    let time = CountedScheduler(TestScheduler(initialClock: 0))
    let sessions = Sessions(time: time)
    sessions.send(.touch("a", 10))
    sessions.close()
    let count = time.count
    time.scheduler.advanceTo(100)
    #expect(time.count == count)
    #expect(sessions.isClosed)
  }

  @Test func `a turn asks which timers are set, and how many`() {
    let time = TestScheduler(initialClock: 0)
    let sessions = Sessions(time: time)
    let (areSet, counts, wereSet) = (Record<[Bool]>(), Record<Int>(), Record<[Bool]>())
    func look() {
      sessions.send(
        .run { [unowned sessions] in
          areSet.append(["a", "b"].map { sessions.timers.isSet($0, in: sessions) })
          counts.append(sessions.timers.count(in: sessions))
        })
    }
    func cancel() {
      sessions.send(
        .run { [unowned sessions] in
          wereSet.append(["a", "b"].map { sessions.timers.cancel($0, in: sessions) })
        })
    }
    look()
    sessions.send(.touch("a", 10))
    sessions.send(.touch("b", 100))
    look()
    time.advanceTo(20)
    look()
    cancel()
    look()
    cancel()
    #expect(areSet.elements == [[false, false], [true, true], [false, true], [false, false]])
    #expect(counts.elements == [0, 2, 1, 0])
    #expect(wereSet.elements == [[false, true], [false, false]])
  }

  @Test func `a full mailbox delays timers, and loses none`() {
    let time = TestScheduler(initialClock: 0, resolution: 0.001)
    let (isInside, mayGoOn) = (Gate(), Gate())
    let sessions = Sessions(time: time, capacity: 2)
    sessions.send(.touchFor("a", .milliseconds(20)))
    let isDone = Threads.start {
      sessions.send(
        .run {
          isInside.open()
          _ = mayGoOn.wait()
        })
    }
    #expect(isInside.wait())
    for _ in 0..<2 { sessions.send(.run {}) }
    time.advanceTo(40)
    #expect(sessions.expired == [])
    mayGoOn.open()
    #expect(isDone.wait())
    time.advanceTo(45)
    #expect(sessions.expired == ["a"])
  }

  @Test func `a timer that is used outside of turns stops the program`() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let sessions = Sessions(time: nil)
      sessions.timers.set("a", after: .seconds(1), in: sessions)
    }
    #expect(stop?.standardErrorContent.says("outside of a turn of its reactor") == true)
  }

  @Test func `a timer that is used in a reduce that runs twice stops the program`() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Reducing(.replayed).send(1)
    }
    #expect(stop?.standardErrorContent.says("a timer was used in reduce") == true)
    await #expect(processExitsWith: .success) {
      Reducing(.onDemand).send(1)
      Reducing(.copied).send(1)
      Sessions(time: nil, snapshots: .replayed).send(.touch("a", 10))
    }
  }

  @Test func `timers that two reactors share stop the program`() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (one, other) = (Sessions(time: nil), Sessions(time: nil))
      one.send(.touch("a", 10))
      other.send(.run { [unowned other] in one.timers.set("a", after: .seconds(1), in: other) })
    }
    #expect(stop?.standardErrorContent.says("outside of a turn of its reactor") == true)
    await #expect(processExitsWith: .success) {
      let (one, other) = (Sessions(time: nil), Sessions(time: nil))
      one.send(.touch("a", 10))
      other.send(.run { [unowned other] in other.timers.set("a", after: .seconds(1), in: other) })
    }
  }
}

/// Sets its timers in `reduce`.
private final class Reducing: Reactor {
  let initialState = 0
  let runtime: Runtime<Int, Int, Int>
  let timers = KeyedTimers<Int, Int> { _ in 0 }

  init(_ snapshots: SnapshotPolicy) { runtime = Runtime(snapshots: snapshots) }

  func reduce(into state: inout Int, mutation: Int) {
    state += mutation
    timers.set(1, after: .seconds(1000), in: self)
  }
}

/// Sessions that expire. The state lists the keys of those that have.
private final class Sessions: Reactor {
  enum Action: Sendable {
    case touch(String, Int)
    case touchFor(String, Duration)
    case end(String)
    case expire(String)
    case run(@Sendable () -> Void)
  }
  typealias Mutation = String

  let initialState: [String] = []
  let runtime: Runtime<Action, String, [String]>
  let timers: KeyedTimers<String, Action>
  private let onExpiry: @Sendable (Sessions) -> Void
  private let tracked: LifetimeTracked?

  init(
    on placement: Placement = .caller, time: (any SchedulerType)?, resolution: Duration = .milliseconds(10),
    capacity: Int = 4096, snapshots: SnapshotPolicy = .automatic, tracked: LifetimeTracked? = nil,
    onExpiry: @escaping @Sendable (Sessions) -> Void = { _ in }
  ) {
    runtime = Runtime(on: placement, snapshots: snapshots, capacity: capacity)
    timers = KeyedTimers(resolution: resolution, on: time) { .expire($0) }
    self.tracked = tracked
    self.onExpiry = onExpiry
  }

  var expired: [String] { currentState }

  func mutate(action: Action) -> Observable<String> {
    switch action {
    case .touch(let key, let seconds): timers.set(key, after: .seconds(seconds), in: self)
    case .touchFor(let key, let delay): timers.set(key, after: delay, in: self)
    case .end(let key): timers.cancel(key, in: self)
    case .run(let body): body()
    case .expire(let key):
      onExpiry(self)
      return .just(key)
    }
    return .empty()
  }

  func reduce(into state: inout [String], mutation: String) { state.append(mutation) }
}

/// Time that a test sets, also inside of what it runs. It runs what was scheduled last, when the test says so.
private final class SetTime: SchedulerType {
  private let time = SystemMutex(Duration.zero)
  private let dueTimes = Record<Duration>()
  private let actions = Record<@Sendable () -> Void>()

  var now: Duration { time.withLock { $0 } }
  var lastIsDue: Duration? { dueTimes.elements.last }

  func advance(by duration: Duration) { time.withLock { $0 += duration } }

  func runLast() { actions.elements.last?() }

  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
    schedule(after: .zero, action)
  }

  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    dueTimes.append(now + delay)
    actions.append(action)
    return Disposables.create()
  }

  func schedulePeriodic(
    after delay: Duration, every period: Duration, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable { schedule(after: delay, action) }
}

/// Counts the wake-ups that are scheduled.
private final class CountedScheduler: SchedulerType {
  let scheduler: TestScheduler
  private let wakeUps = Record<Duration>()

  init(_ scheduler: TestScheduler) { self.scheduler = scheduler }

  var count: Int { wakeUps.elements.count }
  var now: Duration { scheduler.now }

  func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable { scheduler.schedule(action) }

  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> any Disposable {
    wakeUps.append(delay)
    return scheduler.schedule(after: delay, action)
  }

  func schedulePeriodic(
    after delay: Duration, every period: Duration, _ action: @escaping @Sendable () -> Void
  ) -> any Disposable { scheduler.schedulePeriodic(after: delay, every: period, action) }
}
