import ReactorCore
import TestSupport
import Testing

@testable import ReactorRuntime

/// Intervals that a test ends by hand, and what was told.
private final class Intervals: Sendable {
  private let ends = SystemMutex<[@Sendable () -> Void]>([])
  let told = Record<String>()

  func limit(_ limit: Int) -> RateLimit<String> {
    RateLimit(
      limit, after: { [ends] _, end in ends.withLock { $0.append(end) } },
      reportSuppressed: { [told] site, count in told.append("\(count) of \(site)") })
  }

  /// Ends those that have begun; answers how many.
  func end() -> Int {
    let ending = ends.withLock { ends in
      defer { ends = [] }
      return ends
    }
    for end in ending { end() }
    return ending.count
  }
}

@Suite struct RateLimitTests {
  private let intervals = Intervals()

  @Test func `so many of a site are admitted, the others counted, and the count is told at the end`() {
    let limit = intervals.limit(2)
    #expect((0..<5).map { _ in limit.admit("a") } == [true, true, false, false, false])
    #expect(intervals.told.elements == [])
    #expect(intervals.end() == 1)
    #expect(intervals.told.elements == ["3 of a"])
  }

  @Test func `sites do not take from each other`() {
    let limit = intervals.limit(1)
    #expect(limit.admit("a"))
    #expect(limit.admit("b"))
    #expect(!limit.admit("a"))
    #expect(intervals.end() == 2)
    #expect(intervals.told.elements == ["1 of a"])
  }

  @Test func `while it goes on only counts are told, and after a quiet interval it begins anew`() {
    let limit = intervals.limit(2)
    for _ in 0..<3 { _ = limit.admit("a") }
    _ = intervals.end()
    #expect(!limit.admit("a"))
    #expect(!limit.admit("a"))
    _ = intervals.end()
    #expect(intervals.told.elements == ["1 of a", "2 of a"])
    #expect(intervals.end() == 1)
    #expect(intervals.end() == 0)
    #expect(limit.admit("a"))
    #expect(intervals.told.elements.count == 2)
  }

  @Test func `what is left out when the process ends is told, and not again`() {
    let limit = intervals.limit(1)
    for _ in 0..<3 { _ = limit.admit("a") }
    limit.flush()
    limit.flush()
    _ = intervals.end()
    #expect(intervals.told.elements == ["2 of a"])
  }

  @Test func `on several threads nothing is lost from the count`() {
    let limit = intervals.limit(10)
    let admitted = Record<Int>()
    #expect(
      Threads.run(4) { _ in
        admitted.append((0..<1000).reduce(0) { count, _ in count + (limit.admit("a") ? 1 : 0) })
      })
    #expect(admitted.elements.reduce(0, +) == 10)
    _ = intervals.end()
    #expect(intervals.told.elements == ["3990 of a"])
  }
}
