import TestSupport
import Testing

@testable import ReactorRuntime

/// The timers that were cancelled before their loop has taken them in.
@Suite struct CancelledTimerTests {
  @Test func `cancelled timers are removed once they are a quarter`() {
    let cancelled = CancelledTimers()
    var contents = InboxContents()
    for _ in 0..<100 { contents.timers.append(LoopTimer(at: 0, countedBy: cancelled) {}) }
    contents.submitted = 100
    var removed = 0
    for (index, timer) in contents.timers.enumerated() where index % 3 == 0 {
      timer.dispose()
      removed += contents.removeCancelledTimers(ifMany: cancelled.wasTotal)
      #expect(removed == (index >= 72 ? 25 : 0))
    }
    #expect(contents.timers.count == 75)
    #expect(contents.submitted == 75)
    // They do not count twice.
    #expect(contents.removeCancelledTimers(ifMany: cancelled.wasTotal) == 0)
  }

  /// The lock of the inbox is held while the cancelled ones are looked for.
  @Test func `a loop at its limit refuses jobs as fast with very many timers as with a few`() throws {
    func duration(ofRefusalsAt capacity: Int) throws -> Duration {
      let loop = try Loop(jobCapacity: capacity)
      let mayGoOn = try loop.hold()
      for _ in 1..<capacity { try loop.schedule(after: .seconds(3600)) {} }
      var refused = 0
      let begin = processorTime
      for _ in 0..<5000 {
        do { try loop.execute {} } catch { refused += 1 }
      }
      let duration = processorTime - begin
      #expect(refused == 5000)
      mayGoOn.open()
      #expect(Threads.start { loop.shutdown() }.wait())
      return duration
    }
    _ = try duration(ofRefusalsAt: 64)
    let few = try leastOfThree { try duration(ofRefusalsAt: 64) }
    let many = try leastOfThree { try duration(ofRefusalsAt: 1 << 17) }
    #expect(many < few * 10, "few: \(few), very many: \(many)")
  }
}
