import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

extension StressTests {
  /// A reactor is stuck in `mutate` for a while: its mailbox fills, and senders are refused or wait, and go on
  /// afterwards.
  @Suite struct StalledReactorStress {
    @Test(arguments: [Place.caller, .parkingLoop])
    func `a stalled owner's mailbox accepts its capacity, and blocked senders go on`(
      place: Place
    ) {
      Scenario.announce("stalled owner, \(place)")
      for capacity in [2, 4, 64] {
        for senders in [1, 2, 8] {
          for round in 0..<StressMode.rounds(3) {
            let parameters = "\(place), capacity \(capacity), \(senders) senders, round \(round)"
            Scenario("stalled owner, \(parameters)").run {
              stall(place, capacity, senders, $0)
            }
          }
        }
      }
    }

    private func stall(
      _ place: Place, _ capacity: Int, _ senders: Int, _ scenario: Scenario
    ) {
      let loop = place.makeLoop()
      let failures = FailureCounter()
      let reactor = Gated(on: Placement(loop), capacity: capacity, failures: failures)
      // The very first action starts the state, and goes through the mailbox in every place.
      reactor.send(1)
      #expect(Threads.yield { reactor.currentState == 1 }, "\(scenario)")
      let owner = Crew(of: 1) { _ in reactor.send(0) }
      #expect(reactor.isInside.wait(), "\(scenario)")

      // Exactly as many actions as there is room for. A loop still holds the slot of the action that it is stuck in;
      // on the caller that action was never in the mailbox.
      let accepted = Crew(of: senders) { _ in
        var accepted = 0
        while (try? reactor.trySend(1)) != nil { accepted += 1 }
        return accepted
      }.join().reduce(0, +)
      #expect(accepted == (loop == nil ? capacity : capacity - 1), "\(scenario)")

      // These senders find the mailbox full. When the owner goes on, some of them spin and some sleep.
      let actions = 50
      let blocked = Crew(of: senders) { _ in
        for _ in 0..<actions { reactor.send(1) }
      }
      var generator = scenario.generator(-1)
      for _ in 0..<generator.below(3) * 300 { DedicatedThread.yield() }
      #expect(reactor.currentState == 1, "\(scenario)")
      reactor.mayGoOn.open()
      blocked.join()
      owner.join()
      loop?.shutdown()
      #expect(reactor.currentState == 1 + accepted + senders * actions, "\(scenario)")
      #expect(failures.total == 0, "\(scenario)")
    }
  }
}

/// A reactor that waits at a gate in its first action. Its state is the sum of the actions.
private final class Gated: Reactor {
  typealias Action = Int
  typealias Mutation = Int
  typealias State = Int

  let initialState = 0
  let runtime: Runtime<Int, Int, Int>
  let isInside = Gate()
  let mayGoOn = Gate()

  init(on placement: Placement, capacity: Int, failures: FailureCounter) {
    runtime = Runtime(on: placement, capacity: capacity, onFailure: { failures.note($0) })
  }

  func mutate(action: Int) -> Observable<Int> {
    if action == 0 {
      isInside.open()
      _ = mayGoOn.wait()
    }
    return .just(action)
  }

  func reduce(into state: inout Int, mutation: Int) { state += mutation }
}
