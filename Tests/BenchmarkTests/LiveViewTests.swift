import Testing

@testable import BenchmarkSupport

@Suite struct LiveViewTests {
  /// Of two rounds, each with half of these seconds.
  private func view(at index: Int, round: Int = 1) -> LiveView {
    var view = LiveView(plannedSeconds: [1, 1, 2], rounds: 2)
    view.enter(index, "ring.single P=1", round: round)
    view.placement = .near
    return view
  }

  @Test func `the time that is left follows the plan at first, and then the visits that are done`() {
    #expect(view(at: 0).secondsLeft(elapsed: 0.5) == 4)
    #expect(view(at: 1).secondsLeft(elapsed: 1) == 7)
    #expect(view(at: 0, round: 2).secondsLeft(elapsed: 3) == 3)
    #expect(view(at: 0, round: 2).fraction == 0.5)
    #expect(view(at: 2, round: 2).fraction == 0.75)
    #expect(view(at: 0, round: 3).fraction == 1)
    #expect(view(at: 0, round: 3).secondsLeft(elapsed: 3) == 0)
    #expect(LiveView(plannedSeconds: [], rounds: 1).secondsLeft(elapsed: 1) == 0)
  }

  @Test func `the line of a terminal says what is measured, how long still, and the placement`() {
    let line = view(at: 0, round: 2).line("mutex", "measuring", elapsed: 3, width: 120)
    #expect(line == "█████░░░░░ round 2/2 · 1/3 ring.single P=1 · 3 s left · cores near · mutex · measuring")
    #expect(view(at: 0).line("c", "checking", elapsed: 0, width: 120).hasPrefix("░░░░"))
    let extra = view(at: 1, round: 3).line("c", "measuring", elapsed: 3, width: 120)
    #expect(
      extra == "██████████ extra round 1 · 2/3 ring.single P=1 · almost done · cores near · c · measuring")
  }

  @Test(arguments: [10, 40, 60]) func `the line of a narrow terminal is cut`(_ width: Int) {
    let line = view(at: 1).line("mutex", "measuring", elapsed: 3, width: width)
    #expect(line.count == width - 1)
    #expect(line.last == "…")
  }

  @Test func `a log has a line for each visit, in minutes if many are left`() {
    #expect(view(at: 1).logLine(elapsed: 1) == "bench: round 1/2 · 2/3 ring.single P=1, 7 s left, cores near")
    #expect(view(at: 1).logLine(elapsed: 100).contains("12 min left"))
  }
}
