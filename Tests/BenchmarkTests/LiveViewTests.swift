import Testing

@testable import BenchmarkSupport

@Suite struct LiveViewTests {
  private func view(at index: Int) -> LiveView {
    var view = LiveView(plannedSeconds: [1, 1, 2])
    view.enter(index, "ring.single P=1")
    view.placement = .near
    return view
  }

  @Test func `the time that is left follows the plan at first, and then the groups that are done`() {
    #expect(view(at: 0).secondsLeft(elapsed: 0.5) == 4)
    #expect(view(at: 1).secondsLeft(elapsed: 3) == 9)
    #expect(view(at: 2).secondsLeft(elapsed: 3) == 3)
    #expect(view(at: 2).fraction == 0.5)
    #expect(LiveView(plannedSeconds: []).secondsLeft(elapsed: 1) == 0)
  }

  @Test func `the line of a terminal says what is measured, how long still, and the placement`() {
    let line = view(at: 2).line("mutex", "round 2/5", elapsed: 3, width: 120)
    #expect(
      line == "█████░░░░░ 3/3 ring.single P=1 · 3 s left · cores near · mutex · round 2/5")
    #expect(view(at: 0).line("c", "checking", elapsed: 0, width: 120).hasPrefix("░░░░"))
  }

  @Test(arguments: [10, 40, 60]) func `the line of a narrow terminal is cut`(_ width: Int) {
    let line = view(at: 1).line("mutex", "round 2/5", elapsed: 3, width: width)
    #expect(line.count == width - 1)
    #expect(line.last == "…")
  }

  @Test func `a log has a line for each group, in minutes if there are many`() {
    #expect(view(at: 1).logLine(elapsed: 3) == "bench: 2/3 ring.single P=1, 9 s left, cores near")
    #expect(view(at: 1).logLine(elapsed: 100).contains("5 min left"))
  }
}
