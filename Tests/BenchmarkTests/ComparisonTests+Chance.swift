import Testing

@testable import BenchmarkSupport

/// Of very many figures, some are slower by chance.
extension ComparisonTests {
  @Test func `the chance of so many is that of independent events`() throws {
    #expect(Chance.ofAtLeast(0, of: [0.5, 0.5]) == 1)
    #expect(abs(Chance.ofAtLeast(1, of: [0.5, 0.5]) - 0.75) < 1e-12)
    #expect(abs(Chance.ofAtLeast(2, of: [0.5, 0.25]) - 0.125) < 1e-12)
    #expect(Chance.ofAtLeast(3, of: [0.5, 0.5]) == 0)
    // Of 20 with 1.6 %: two or more in 4 %, three or more in 0.35 %.
    #expect(Chance.fewestBeyond([Double](repeating: 4.0 / 252, count: 20)) == 3)
    #expect(Chance.fewestBeyond([]) == 1)
    let five = try #require(RatioInterval.chanceOfBelow(5, 5))
    #expect(abs(five - 4.0 / 252) < 1e-12)
    #expect(RatioInterval.chanceOfBelow(3, 3) == nil)
  }

  /// With five and five repetitions, each figure is called slower in 1.6 % of all cases. So of 200, three are.
  @Test func `two equal builds pass, though some figures are slower by chance`() {
    var generator = SeededGenerator(state: 5)
    func run() -> JSONReport {
      report(
        (0..<200).map { number in
          result((0..<5).map { _ in Double.random(in: 80...120, using: &generator) }, name: "case.\(number)")
        })
    }
    let comparisons = (0..<20).map { _ in Comparison(run(), run(), limit: 0.95) }
    let withSlower = comparisons.count { $0.slower > 0 }
    let failed = comparisons.count(where: \.isFailure)
    #expect(withSlower > 10, "\(withSlower) of 20")
    #expect(failed <= 2, "\(failed) of 20")
  }

  /// 93 % of the speed, with repetitions that are not far apart.
  @Test(arguments: [(0, false), (2, false), (3, true), (10, true)])
  func `figures that are a little slower fail together`(_ slower: Int, _ isFailure: Bool) {
    let values = [98.0, 99, 100, 101, 102]
    let names = (0..<20).map { "case.\($0)" }
    let new = names.enumerated().map { index, name in
      result(index < slower ? values.map { $0 * 0.93 } : values, name: name)
    }
    let comparison = Comparison(report(names.map { result(values, name: $0) }), report(new), limit: 0.95)
    #expect(comparison.slower == slower)
    #expect(comparison.isFailure == isFailure)
    #expect(comparison.failures.count == (isFailure ? slower : 0))
    let text = ComparisonReport(comparison, limit: 0.95).rendered()
    #expect(text.contains("in less than 1 % of all comparisons") == isFailure)
    #expect(text.contains("but not marked: 2. Chance alone may have up to 2.") == (slower == 2))
  }

  /// Half of the speed, of each.
  @Test(arguments: ["mutex", "limit", "swift", "swift-loop", "ring-swift", "actor"])
  func `a baseline or a limit that is slower does not fail, and counts as a control`(_ variant: String) throws
  {
    let half = steady.map { $0 / 2 }
    func comparison(_ slower: [CellResult]) -> Comparison {
      let old = slower.map { result(steady, name: $0.caseName, variant: $0.variant) }
      return Comparison(report(old + [result(steady)]), report(slower + [result(steady)]), limit: 0.95)
    }
    let controls = (0..<5).map { result(half, name: "case.\($0)", variant: variant, allocations: 1) }
    let slower = comparison(controls)
    #expect(!slower.isFailure)
    #expect(slower.slower == 0)
    #expect(slower.slowerControls == 5)
    // The chance of ours is that of one figure.
    #expect(slower.fewestSlower == Chance.fewestBeyond([4.0 / 252]))
    let text = ComparisonReport(slower, limit: 0.95).rendered()
    #expect(text.contains("baselines, limits and the pure-Swift core: 5 of 5. Suspect the machine."))
    #expect(text.contains("Nothing of ours is slower than 0.95 of the old speed."))
    #expect(comparison([result(steady, name: "case.0", variant: variant, verified: false)]).isFailure)
    // The same of ours.
    #expect(comparison([result(half, name: "case.0", variant: "c-loop")]).isFailure)
  }

  @Test func `few slower baselines are chance`() {
    let names = (0..<20).map { "case.\($0)" }
    let old = names.map { result(steady, name: $0, variant: "mutex") } + [result(steady)]
    let new =
      names.map { result($0 == "case.0" ? steady.map { $0 / 2 } : steady, name: $0, variant: "mutex") } + [
        result(steady)
      ]
    let text = ComparisonReport(Comparison(report(old), report(new), limit: 0.95), limit: 0.95).rendered()
    #expect(text.contains("and the pure-Swift core: 1 of 20. Chance alone may have up to 2."))
    #expect(!text.contains("Suspect"))
  }

  @Test func `a plain state is a baseline, and a plain reactor is not`() {
    #expect(!result(steady, name: "publish.16", variant: "plain").isOurs)
    #expect(result(steady, name: "publish.observed", variant: "plain").isOurs)
    for variant in [
      "c", "c-loop", "caller", "group", "by-index", "ring", "lanes", "replayed", "no-journal", "64-bytes",
    ] {
      #expect(result(steady, variant: variant).isOurs)
    }
  }

  @Test func `one figure fails by itself only with five repetitions that are far apart`() throws {
    let half = steady.map { $0 / 2 }
    #expect(try compared(result(steady), result(half)).isFailure)
    let four = try compared(result(Array(steady.prefix(4))), result(Array(half.prefix(4))))
    #expect(four.verdict == .slower)
    #expect(!four.isFailure)
    // All are below all others, but by less than they vary.
    let near = try compared(result([100, 101, 102, 103, 104]), result([90, 91, 92, 93, 94]))
    #expect(near.verdict == .slower)
    #expect(!near.isFailure)
  }

  @Test(arguments: ["latency.load.100.p99.9", "latency.busy.max"])
  func `the tail of a latency never fails`(_ name: String) throws {
    let tail = try compared(
      result(steady, .nanoseconds, name: name), result(steady.map { $0 * 9 }, .nanoseconds, name: name))
    #expect(tail.verdict == .slower)
    #expect(!tail.isFailure)
    #expect(tail.chanceOfSlower == nil)
    #expect(try compared(result(steady, name: name), result(steady, name: name, verified: false)).isFailure)
    #expect(
      try compared(
        result(steady, .nanoseconds, name: "latency.busy.p99"),
        result(steady.map { $0 * 9 }, .nanoseconds, name: "latency.busy.p99")
      ).isFailure)
  }

  @Test func `a limit is compared with that of the same placement`() {
    let near = result(steady, name: "limit.spsc", variant: "limit")
    let far = result(steady.map { $0 / 3 }, name: "limit.spsc", variant: "limit", placement: .far)
    let comparison = Comparison(report([near, far]), report([far, near]), limit: 0.95)
    #expect(comparison.figures.map(\.verdict) == [.noDifference, .noDifference])
  }

  @Test func `a figure that is sometimes nothing says little`() throws {
    func saysLittle(_ values: [Double], _ unit: FigureUnit) throws -> Bool {
      try #require(Figure(values)).saysLittle(unit)
    }
    #expect(try saysLittle([0, 0, 0, 0, 5], .millionPerSecond))
    #expect(try saysLittle([0, 4, 4, 4, 5], .millionPerSecond))
    #expect(try !saysLittle([0, 0, 0, 0, 0.0004], .bytes))
    #expect(try !saysLittle([0, 0, 0, 0, 0], .nanoseconds))
    #expect(try !saysLittle([10, 100, 100, 100, 100], .nanoseconds))
    #expect(try saysLittle([10, 100, 100, 100, 101], .nanoseconds))
  }
}
