import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

extension StressTests {
  /// Reactors that have had so many undisturbed turns that their owners release by a store (`rr_trampoline.h`, "Light words"), and
  /// then another thread comes: for the first time, so that it must run the heavy fence. Each round has a new reactor.
  /// Only release builds can lose an action here: others count references after a release, which is a fence.
  @Suite struct LightStress {
    /// After how many sends a release is a store.
    private static let warmUp = 1024

    @Test
    func `a send that meets an undisturbed sender is processed`() {
      Scenario("light words, senders").run { scenario in
        let rounds = StressMode.rounds(2000)
        let line = Shared(StartingLine(threads: 2))
        let current = Guarded<Counted?>(nil)
        let crew = Crew(of: 2) { index -> String? in
          var generator = scenario.generator(index)
          for round in 1...rounds {
            if index == 0 {
              let reactor = Counted(after: Self.warmUp)
              current.with { $0 = reactor }
            }
            line.value.meet()
            guard let reactor = current.with({ $0 }) else { return "no reactor" }
            let sends = index == 0 ? 64 : 1
            if index == 1 { CurrentCore.pause(times: generator.below(64)) }
            for _ in 0..<sends { reactor.send(1) }
            line.value.meet()
            // Nobody sends any more.
            let expected = Self.warmUp + 65
            let found = reactor.currentState
            if found != expected { line.value.giveUp() }
            line.value.meet()
            if line.value.isGivenUp { return "round \(round): \(found) of \(expected) reduced" }
          }
          return nil
        }
        for complaint in crew.join().compactMap({ $0 }) { Issue.record("\(complaint): \(scenario)") }
      }
    }
  }
}

private final class Counted: Reactor {
  let initialState = 0
  let runtime: Runtime<Int, Int, Int>

  init(after sends: Int) {
    runtime = Runtime()
    for _ in 0..<sends { send(1) }
  }

  func reduce(into state: inout Int, mutation: Int) { state += mutation }
}
