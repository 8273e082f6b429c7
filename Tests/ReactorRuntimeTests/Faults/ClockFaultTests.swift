import FaultyPlatform
import Glibc
import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Timers and sleeping loops when the clock stands still or jumps forward.
@Suite struct ClockFaultTests {
  /// The clock stands still, but for the steps that the test makes.
  @Test
  func `timers fire neither early nor late when the clock jumps`() throws {
    defer { faulty_reset() }
    let hosted = try HostedLoop()
    let ran = Record<Int>()
    let start = MonotonicTime.now
    faulty_stop_clock(start)
    for seconds in [3600, 10, 20] {
      try hosted.loop.schedule(after: .seconds(seconds)) { ran.append(seconds) }
    }
    for _ in 0..<5 { #expect(hosted.run() == 0) }
    faulty_stop_clock(start + 10_000_000_000 - 1)
    #expect(hosted.run() == 0)
    // A timer fires at the moment when it is due, and not before.
    faulty_stop_clock(start + 10_000_000_000)
    #expect(hosted.run() == 1)
    #expect(ran.elements == [10])
    // A jump past several timers fires all of them, in their order.
    faulty_stop_clock(start + 100 * 3_600_000_000_000)
    #expect(hosted.run() == 2)
    #expect(ran.elements == [10, 20, 3600])
    #expect(hosted.run() == 0)
  }

  /// The kernel's time passes and wakes the loop. By its own clock that is too early, so the loop sleeps again.
  @Test
  func `a loop whose clock stands still goes on sleeping`() throws {
    let loop = try Loop(waiting: .parking(after: .zero))
    let hasRun = Gate()
    let isSet = Gate()
    // Only the clock of the loop's thread stops.
    try loop.execute {
      let now = MonotonicTime.now
      faulty_stop_clock(now)
      do {
        try loop.schedule(after: .milliseconds(1)) { hasRun.open() }
      } catch {
        Issue.record(error)
      }
      isSet.open()
    }
    #expect(isSet.wait())
    let before = loop.counters.parks
    #expect(Threads.yield { loop.counters.parks >= before + 5 })
    #expect(!hasRun.isOpen)
    // Meanwhile it still processes what it is sent.
    let reactor = Script(on: .loop(loop))
    reactor.send(1)
    #expect(Threads.yield { reactor.currentState == [1] })
    #expect(!hasRun.isOpen)
    try loop.execute { faulty_stop_clock(-1) }
    #expect(hasRun.wait())
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  /// After a jump the time left to sleep is zero. A negative one would mean to sleep for ever.
  @Test
  func `a loop whose clock jumps does not sleep for ever`() throws {
    let loop = try Loop(waiting: .parking(after: .zero))
    let hasRun = Gate()
    try loop.schedule(after: .seconds(3600)) { hasRun.open() }
    // The loop knows of the timer, and is about to sleep for an hour.
    #expect(Threads.yield { loop.counters.parks >= 1 })
    #expect(!hasRun.isOpen)
    try loop.execute { faulty_stop_clock(.max / 2) }
    #expect(hasRun.wait())
    try loop.execute { faulty_reset() }
    #expect(Threads.start { loop.shutdown() }.wait())
  }
}
