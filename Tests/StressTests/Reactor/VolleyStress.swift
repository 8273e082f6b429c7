import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

extension StressTests {
  /// Threads that each send once, at about the same time, and then all stop. So no later sender processes an action
  /// that an owner missed when it left.
  @Suite struct VolleyStress {
    @Test(arguments: [Place.caller, .parkingLoop])
    func `after each burst of sends every action was processed`(place: Place) {
      Scenario.announce("volleys, \(place)")
      for threads in [2, 3] {
        for capacity in [2, 64] {
          let parameters = "\(place), \(threads) threads, capacity \(capacity)"
          Scenario("volleys, \(parameters)").run(withinSeconds: 120) {
            fire(place, threads, capacity, $0)
          }
        }
      }
    }

    private func fire(
      _ place: Place, _ threads: Int, _ capacity: Int, _ scenario: Scenario
    ) {
      let loop = place.makeLoop()
      let reactor = Sum(on: Placement(loop), capacity: capacity)
      // If there are more threads than processors they wait for one another much longer.
      let volleys = StressMode.rounds(threads == 2 ? 20_000 : 2000)
      let line = Shared(StartingLine(threads: threads))
      let crew = Crew(of: threads) { index -> String? in
        var generator = scenario.generator(index)
        for volley in 1...volleys {
          line.value.meet()
          CurrentCore.pause(times: generator.below(24))
          reactor.send(1)
          line.value.meet()
          // Every send has returned. On the caller that means that everything is done.
          let expected = volley * threads
          let isDone =
            loop == nil
            ? reactor.currentState == expected
            : Threads.yield(seconds: StressMode.patience) { reactor.currentState == expected }
          if !isDone { line.value.giveUp() }
          // No thread sends before all have checked, and all stop together.
          line.value.meet()
          if line.value.isGivenUp { return isDone ? nil : "\(reactor.currentState) of \(expected) reduced" }
        }
        return nil
      }
      for complaint in crew.join().compactMap({ $0 }) { Issue.record("\(complaint): \(scenario)") }
      loop?.shutdown()
      #expect(reactor.currentState % threads == 0, "\(scenario)")
    }
  }
}

private final class Sum: Reactor {
  typealias Action = Int
  typealias Mutation = Int
  typealias State = Int

  let initialState = 0
  let runtime: Runtime<Int, Int, Int>

  init(on placement: Placement, capacity: Int) {
    runtime = Runtime(on: placement, capacity: capacity)
  }

  func reduce(into state: inout Int, mutation: Int) { state += mutation }
}
