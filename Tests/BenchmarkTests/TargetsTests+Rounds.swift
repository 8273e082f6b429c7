import Testing

@testable import BenchmarkSupport

/// Promises of figures that were measured in the same rounds.
extension TargetsTests {
  /// The machine changed its speed from round to round, by more than the two differ.
  @Test func `a promise that is missed in all five rounds is not met`() throws {
    var both = ["c", "mutex"].map { result("state.array.alone", $0, 1, .nanoseconds) }
    let mutex = [100.0, 140, 80, 150, 120]
    both[1].figure = rounds(mutex)
    func line(_ ratios: [Double]) throws -> String {
      both[0].figure = rounds(zip(ratios, mutex).map { $0 * $1 })
      return try #require(lines(both).first { $0.contains("a change of an array of 100,000") })
    }
    let missed = try line([1.98, 1.98, 2.36, 1.68, 1.85])
    #expect(missed.hasSuffix("NOT MET"))
    // Not the ratio of the medians, which is 1.85.
    #expect(missed.contains("1.98 ×"), "\(missed)")
    #expect(try line([1.98, 1.98, 2.36, 1.68, 1.45]).hasSuffix("undecided"))
    #expect(try line([1.2, 1.3, 1.1, 1.4, 1.45]).hasSuffix(" met"))
  }

  @Test func `what is above half of a round trip is that of each round`() throws {
    var busy = result("latency.busy.p50", "c", 1, .nanoseconds)
    busy.figure = rounds([150, 100, 200, 130, 120])
    busy.limit = rounds([100, 50, 150, 80, 70])
    let line = try #require(lines([busy]).first { $0.contains("p50 of a busy loop") })
    #expect(line.contains("50.0 ns"))
    #expect(line.hasSuffix(" met"))
  }
}
