import Glibc
import ReactorCore
import TestSupport
import Testing

@testable import ReactorRuntime

/// The timers of a loop.
@Suite struct LoopTimerTests {
  @Test(arguments: LoopTests.strategies)
  func `timers run in the order of their times and never early`(_ waiting: WaitStrategy) throws {
    let loop = try Loop(waiting: waiting)
    // On a busy machine, the time of one may have passed before it is scheduled: then they are further apart the next time.
    let isInOrder = try [1, 20, 400, 8000].contains { unit in
      try Self.runsInOrder(on: loop, unit: .milliseconds(unit))
    }
    #expect(isInOrder)
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  /// Returns false if the timers were scheduled too late to tell.
  private static func runsInOrder(on loop: Loop, unit: Duration) throws -> Bool {
    let (ran, early) = (Record<Int>(), Record<Int>())
    let delays = [30, 10, 20, 0, 25, 5, 15, -5]
    let isDone = Gate(count: delays.count)
    // Until all are there.
    let mayGoOn = try loop.hold()
    let begin = ContinuousClock.now
    for delay in delays {
      let due = begin + unit * delay
      try loop.schedule(at: due) {
        if ContinuousClock.now < due { early.append(delay) }
        ran.append(delay)
        isDone.open()
      }
    }
    let isInTime = ContinuousClock.now < begin + unit * 5
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(early.elements == [])
    #expect(Set(ran.elements) == Set(delays))
    // Those whose time had passed before may run in any order among each other.
    if isInTime { #expect(ran.elements.filter { $0 > 0 } == [5, 10, 15, 20, 25, 30]) }
    return isInTime
  }

  @Test
  func `a loop that sleeps wakes for its timer`() throws {
    let loop = try Loop()
    var hasSlept = false
    // On a busy machine the loop may learn of a timer only when it is due; then the next one is later.
    for delay in [40, 400, 4000, 40_000] where !hasSlept {
      let isDone = Gate()
      // The loop sleeps, so it is woken to learn of the timer.
      #expect(Threads.yield { loop.counters.parks > 0 })
      let before = loop.counters
      try loop.schedule(after: .milliseconds(delay)) { isDone.open() }
      #expect(isDone.wait())
      // It slept meanwhile, and only the clock woke it.
      hasSlept = loop.counters.parks > before.parks
      #expect(loop.counters.wakes <= before.wakes + 1)
    }
    #expect(hasSlept)
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test
  func `a cancelled timer does not run and releases what it captures`() throws {
    let loop = try Loop()
    let lifetimes = Lifetimes()
    let ran = Record<String>()
    let isDone = Gate()
    // Cancelled by another thread, long before it is due: what it captures is released at once.
    let distant = try loop.schedule(after: .seconds(3600)) { [tracked = lifetimes.track()] in
      _ = tracked.value
      ran.append("distant")
    }
    distant.dispose()
    #expect(lifetimes.alive == 0)
    distant.dispose()
    // Cancelled on the loop, although it is due.
    try loop.execute {
      let due = try? loop.schedule(after: .zero) { ran.append("due") }
      due?.dispose()
      _ = try? loop.schedule(after: .milliseconds(1)) { isDone.open() }
    }
    #expect(isDone.wait())
    #expect(ran.elements == [])
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test
  func `cancelled timers do not pile up`() throws {
    let loop = try Loop(jobCapacity: 1000)
    let isDone = Gate()
    // First while the loop does not take anything in, and then while it does.
    try loop.execute {
      for _ in 0..<5000 {
        guard let timer = try? loop.schedule(after: .seconds(3600), {}) else { return }
        timer.dispose()
      }
      isDone.open()
    }
    #expect(isDone.wait())
    for _ in 0..<20_000 { try loop.schedule(after: .seconds(3600)) {}.dispose() }
    #expect(Threads.yield { loop.counters.waitingJobs <= 1100 })
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test
  func `a shutdown cancels the timers that are not due`() throws {
    let loop = try Loop()
    let lifetimes = Lifetimes()
    let timer = try loop.schedule(after: .seconds(3600)) { [tracked = lifetimes.track()] in
      _ = tracked.value
    }
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(lifetimes.alive == 0)
    timer.dispose()
    #expect(loop.counters.waitingJobs == 0)
  }

  @Test
  func `a timer that is due when the loop is shut down runs`() throws {
    let loop = try Loop(turnLimit: 2)
    let (isInside, mayGoOn) = (Gate(), Gate())
    let log = Record<Int>()
    try loop.execute {
      isInside.open()
      _ = mayGoOn.wait()
    }
    #expect(isInside.wait())
    // More than a round runs.
    for number in 0..<5 { try loop.schedule(after: .milliseconds(number)) { log.append(number) } }
    try loop.schedule(after: .seconds(3600)) { log.append(-1) }
    usleep(10_000)
    loop.beginClosing()
    mayGoOn.open()
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(log.elements == Array(0..<5))
    #expect(loop.counters.waitingJobs == 0)
  }

  @Test
  func `a timer that is taken in after the loop was found closed is removed`() {
    var (tasks, contents) = (LoopTasks(), InboxContents())
    let (monitor, cancelled, lifetimes) = (LoopMonitor(), CancelledTimers(), Lifetimes())
    tasks.removeTimersNotDue(monitor, cancelled)
    contents.timers = [
      LoopTimer(at: MonotonicTime.after(.seconds(3600)), countedBy: cancelled) {
        [tracked = lifetimes.track()] in _ = tracked.value
      }
    ]
    tasks.accept(contents, monitor, cancelled)
    #expect(tasks.count == 0)
    #expect(cancelled.wasCount == 0)
    #expect(lifetimes.alive == 0)
  }

  @Test
  func `a timer that a thread beside the host takes in is not forgotten`() throws {
    let signals = Record<Void>()
    let stepper = LoopStepper(
      of: try LoopState(
        name: "signalled", waiting: .parking, turnLimit: 16, jobCapacity: 16, signal: { signals.append(()) }))
    try stepper.loop.schedule(after: .seconds(3600)) {}
    #expect(signals.elements.count == 1)
    _ = stepper.step(besideHost: true)
    // The host may have gone idle without a time to wake at.
    #expect(signals.elements.count == 2)
    stepper.shutdown()
  }

  @Test func `delays of any length are accepted`() throws {
    let loop = try Loop()
    let isDone = Gate()
    for delay in [Duration.seconds(Int64.max), .seconds(Int64.min), .zero, .nanoseconds(-1)] {
      try loop.schedule(after: delay) { if delay <= .zero { isDone.open() } }
    }
    #expect(isDone.wait())
    // The first of the three that are due has opened the gate.
    #expect(Threads.yield { loop.counters.jobs == 3 })
    try loop.schedule(at: .now.advanced(by: .seconds(1_000_000_000))) {}
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(loop.counters.jobs == 3)
  }
}
