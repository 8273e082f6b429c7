import Testing

@testable import BenchmarkSupport

/// What must not get lost between two runs.
extension ComparisonTests {
  @Test func `a time that was whole and is a lower bound beyond the limit is slower`() throws {
    let name = "latency.load.20000.p50"
    func times(_ factor: Double, _ count: Int = 5, isCut: Bool, placement: CorePlacement = .near)
      -> CellResult
    {
      let values = steady.enumerated().map { $0.offset < count ? $0.element * factor : $0.element }
      var made = result(values, .nanoseconds, name: name, placement: placement)
      made.isLowerBound = isCut
      return made
    }
    let whole = times(1, isCut: false)
    let collapsed = try compared(whole, times(1000, isCut: true))
    #expect(collapsed.verdict == .slower)
    #expect(collapsed.isFailure)
    #expect(
      ComparisonReport(
        Comparison(report([whole]), report([times(1000, isCut: true)]), limit: 0.95), limit: 0.95
      )
      .rendered().contains("≥"))
    // Not sure: slower by less than the limit, in one repetition only, or in another placement; and how long the old one took.
    #expect(try verdict(whole, times(1.03, isCut: true)) == .notJudged(.lowerBound))
    #expect(try verdict(whole, times(1000, 1, isCut: true)) == .notJudged(.lowerBound))
    #expect(try verdict(whole, times(1000, isCut: true, placement: .far)) == .notJudged(.placement))
    #expect(try verdict(times(1, isCut: true), times(1000, isCut: true)) == .notJudged(.lowerBound))
    #expect(try verdict(times(1000, isCut: true), whole) == .notJudged(.lowerBound))
  }

  @Test func `cases of many are judged only if both runs separate the first actions`() {
    func verdicts(_ old: [String], _ new: [String]) -> [Verdict] {
      func results(_ names: [String]) -> [CellResult] { names.map { result(steady, name: $0) } }
      return Comparison(report(results(old)), report(results(new)), limit: 0.95).figures.map(\.verdict)
    }
    let (before, now) = (["scale.busy.actions"], ["scale.busy.actions", "scale.busy.first"])
    #expect(
      verdicts(before + ["scale.idle.used"], now + ["scale.idle.used"]).count(where: {
        $0 == .notJudged(.work)
      }) == 2)
    #expect(!verdicts(now, now).contains(.notJudged(.work)))
    #expect(verdicts(["scale.idle.used"], ["scale.idle.used"]) == [.noDifference])
    #expect(verdicts(before + ["ring.single"], now + ["ring.single"]).last == .noDifference)
  }

  @Test func `memory is judged only if both runs have the object in it`() {
    func verdicts(_ old: [String], _ new: [String]) -> [Verdict] {
      func results(_ names: [String]) -> [CellResult] { names.map { result(steady, .bytes, name: $0) } }
      return Comparison(report(results(old)), report(results(new)), limit: 0.95).figures.map(\.verdict)
    }
    let (keyed, before) = (["scale.keyed.used"], ["scale.idle.used", "scale.keyed.used"])
    let now = before + ["scale.idle.object"]
    #expect(verdicts(before, now) == [.notJudged(.work), .notJudged(.work)])
    #expect(verdicts(before + ["scale.idle.resident"], now + ["scale.idle.resident"]).last == .noDifference)
    // A new report need not have the case that says so.
    #expect(verdicts(before, keyed) == [.notJudged(.work)])
    #expect(verdicts(now, keyed) == [.noDifference])
    #expect(verdicts(before, before) == [.noDifference, .noDifference])
  }

  /// A run of all cases but the curves, unless it is said otherwise.
  private func run(
    _ results: [CellResult], cases: [String] = [], producers: [Int] = [1, 2, 4, 8], curves: Bool = false
  ) -> JSONReport {
    var options = Options(quick: false, cores: 2)
    (options.cases, options.producers, options.curves) = (cases, producers, curves)
    var run = report([]).run
    run.asked = AskedSelection(options)
    return JSONReport(run, results)
  }

  private func isFailure(_ old: JSONReport, _ new: JSONReport) -> Bool {
    Comparison(old, new, limit: 0.95).isFailure
  }

  @Test func `a whole case that vanishes from a run that was asked for it fails`() {
    let both = [result(steady), result(steady, name: "sync.ask", producers: 1)]
    let old = run(both)
    #expect(!isFailure(old, run(both)))
    let lost = Comparison(old, run([result(steady)]), limit: 0.95)
    #expect(lost.isFailure)
    #expect(ComparisonReport(lost, limit: 0.95).rendered().contains("asked for: sync.ask c P=1."))
    #expect(!isFailure(old, run([result(steady)], cases: ["ring"])))
    #expect(isFailure(old, run([result(steady)], cases: ["ring", "sync"])))
    // The old report need not say what it was asked for.
    #expect(isFailure(report(both), run([result(steady)])))
  }

  @Test func `a number of producers that vanishes fails if it was asked for`() {
    let both = [result(steady), result(steady, producers: 8)]
    #expect(isFailure(run(both), run([result(steady)])))
    #expect(!isFailure(run(both), run([result(steady)], producers: [1, 2])))
    // The case has a number of its own, whatever is asked for.
    let own = [result(steady), result(steady, name: "ask.contended", producers: 8)]
    #expect(isFailure(run(own), run([result(steady)], producers: [1, 2])))
  }

  @Test func `curves are missing only from a run that was asked for them`() {
    let both = [result(steady), result(steady, name: "curve.payload.8")]
    let old = run(both, curves: true)
    #expect(!isFailure(old, run([result(steady)])))
    #expect(isFailure(old, run([result(steady)], curves: true)))
    #expect(isFailure(old, run([result(steady)], cases: ["ring", "curve.payload"])))
  }

  @Test func `a report that does not say what was asked for is told, and does not fail`() {
    let both = [result(steady), result(steady, name: "sync.ask")]
    let text = "does not say what was asked for"
    let lost = Comparison(run(both), report([result(steady)]), limit: 0.95)
    #expect(!lost.isFailure)
    #expect(ComparisonReport(lost, limit: 0.95).rendered().contains(text))
    let same = Comparison(run(both), report(both), limit: 0.95)
    #expect(!ComparisonReport(same, limit: 0.95).rendered().contains(text))
  }

  @Test func `a wrong figure that only the new report has fails`() {
    let wrong = result(steady, name: "added", verified: false)
    #expect(!isFailure(report([result(steady)]), report([result(steady), result(steady, name: "added")])))
    let added = Comparison(report([result(steady)]), report([result(steady), wrong]), limit: 0.95)
    #expect(added.isFailure)
    #expect(ComparisonReport(added, limit: 0.95).rendered().contains("are wrong: added c P=2."))
    func race(_ variant: String, verified: Bool) -> CellResult {
      result(steady, name: "peers.single", variant: variant, verified: verified)
    }
    let ours = race("ours", verified: true)
    #expect(isFailure(report([ours]), report([ours, race("ours lanes", verified: false)])))
    #expect(!isFailure(report([ours]), report([ours, race("ck_ring", verified: false)])))
  }

  /// A queue of which nothing is left has no figure.
  @Test func `what went wrong with ours in a race fails without a figure, and what did with others does not`()
    throws
  {
    func race(_ subject: String, _ words: String) throws -> JSONReport {
      try JSONReport(
        RaceFile(rows: [
          RaceFile.Row(subject: "ours", values: steady),
          RaceFile.Row(subject: subject, values: [], words: words),
        ]).data())
    }
    let fine = try race("ours lanes", "")
    #expect(!isFailure(fine, fine))
    let crashed = Comparison(fine, try race("ours lanes", "CRASHED"), limit: 0.95)
    #expect(crashed.isFailure)
    #expect(crashed.problems == ["The new run: peers.single ours lanes P=2: CRASHED."])
    #expect(!isFailure(fine, try race("ck_ring", "CRASHED")))
  }

  @Test func `a run that no longer counts allocations fails`() {
    func comparison(_ old: [CellResult], _ new: [CellResult]) -> Comparison {
      Comparison(report(old), report(new), limit: 0.95)
    }
    let counted = [result(steady), result(steady, name: "other")]
    let lost = comparison(counted, [result(steady, allocations: nil), result(steady, name: "other")])
    #expect(lost.failures.isEmpty)
    #expect(lost.isFailure)
    #expect(
      ComparisonReport(lost, limit: 0.95).rendered().contains(
        "The old run counted the allocations of 1 figures of which the new one did not, such as ring.single c."
      ))
    #expect(!comparison([result(steady, allocations: nil)], counted).isFailure)
    #expect(!comparison([result(steady, allocations: nil)], [result(steady, allocations: nil)]).isFailure)
  }
}
