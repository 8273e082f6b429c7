import Foundation
import Testing

@testable import BenchmarkSupport

/// The same numbers in every run.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

@Suite struct ComparisonTests {
  static let machine = MachineDescription(
    cpu: "A CPU", cores: 2, kernel: "Linux 6", architecture: "x86_64", loadAverage: 0)

  func result(
    _ values: [Double], _ unit: FigureUnit = .millionPerSecond, name: String = "ring.single",
    variant: String = "c", producers: Int = 2, allocations: Double? = 0, placement: CorePlacement = .near,
    verified: Bool = true
  ) -> CellResult {
    CellResult(
      caseName: name, variant: variant, producers: producers, unit: unit, figure: Figure(values)!,
      allocationsPerAction: allocations, placement: placement, verified: verified)
  }

  func report(_ results: [CellResult], cpu: String = "A CPU") -> JSONReport {
    var machine = Self.machine
    machine.cpu = cpu
    return JSONReport(
      RunDescription(machine: machine, compiler: "Swift", commit: "abc", reactors: 1), results)
  }

  func compared(_ old: CellResult, _ new: CellResult, limit: Double = 0.95) throws -> Compared {
    try #require(Comparison(report([old]), report([new]), limit: limit).figures.first)
  }

  func verdict(_ old: CellResult, _ new: CellResult, limit: Double = 0.95) throws -> Verdict {
    try compared(old, new, limit: limit).verdict
  }

  let steady = [100.0, 100.5, 101, 99.5, 100.2]

  // MARK: The interval

  /// The critical values of the tables for the two-sided test at 5 %, which count the pairs outside of the interval.
  @Test(arguments: [(4, 4, 0), (5, 5, 2), (3, 5, 0), (6, 6, 5), (10, 10, 23), (5, 8, 6), (20, 20, 127)])
  func `the interval leaves out as many ratios as the tables of Mann and Whitney say`(
    _ count: Int, _ other: Int, _ critical: Int
  ) {
    #expect(RatioInterval.dropped(count, other) == critical)
    #expect(RatioInterval.dropped(other, count) == critical)
  }

  @Test(arguments: [(0, 5), (1, 38), (3, 3), (2, 7)])
  func `too few values have no interval`(_ count: Int, _ other: Int) {
    #expect(RatioInterval.dropped(count, other) == nil)
  }

  @Test func `the interval contains the ratio, and turns around with it`() throws {
    let slow = [50.0, 51, 49, 50.5, 48]
    let ratio = try #require(RatioInterval(of: steady, to: slow))
    #expect(ratio.lower < 2 && 2 < ratio.upper)
    #expect(abs(ratio.estimate - 2) < 0.03)
    let inverse = try #require(RatioInterval(of: slow, to: steady))
    #expect(abs(inverse.estimate * ratio.estimate - 1) < 1e-12)
    #expect(RatioInterval(of: steady, to: [0, 1, 2, 3, 4]) == nil)
  }

  /// Each of 2000 pairs of samples is from one distribution, of whose values some are wild.
  @Test func `chance alone is seldom called a difference`() throws {
    var generator = SeededGenerator(state: 17)
    func sample() -> [Double] {
      (0..<5).map { _ in
        let noise = Double.random(in: 0.97...1.03, using: &generator)
        return Int.random(in: 0..<20, using: &generator) == 0 ? 70 * noise : 100 * noise
      }
    }
    var different = 0
    for _ in 0..<2000 {
      let verdict = try verdict(result(sample()), result(sample()))
      if verdict == .faster || verdict == .slower { different += 1 }
    }
    // 5 % of 2000 are 100. Exactly the level for which the interval is made is 3.2 % with five and five.
    #expect((20...100).contains(different), "\(different) of 2000")
  }

  // MARK: Verdicts

  @Test func `more per second is faster, more nanoseconds are slower`() throws {
    let tenth = steady.map { $0 * 1.1 }
    #expect(try verdict(result(steady), result(tenth)) == .faster)
    #expect(try verdict(result(tenth), result(steady)) == .slower)
    #expect(try verdict(result(steady, .nanoseconds), result(tenth, .nanoseconds)) == .slower)
    #expect(try verdict(result(steady, .bytes), result(tenth, .bytes)) == .slower)
    let ratio = try #require(try compared(result(steady, .nanoseconds), result(tenth, .nanoseconds)).ratio)
    #expect(abs(ratio.estimate - 1 / 1.1) < 0.001)
  }

  @Test func `no difference is said only if one beyond the limit can be excluded`() throws {
    let near = steady.map { $0 + 0.1 }
    #expect(try verdict(result(steady), result(near)) == .noDifference)
    #expect(try verdict(result(steady), result(near), limit: 0.999) == .tooNoisy)
    let wide = [80.0, 90, 100, 110, 95]
    #expect(try verdict(result(steady), result(wide)) == .tooNoisy)
  }

  @Test func `repetitions that vary too much are never called faster`() throws {
    #expect(try verdict(result(steady), result([300, 400, 600, 800, 900])) == .tooNoisy)
  }

  /// The whole interval is below the limit, so how far the repetitions are apart does not matter.
  @Test func `what is surely slower than the limit fails, however much it varies`() throws {
    let wild = try compared(result([100, 101, 102, 103, 104]), result([10, 14, 18, 22, 30]))
    #expect(wild.verdict == .slower)
    #expect(wild.isFailure)
    let perhaps = try compared(result([100, 101, 102, 103, 104]), result([10, 50, 90, 100, 150]))
    #expect(perhaps.verdict == .tooNoisy)
    #expect(!perhaps.isFailure)
  }

  @Test(arguments: [FigureUnit.bytes, .nanoseconds])
  func `from nothing to something is slower`(_ unit: FigureUnit) throws {
    let nothing = [0.0, 0, 0, 0, 0]
    let grown = try compared(result(nothing, unit), result([320, 320, 320, 320, 320], unit))
    #expect(grown.verdict == .slower)
    #expect(grown.isFailure)
    #expect(try verdict(result([320, 320, 320, 320, 320], unit), result(nothing, unit)) == .faster)
    #expect(try verdict(result(nothing, unit), result(nothing, unit)) == .noDifference)
  }

  @Test func `a rate that falls to nothing is slower, and less than a byte is nothing`() throws {
    #expect(try compared(result(steady), result([0, 0, 0, 0, 0])).isFailure)
    let rounding = try compared(
      result([0, 0, 0, 0, 0], .bytes), result([0.0004, 0.0004, 0, 0.0004, 0.0004], .bytes))
    #expect(rounding.verdict == .noDifference)
  }

  @Test func `seven repetitions bear a wild one, and five do not`() throws {
    #expect(try verdict(result(steady), result([200, 201, 202, 199, 20])) == .tooNoisy)
    let long = steady + [100.1, 99.9]
    #expect(try verdict(result(long), result([200, 201, 202, 199, 20, 203, 198])) == .faster)
  }

  @Test func `figures of different placements are not judged`() throws {
    let fast = steady.map { $0 * 3 }
    #expect(
      try verdict(result(steady, placement: .far), result(fast)) == .notJudged(.placement))
    #expect(
      try verdict(result(steady, placement: .unknown), result(fast, placement: .unknown))
        == .notJudged(.placement))
    // How many bytes something takes does not depend on it.
    for placement in [CorePlacement.far, .unknown] {
      let grown = try compared(result(steady, .bytes, placement: placement), result(fast, .bytes))
      #expect(grown.verdict == .slower)
      #expect(grown.isFailure)
    }
  }

  @Test func `three repetitions are too few, and their ratio is not known`() throws {
    let compared = try compared(result([1, 2, 3]), result([1, 2, 3]))
    #expect(compared.verdict == .notJudged(.tooFew))
    #expect(compared.ratio == nil)
  }

  @Test func `only what is slower than the limit fails, and what is wrong`() throws {
    let third = steady.map { $0 * 0.97 }
    #expect(try verdict(result(steady), result(third)) == .slower)
    #expect(try !compared(result(steady), result(third)).isFailure)
    #expect(try compared(result(steady), result(steady.map { $0 * 0.9 })).isFailure)
    #expect(try !compared(result(steady), result(steady.map { $0 * 0.9 }), limit: 0.8).isFailure)
    let wrong = try compared(result(steady), result(steady, verified: false))
    #expect(wrong.verdict == .notJudged(.wrong))
    #expect(wrong.isFailure)
    #expect(try !compared(result(steady, verified: false), result(steady)).isFailure)
  }

  // MARK: Reports

  @Test func `figures are matched by case, variant, producers and unit`() {
    let kept = result([0.9, 0.9, 0.9, 0.9], .ratio, name: "readers.kept")
    let comparison = Comparison(
      report([result(steady), result(steady, name: "gone"), kept]),
      report([result(steady, name: "added"), result(steady), kept]), limit: 0.95)
    #expect(comparison.figures.map(\.new.caseName) == ["ring.single"])
    #expect(comparison.onlyInOld.map(\.caseName) == ["gone"])
    #expect(comparison.onlyInNew.map(\.caseName) == ["added"])
  }

  @Test func `the text has a row for each figure and names what failed`() {
    let old = report([result(steady), result(steady, name: "ring.batch16")])
    let new = report(
      [result(steady.map { $0 / 2 }), result(steady, name: "ring.batch16")], cpu: "Another")
    let text = ComparisonReport(Comparison(old, new, limit: 0.95), limit: 0.95).rendered()
    #expect(text.contains("The machines are not the same"))
    #expect(text.contains("SLOWER !"))
    #expect(text.contains("0.500"))
    #expect(text.contains("2 figures: 1 SLOWER, 1 no difference"))
    #expect(text.contains("1 marked with '!'"))
    let same = ComparisonReport(Comparison(old, old, limit: 0.9), limit: 0.9).rendered()
    #expect(same.contains("Nothing is slower than 0.9 of"))
    #expect(!same.contains("not the same"))
    #expect(!same.contains("not judged"))
  }

  @Test func `the text says how many figures were not judged`() {
    let few = result([1, 2], name: "few")
    let noisy = result([80, 90, 100, 110, 95], name: "noisy")
    let old = report([result(steady), few, result(steady, name: "noisy")])
    let text = ComparisonReport(
      Comparison(old, report([result(steady), few, noisy]), limit: 0.95), limit: 0.95
    ).rendered()
    #expect(text.contains("Nothing that was judged is slower than 0.95 of the old speed."))
    #expect(text.contains("2 figures were not judged."))
  }

  // MARK: Runs that are wrong or unlike

  private func comparison(
    _ old: [CellResult], _ new: [CellResult], failures: [String] = [], isIncomplete: Bool = false
  ) throws -> Comparison {
    // As they are read from files.
    let report = JSONReport(report(new).run, new, failures: failures, isIncomplete: isIncomplete)
    return Comparison(self.report(old), try JSONReport(report.data()), limit: 0.95)
  }

  @Test func `a new run that failed or ended early fails, and an old one does not`() throws {
    let same = [result(steady)]
    #expect(try !comparison(same, same).isFailure)
    let failed = try comparison(same, same, failures: ["ring.single mutex P=8: not their sum"])
    #expect(failed.isFailure)
    #expect(ComparisonReport(failed, limit: 0.95).rendered().contains("ring.single mutex P=8: not their sum"))
    #expect(try comparison(same, same, isIncomplete: true).isFailure)
    let old = JSONReport(report(same).run, same, failures: ["wrong"], isIncomplete: true)
    #expect(!Comparison(old, report(same), limit: 0.95).isFailure)
  }

  @Test func `a variant that is missing from a case that was measured fails`() throws {
    let both = [result(steady), result(steady, variant: "mutex")]
    let lost = try comparison(both, [result(steady)])
    #expect(lost.isFailure)
    #expect(ComparisonReport(lost, limit: 0.95).rendered().contains("ring.single mutex P=2"))
    // A run may measure fewer cases, or fewer numbers of producers.
    #expect(try !comparison([result(steady), result(steady, name: "other")], [result(steady)]).isFailure)
    #expect(try !comparison([result(steady), result(steady, producers: 8)], [result(steady)]).isFailure)
    #expect(try !comparison([result(steady)], both).isFailure)
  }

  @Test func `reports of which nothing can be compared fail`() throws {
    #expect(try comparison([result(steady)], [result(steady, name: "other")]).isFailure)
    #expect(try comparison([result([1, 2, 3])], [result([1, 2, 3])]).isFailure)
    #expect(try comparison([], []).isFailure)
  }

  @Test func `more allocations fail, at any speed and in any placement`() throws {
    func isFailure(_ old: Double?, _ new: Double?) throws -> Bool {
      try compared(
        result(steady, allocations: old), result(steady, allocations: new, placement: .far)
      ).isFailure
    }
    #expect(try isFailure(0, 1))
    #expect(try isFailure(1, 1.06))
    #expect(try !isFailure(1, 1.04))
    #expect(try !isFailure(1, 0))
    #expect(try !isFailure(nil, 1))
    #expect(try !isFailure(1, nil))
    let grown = try comparison([result(steady)], [result(steady, allocations: 2)])
    let text = ComparisonReport(grown, limit: 0.95).rendered()
    #expect(text.contains("more allocations:"))
    #expect(text.contains("0 → 2.00"))
  }

  private func comparison(
    _ name: String, _ old: RunDescription, _ new: RunDescription
  ) throws -> Compared {
    let slow = result(steady.map { $0 / 2 }, name: name, allocations: 9)
    return try #require(
      Comparison(JSONReport(old, [result(steady, name: name)]), JSONReport(new, [slow]), limit: 0.95)
        .figures.first)
  }

  @Test func `cases of many are judged only with as many reactors`() throws {
    let old = report([]).run
    var new = old
    new.reactors = 1000
    for name in ["scale.busy.actions", "curve.reactors.1000.actions", "state.size.100000.alone"] {
      #expect(try comparison(name, old, new).verdict == .notJudged(.members))
      #expect(try !comparison(name, old, new).isFailure)
      #expect(try comparison(name, old, old).verdict == .slower)
    }
    #expect(try comparison("ring.single", old, new).verdict == .slower)
  }

  @Test func `a debug build is compared with debug builds only`() throws {
    var (debug, release) = (report([]).run, report([]).run)
    (debug.configuration, release.configuration) = ("debug", "release")
    #expect(try comparison("ring.single", release, debug).verdict == .notJudged(.configuration))
    #expect(try comparison("ring.single", debug, debug).verdict == .slower)
    // A file from before it was written.
    #expect(try comparison("ring.single", report([]).run, release).verdict == .slower)
  }

  @Test func `the text says that the repetitions of two runs were of different lengths`() throws {
    var (short, long) = (report([]).run, report([]).run)
    (short.seconds, long.seconds) = (0.25, 0.25)
    // One of the race, and one of the benchmark.
    short.repetitions = 10
    long.asked = AskedSelection(Options(quick: false, cores: 4))
    func text(_ old: RunDescription, _ new: RunDescription) -> String {
      let comparison = Comparison(
        JSONReport(old, [result(steady)]), JSONReport(new, [result(steady)]), limit: 0.95)
      return ComparisonReport(comparison, limit: 0.95).rendered()
    }
    #expect(text(short, long).contains("for 0.025 s and 0.050 s at a time"))
    #expect(!text(long, long).contains("not alike"))
    // As often as before, each as long, so for a longer time.
    var (more, again) = (long, short)
    (more.seconds, more.asked, more.repetitions) = (0.5, nil, 10)
    #expect(!text(long, more).contains("not alike"))
    again.repetitions = nil
    #expect(!text(again, long).contains("not alike"))
    again.seconds = 0.1
    #expect(text(again, long).contains("for 0.10 s and 0.25 s at a time"))
  }

  @Test func `a report keeps what it says of its run`() throws {
    var run = report([]).run
    (run.configuration, run.seconds) = ("release", 0.25)
    run.asked = AskedSelection(Options(quick: false, cores: 4))
    let read = try JSONReport(JSONReport(run, [], failures: ["a"], isIncomplete: true).data())
    #expect(read.run == run)
    #expect(read.failureTexts.count == 2)
    #expect(read.failureTexts.first == "a")
  }

  @Test func `in a race only ours can fail`() throws {
    func race(_ variant: String, _ values: [Double], verified: Bool = true) -> CellResult {
      result(values, name: "peers.single", variant: variant, allocations: nil, verified: verified)
    }
    let (ours, peer) = (race("ours paced", steady), race("ck_ring", steady, verified: false))
    #expect(try !comparison([ours, peer], [ours, peer]).isFailure)
    #expect(try !comparison([ours, race("ck_ring", steady)], [ours, peer]).isFailure)
    #expect(
      try !comparison([ours, race("bbq", steady)], [ours, race("bbq", steady.map { $0 / 2 })]).isFailure)
    #expect(try !comparison([ours, peer], [ours]).isFailure)
    #expect(try comparison([ours, race("bbq", steady)], [race("bbq", steady)]).isFailure)
    #expect(try comparison([ours], [race("ours paced", steady.map { $0 / 2 })]).isFailure)
    let lanes = race("ours lanes", steady)
    #expect(try comparison([ours, lanes], [ours, race("ours lanes", steady, verified: false)]).isFailure)
    // Elsewhere any variant can.
    let mutex = result(steady, variant: "mutex")
    #expect(
      try comparison(
        [result(steady), mutex], [result(steady), result(steady, variant: "mutex", verified: false)]
      )
      .isFailure)
  }

  @Test func `lower bounds are not judged`() throws {
    var cut = result(steady, .nanoseconds, name: "latency.load.20000.p50")
    cut.isLowerBound = true
    let whole = result(steady.map { $0 * 2 }, .nanoseconds, name: "latency.load.20000.p50")
    #expect(try verdict(cut, whole) == .notJudged(.lowerBound))
    #expect(try verdict(whole, cut) == .notJudged(.lowerBound))
    #expect(try !compared(whole, cut).isFailure)
    let read = try JSONReport(report([cut, whole]).data())
    #expect(read.results.map(\.isLowerBound) == [true, false])
  }

  @Test func `a report is read as it was written`() throws {
    var bounded = result(steady)
    bounded.figure = try #require(Figure(steady, rounds: [11, 12, 13, 15, 16]))
    (bounded.shareOfLimit, bounded.limit) = (0.5, Figure([200, 201, 202, 203], rounds: [11, 12, 13, 14]))
    var thin = result(steady)
    thin.isThin = true
    let results = [
      result(steady), result(steady, .nanoseconds, placement: .far, verified: false), bounded, thin,
    ]
    let read = try JSONReport(report(results).data())
    #expect(read.results == results)
    #expect(read.machine == Self.machine)
  }

  @Test func `a report without samples can be read, but not judged`() throws {
    let cell = """
      {"case": "ring.single", "variant": "c", "producers": 2, "unit": "M/s", "min": 1, "median": 2, "max": 4,
      "allocationsPerAction": null, "placement": "near", "verified": true}
      """
    func file(schema: Int) -> Data {
      Data(
        """
        {"schema": \(schema), "compiler": "Swift", "commit": "abc", "reactors": 1, "results": [\(cell)],
        "machine": {"cpu": "A", "cores": 2, "kernel": "L", "architecture": "x", "loadAverage": 0}}
        """.utf8)
    }
    let old = try JSONReport(file(schema: 1))
    #expect(old.results[0].figure == Figure(min: 1, median: 2, max: 4))
    #expect(old.results[0].allocationsPerAction == nil)
    let comparison = Comparison(old, report([result(steady)]), limit: 0.95)
    #expect(comparison.figures.map(\.verdict) == [.notJudged(.tooFew)])
    #expect(throws: UsageError.self) { try JSONReport(file(schema: 2)) }
    #expect(throws: UsageError.self) { try JSONReport(Data("{}".utf8)) }
  }
}
