import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// Tests of virtual time itself.
@Suite struct TestSchedulerTests {
  @Test func `actions run in the order of their times, and then of their scheduling`() {
    let scheduler = TestScheduler(initialClock: 0)
    let record = Record<String>()
    for (time, name) in [(30, "c"), (10, "a"), (20, "b1"), (20, "b2"), (20, "b3"), (5, "first")] {
      scheduler.scheduleAt(time) { record.append("\(name)@\(scheduler.clock)") }
    }
    scheduler.start()
    #expect(record.elements == ["first@5", "a@10", "b1@20", "b2@20", "b3@20", "c@30"])
    #expect(scheduler.clock == 30)
  }

  @Test func `a thousand actions with random times run in order`() {
    let scheduler = TestScheduler(initialClock: 0)
    let record = Record<[Int]>()
    var generator = SystemRandomNumberGenerator()
    let times = (0..<1000).map { _ in Int.random(in: 0..<50, using: &generator) }
    for (number, time) in times.enumerated() {
      scheduler.scheduleAt(time) { record.append([time, number]) }
    }
    scheduler.start()
    let expected = times.enumerated().map { [$1, $0] }.sorted { ($0[0], $0[1]) < ($1[0], $1[1]) }
    #expect(record.elements == expected)
  }

  @Test func `a tick is a second, unless the resolution says otherwise`() {
    let record = Record<String>()
    for resolution in [1, 0.01] {
      let scheduler = TestScheduler(initialClock: 5, resolution: resolution)
      _ = scheduler.schedule(after: .seconds(2)) { record.append("\(scheduler.clock)") }
      _ = scheduler.schedule(after: .milliseconds(1600)) { record.append("\(scheduler.clock)") }
      scheduler.start()
      record.append("\(scheduler.now)")
    }
    // Both run after two whole seconds, since 1.6 is rounded.
    #expect(record.elements == ["7", "7", "7.0 seconds", "165", "205", "2.05 seconds"])
  }

  @Test func `an action scheduled for now runs at the next tick, or in this one without a simulated delay`() {
    for (delays, expected) in [(true, 101), (false, 100)] {
      let scheduler = TestScheduler(initialClock: 0, simulateProcessingDelay: delays)
      let record = Record<Int>()
      scheduler.scheduleAt(100) { _ = scheduler.schedule { record.append(scheduler.clock) } }
      scheduler.start()
      #expect(record.elements == [expected])
    }
  }

  @Test(arguments: [false, true])
  func `a delay takes a tick at least, however short it is`(simulatesDelay: Bool) {
    let scheduler = TestScheduler(initialClock: 100, simulateProcessingDelay: simulatesDelay)
    let record = Record<Int>()
    for delay in [Duration.nanoseconds(1), .milliseconds(400), .milliseconds(1400)] {
      _ = scheduler.schedule(after: delay) { record.append(scheduler.clock) }
    }
    scheduler.start()
    #expect(record.elements == [101, 101, 101])
  }

  @Test(arguments: [1, 0.01, 100])
  func `a delay without an end is as far away as time goes`(resolution: Double) {
    let scheduler = TestScheduler(initialClock: 100, resolution: resolution)
    let record = Record<String>()
    for delay in [Duration.seconds(Int64.max), .seconds(Int64.min)] {
      _ = scheduler.schedule(after: delay) { record.append("\(delay < .zero ? "now" : "never")") }
    }
    _ = scheduler.schedulePeriodic(after: .seconds(5_000_000), every: .seconds(Int64.max)) {
      record.append("once")
    }
    scheduler.advanceTo(1_000_000_000)
    #expect(record.elements == ["now", "once"])
  }

  @Test func `a cancelled action does not run and is freed at once`() {
    let lifetimes = Lifetimes()
    let scheduler = TestScheduler(initialClock: 0)
    let record = Record<Int>()
    let cancelled = scheduler.schedule(after: .seconds(10)) { [tracked = lifetimes.track()] in
      record.append(tracked.value)
    }
    let periodic = scheduler.schedulePeriodic(after: .seconds(10), every: .seconds(10)) {
      [tracked = lifetimes.track()] in record.append(tracked.value)
    }
    #expect(lifetimes.alive == 2)
    cancelled.dispose()
    periodic.dispose()
    #expect(lifetimes.alive == 0)
    scheduler.start()
    #expect(record.elements.isEmpty)
    #expect(scheduler.clock == 0)
    cancelled.dispose()
    periodic.dispose()
  }

  @Test func `a periodic action does not drift, and ends when it is disposed, even by itself`() {
    let lifetimes = Lifetimes()
    let scheduler = TestScheduler(initialClock: 0)
    let record = Record<Int>()
    let holder = SerialDisposable()
    holder.disposable = scheduler.schedulePeriodic(after: .seconds(5), every: .seconds(10)) {
      [tracked = lifetimes.track()] in
      record.append(scheduler.clock + tracked.value)
      if record.elements.count == 4 { holder.dispose() }
    }
    scheduler.start()
    #expect(record.elements == [5, 15, 25, 35])
    #expect(lifetimes.alive == 0)
    #expect(scheduler.clock == 35)
  }

  @Test(arguments: [(15, [10, 25, 30, 40]), (10, [10, 20, 30, 40]), (35, [10, 45, 50, 60])])
  func `a periodic action that has taken long is late, and comes on time again`(time: Int, clocks: [Int]) {
    let scheduler = TestScheduler(initialClock: 0)
    let record = Record<Int>()
    let holder = SerialDisposable()
    holder.disposable = scheduler.schedulePeriodic(after: .seconds(10), every: .seconds(10)) {
      record.append(scheduler.clock)
      if record.elements.count == 1 { scheduler.sleep(time) }
      if record.elements.count == 4 { holder.dispose() }
    }
    scheduler.start()
    #expect(record.elements == clocks)
  }

  @Test func `time advances exactly as far as requested`() {
    let scheduler = TestScheduler(initialClock: 0)
    let record = Record<Int>()
    for time in [10, 20, 30, 40] { scheduler.scheduleAt(time) { record.append(time) } }
    scheduler.advanceTo(20)
    #expect(record.elements == [10, 20])
    #expect(scheduler.clock == 20)
    scheduler.advanceBy(5)
    #expect(scheduler.clock == 25)
    scheduler.sleep(10)
    #expect(record.elements == [10, 20])
    #expect(scheduler.clock == 35)
    scheduler.advanceBy(1)
    #expect(record.elements == [10, 20, 30])
    scheduler.start()
    #expect(record.elements == [10, 20, 30, 40])
  }

  @Test func `stop ends the run, and the next run continues`() {
    let scheduler = TestScheduler(initialClock: 0)
    let record = Record<Int>()
    for time in [10, 20, 30] {
      scheduler.scheduleAt(time) {
        record.append(time)
        if time == 20 { scheduler.stop() }
        scheduler.start()
      }
    }
    scheduler.advanceTo(100)
    #expect(record.elements == [10, 20])
    #expect(scheduler.clock == 20)
    scheduler.start()
    #expect(record.elements == [10, 20, 30])
  }

  @Test func `an endless run fails with a message`() {
    let messages = Record<String>()
    let scheduler = TestScheduler(
      initialClock: 0, simulateProcessingDelay: false, actionLimit: 1000, onRunaway: messages.append)
    @Sendable func again() { _ = scheduler.schedule(again) }
    again()
    scheduler.start()
    #expect(messages.elements.count == 1)
    #expect(messages.elements.first?.contains("for the same time, 0") == true)

    let periodic = TestScheduler(initialClock: 0, actionLimit: 1000, onRunaway: messages.append)
    _ = periodic.schedulePeriodic(after: .seconds(1), every: .seconds(1)) {}
    periodic.start()
    #expect(messages.elements.last?.contains("a periodic action is never disposed") == true)
    // The limit applies to one run, and a run that just reaches it is valid.
    periodic.advanceBy(1000)
    #expect(messages.elements.count == 2)
  }

  @Test func `other threads may schedule during a run`() {
    let scheduler = TestScheduler(initialClock: 0)
    let record = Record<Int>()
    let done = Threads.run(4) { index in
      for number in 0..<200 {
        _ = scheduler.schedule(after: .seconds(number)) { record.append(index) }
        scheduler.schedule(after: .seconds(number)) {}.dispose()
        scheduler.start()
      }
    }
    #expect(done)
    scheduler.start()
    #expect(record.elements.count == 800)
  }

  @Test func `what is due at the end of time never runs`() {
    let scheduler = TestScheduler(initialClock: 0)
    let forever = Duration.seconds(Int64.max)
    let record = Record<Event<Int>>()
    let stream = scheduler.createHotObservable([.next(10, 1)])
    let subscriptions = [
      stream.timeout(forever, scheduler: scheduler).subscribe { record.append($0) },
      Observable<Int>.interval(forever, scheduler: scheduler).subscribe { record.append($0) },
      Observable<Int>.timer(.seconds(5), period: forever, scheduler: scheduler).subscribe {
        record.append($0)
      },
    ]
    scheduler.start()
    #expect(record.elements == [.next(0), .next(1)])
    #expect(scheduler.clock == 10)
    scheduler.advanceTo(.max)
    #expect(record.elements.count == 2)
    for subscription in subscriptions { subscription.dispose() }
  }

  @Test func `the time of a scheduler with long ticks ends where a duration does`() {
    let scheduler = TestScheduler(initialClock: 0, resolution: 3600)
    let stream = scheduler.createHotObservable([.next(TestTime.max - 1, 1)])
    let record = Record<Int>()
    let subscription = stream.debounce(.seconds(1), scheduler: scheduler).subscribe(onNext: {
      record.append($0)
    })
    scheduler.advanceTo(.max)
    #expect(scheduler.now > .seconds(Int64.max))
    #expect(record.elements == [])
    subscription.dispose()
    #expect(TestScheduler(initialClock: .min, resolution: 3600).now < .seconds(Int64.min))
  }

  @Test func `an advance beyond the end of time or into the past stops the program with a message`() async {
    let advance = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      TestScheduler(initialClock: 1).advanceBy(.max)
    }
    #expect(advance?.standardErrorContent.says("time cannot go on by 9223372036854775807 from 1") == true)
    let sleep = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      TestScheduler(initialClock: 1).sleep(.max)
    }
    #expect(sleep?.standardErrorContent.says("time cannot go on by 9223372036854775807 from 1") == true)
    let past = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      TestScheduler(initialClock: 0).sleep(.min)
    }
    #expect(past?.standardErrorContent.says("time cannot go back by 9223372036854775808") == true)
  }
}
