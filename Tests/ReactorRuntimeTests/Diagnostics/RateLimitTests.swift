import TestSupport
import Testing

@testable import ReactorRuntime

/// Intervals that the test ends, and the reports of suppressed events.
private final class Intervals: Sendable {
  private let delays = Delays()
  let reports = Record<String>()

  func limit(_ limit: Int) -> RateLimit<String> {
    RateLimit(
      limit, after: delays.callAfter,
      reportSuppressed: { [reports] site, count in reports.append("\(count) of \(site)") })
  }

  /// Ends the intervals that have begun, and returns their number.
  func end() -> Int { delays.end() }
}

@Suite struct RateLimitTests {
  private let intervals = Intervals()

  @Test func `events beyond the limit are counted, and the count is reported at the end of the interval`() {
    let limit = intervals.limit(2)
    #expect((0..<5).map { _ in limit.admit("a") } == [true, true, false, false, false])
    #expect(intervals.reports.elements == [])
    #expect(intervals.end() == 1)
    #expect(intervals.reports.elements == ["3 of a"])
  }

  @Test func `each site has its own limit`() {
    let limit = intervals.limit(1)
    #expect(limit.admit("a"))
    #expect(limit.admit("b"))
    #expect(!limit.admit("a"))
    #expect(intervals.end() == 2)
    #expect(intervals.reports.elements == ["1 of a"])
  }

  @Test
  func `while there are too many, only their number is reported`() {
    let limit = intervals.limit(2)
    for _ in 0..<3 { _ = limit.admit("a") }
    _ = intervals.end()
    #expect((0..<3).map { _ in limit.admit("a") } == [false, false, false])
    _ = intervals.end()
    #expect(!limit.admit("a"))
    #expect(intervals.reports.elements == ["1 of a", "3 of a"])
  }

  /// An event each second is shown, however many there were before.
  @Test
  func `after an interval with no more events than the limit, that applies anew`() {
    let limit = intervals.limit(2)
    for _ in 0..<3 { _ = limit.admit("a") }
    _ = intervals.end()
    #expect((0..<2).map { _ in limit.admit("a") } == [false, false])
    _ = intervals.end()
    #expect(intervals.reports.elements == ["1 of a", "2 of a"])
    #expect((0..<2).map { _ in limit.admit("a") } == [true, true])
    // Nothing was suppressed, so nothing is kept.
    #expect(intervals.end() == 1)
    #expect(intervals.end() == 0)
    #expect(limit.admit("a"))
    #expect(intervals.reports.elements.count == 2)
  }

  /// As the limit of a reactor that is gone.
  @Test func `what was suppressed is counted also if the limit is gone`() {
    for _ in 0..<2 {
      let limit = intervals.limit(1)
      for _ in 0..<3 { _ = limit.admit("a") }
    }
    #expect(intervals.end() == 2)
    #expect(intervals.reports.elements == ["2 of a", "2 of a"])
  }

  @Test func `flush reports the suppressed events once`() {
    let limit = intervals.limit(1)
    for _ in 0..<3 { _ = limit.admit("a") }
    limit.flush()
    limit.flush()
    _ = intervals.end()
    #expect(intervals.reports.elements == ["2 of a"])
  }

  @Test func `concurrent events are all counted`() {
    let limit = intervals.limit(10)
    let admitted = Record<Int>()
    #expect(
      Threads.run(4) { _ in
        admitted.append((0..<1000).reduce(0) { count, _ in count + (limit.admit("a") ? 1 : 0) })
      })
    #expect(admitted.elements.reduce(0, +) == 10)
    _ = intervals.end()
    #expect(intervals.reports.elements == ["3990 of a"])
  }
}
