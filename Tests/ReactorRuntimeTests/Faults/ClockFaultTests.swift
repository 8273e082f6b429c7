import FaultyPlatform
import Glibc
import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// A clock that stands still, or jumps forward.
@Suite struct ClockFaultTests {
  /// In steps: time passes only where the test says so.
  @Test
  func `timers follow the clock`() throws {
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
    // Due at the very moment, and not before.
    faulty_stop_clock(start + 10_000_000_000)
    #expect(hosted.run() == 1)
    #expect(ran.elements == [10])
    // A jump over several: all of them, in their order.
    faulty_stop_clock(start + 100 * 3_600_000_000_000)
    #expect(hosted.run() == 2)
    #expect(ran.elements == [10, 20, 3600])
    #expect(hosted.run() == 0)
  }

  /// The kernel's time goes on, and wakes the loop; by its own clock it is too early, so it sleeps again.
  @Test
  func `loop whose clock stands still sleeps on`() throws {
    let loop = try Loop(waiting: .parking(afterSpins: 1))
    let hasRun = Gate()
    let isSet = Gate()
    // The clock of the loop's thread.
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
    // It is not deaf meanwhile.
    let reactor = Script(on: .loop(loop))
    reactor.send(1)
    #expect(Threads.yield { reactor.currentState == [1] })
    #expect(!hasRun.isOpen)
    try loop.execute { faulty_stop_clock(-1) }
    #expect(hasRun.wait())
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  /// After a jump the time to sleep is none, not a negative one, which would be for ever.
  @Test
  func `loop whose clock jumps does not sleep for ever`() throws {
    let loop = try Loop(waiting: .parking(afterSpins: 1))
    let hasRun = Gate()
    try loop.schedule(after: .seconds(3600)) { hasRun.open() }
    // The timer is known to the loop, which is about to sleep for an hour.
    #expect(Threads.yield { loop.counters.parks >= 1 })
    #expect(!hasRun.isOpen)
    try loop.execute { faulty_stop_clock(.max / 2) }
    #expect(hasRun.wait())
    try loop.execute { faulty_reset() }
    #expect(Threads.start { loop.shutdown() }.wait())
  }
}
