import Testing

@testable import BenchmarkSupport

/// What was measured in the same rounds.
@Suite struct PairedIntervalTests {
  /// The critical values of the tables for the two-sided test at 5 %. With five values there is none.
  @Test(arguments: [(5, 0), (6, 0), (7, 2), (8, 3), (9, 5), (10, 8), (12, 13), (15, 25), (20, 52)])
  func `the interval leaves out as many means as the tables of Wilcoxon say`(_ count: Int, _ critical: Int) {
    #expect(PairedInterval.dropped(count, tail: 0.025) == critical)
  }

  private func figure(_ values: [Double], _ rounds: [Int]? = nil) throws -> Figure {
    try #require(Figure(values, rounds: rounds ?? Array(1...values.count)))
  }

  private func numbers(_ interval: RatioInterval?) throws -> [Double] {
    let interval = try #require(interval)
    return [interval.lower, interval.estimate, interval.upper]
  }

  /// The machine was up to twice as fast in some rounds.
  @Test func `a ratio that all rounds miss is decided, however the machine changes its speed`() throws {
    let speeds = [100.0, 140, 80, 150, 120]
    let ratios = [1.98, 1.98, 2.36, 1.68, 1.85]
    let (slow, fast) = (zip(ratios, speeds).map { $0 * $1 }, speeds)
    let independent = try #require(RatioInterval(of: slow, to: fast))
    #expect(independent.lower < 1.5 && 1.5 < independent.upper)
    let paired = try numbers(figure(slow).ratio(to: figure(fast)))
    #expect(abs(paired[0] - 1.68) < 1e-9 && abs(paired[2] - 2.36) < 1e-9)
    #expect(abs(paired[1] - 1.98) < 0.05)
    let inverse = try numbers(figure(fast).ratio(to: figure(slow)))
    for (one, other) in zip(paired, inverse.reversed()) { #expect(abs(one * other - 1) < 1e-12) }
  }

  @Test func `a difference is that of each round`() throws {
    let base = [100.0, 200, 150, 300, 120]
    let difference = try #require(figure(base.map { $0 + 10 }).difference(to: figure(base)))
    #expect((difference.lower, difference.estimate, difference.upper) == (10, 10, 10))
    let independent = try #require(DifferenceInterval(of: base.map { $0 + 10 }, minus: base))
    #expect(independent.lower < 0)
    #expect(independent.estimate == 10)
  }

  @Test func `a repetition that was discarded shifts no other one`() throws {
    let all = try figure([200, 220, 180, 260, 240, 300])
    let fewer = try figure([100, 110, 130, 120, 150], [1, 2, 4, 5, 6])
    #expect(try numbers(all.ratio(to: fewer)) == [2, 2, 2])
    #expect(try numbers(fewer.ratio(to: all)) == [0.5, 0.5, 0.5])
  }

  @Test func `with fewer than five rounds in common, repetitions count as independent`() throws {
    let (values, others) = ([200.0, 220, 180, 260, 240], [100.0, 110, 130, 120, 150])
    let independent = RatioInterval(of: values, to: others)
    for rounds in [[1, 2, 3, 4, 6], [6, 7, 8, 9, 10], []] {
      #expect(try figure(values).ratio(to: figure(others, rounds)) == independent)
      #expect(
        try figure(values).difference(to: figure(others, rounds))
          == DifferenceInterval(of: values, minus: others))
    }
    #expect(try figure([1, 2, 3]).ratio(to: figure([1, 2, 3])) == nil)
  }

  /// Whose ratio is 1, while the machine changes its speed by up to five times.
  private func rounds(
    _ count: Int, using generator: inout SeededGenerator
  ) throws -> (Figure, Figure) {
    let speeds = (0..<count).map { _ in Double.random(in: 50...250, using: &generator) }
    func measured() throws -> Figure {
      try figure(speeds.map { $0 * Double.random(in: 0.9...1.1, using: &generator) })
    }
    return (try measured(), try measured())
  }

  /// All five ratios are on one side in 6.25 % of all cases; 2.5 % and 2.5 % of more are outside, as far as the steps allow.
  @Test(arguments: [(5, 80...170), (10, 50...130)])
  func `chance alone is seldom a decision`(_ count: Int, _ expected: ClosedRange<Int>) throws {
    var generator = SeededGenerator(state: 23)
    var decided = 0
    for _ in 0..<2000 {
      let (one, other) = try rounds(count, using: &generator)
      let ratio = try #require(one.ratio(to: other))
      if ratio.lower > 1 || ratio.upper < 1 { decided += 1 }
    }
    #expect(expected.contains(decided), "\(decided) of 2000")
  }

  /// By itself each would be below it in 2 % of all cases, and one of seven in 13 %.
  @Test func `the least of seven that are at the bound is seldom below it`() throws {
    var generator = SeededGenerator(state: 29)
    var (missed, kept) = (0, 0)
    for _ in 0..<1000 {
      let states = try (0..<7).map { state in
        let (one, other) = try rounds(8, using: &generator)
        let figure = TargetFigure(one, dividedBy: other, leastOf: 7, in: .near)
        return (name: "\(state)", figure: Optional(figure))
      }
      let target = Target(text: "", bound: .atLeast(1), unit: "", figure: { _ in nil })
      let verdict = target.verdict(on: try #require(TargetFigure(leastOf: states)))
      if verdict == .notMet { missed += 1 }
      if verdict == .met { kept += 1 }
    }
    #expect((5...50).contains(missed), "\(missed) of 1000")
    #expect(kept == 0)
  }

  @Test func `each round begins with another member, and has each of them once`() {
    let members = ["a", "b", "c", "d"]
    let orders = (1...8).map { members.inOrder(ofRound: $0) }
    #expect(orders.allSatisfy { $0.sorted() == members })
    for round in 1..<8 { #expect(orders[round][0] != orders[round - 1][0]) }
    for member in members { #expect(orders.contains { $0[0] == member }) }
    #expect([String]().inOrder(ofRound: 3) == [])
    #expect(["a"].inOrder(ofRound: 3) == ["a"])
  }

  @Test(arguments: 3...6)
  func `each comes in each place equally often, and about as often after either neighbour`(count: Int) {
    let members = Array(0..<count)
    let orders = (1...2 * count).map { members.inOrder(ofRound: $0) }
    for place in members { #expect(orders.map { $0[place] }.sorted() == (members + members).sorted()) }
    for member in members {
      let pairs = orders.flatMap { zip($0, $0.dropFirst()) }.filter { $0.1 == member }
      let afterPrevious = pairs.count { ($0.0 + 1) % count == member }
      #expect(abs(2 * afterPrevious - pairs.count) <= 2)
    }
  }
}
