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
