import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

extension StressTests {
  /// Senders that pause again and again, so that the loop removes the reactor from its list and goes to sleep in
  /// between. Each sender waits for its action, so no later wake-up makes up for a lost one.
  @Suite struct QuietSenderStress {
    @Test(arguments: [Place.caller, .parkingLoop, .spinningLoop])
    func `an action that is sent after a silence is processed`(place: Place) {
      Scenario.announce("quiet senders, \(place)")
      for (senders, reactors) in [(1, 1), (2, 1), (4, 3)] {
        let parameters = "\(place), \(senders) senders, \(reactors) reactors"
        Scenario("quiet senders, \(parameters)").run(withinSeconds: 120) {
          comeAndGo(place, senders, reactors, $0)
        }
      }
    }

    private func comeAndGo(
      _ place: Place, _ senders: Int, _ reactors: Int, _ scenario: Scenario
    ) {
      let loop = place.makeLoop()
      let targets = (0..<reactors).map { _ in Tally(on: Placement(loop), senders: senders) }
      let rounds = StressMode.rounds(1500)
      let crew = Crew(of: senders) { sender -> String? in
        var generator = scenario.generator(sender)
        var sent = Array(repeating: 0, count: reactors)
        for round in 0..<rounds {
          let index = generator.below(reactors)
          sent[index] += 1
          targets[index].send(sender)
          // Not currentState: ThreadSanitizer knows nothing of the counts of references, and so takes the owner's next
          // change of an array for a race with the reader of an earlier copy.
          let isReduced = { targets[index].withCurrentState { $0.count[sender] } == sent[index] }
          guard Self.wait(for: isReduced) else {
            return "the action of round \(round) was lost, or the loop sleeps"
          }
          Self.beQuiet(&generator)
        }
        return nil
      }
      for complaint in crew.join().compactMap({ $0 }) { Issue.record("\(complaint): \(scenario)") }
      loop?.shutdown()
      let reduced = targets.map { $0.currentState.count.reduce(0, +) }.reduce(0, +)
      #expect(reduced == senders * rounds, "\(scenario)")
    }

    /// Pauses for about as long as a parking loop spins, for longer, or not at all.
    private static func beQuiet(_ generator: inout SplitMix64) {
      switch generator.below(8) {
      case 0: usleep(UInt32(truncatingIfNeeded: generator.next() % 300))
      case 1...4: CurrentCore.pause(times: generator.below(1000))
      default: break
      }
    }

    private static func wait(for condition: () -> Bool) -> Bool {
      let deadline = ContinuousClock.now + .seconds(StressMode.patience)
      while !condition() {
        if .now > deadline { return false }
        DedicatedThread.yield()
      }
      return true
    }

    @Test
    func `a loop serves more reactors than its inbox has room for`() {
      Scenario.announce("crowd")
      Scenario("crowd").run { crowd($0) }
    }

    private func crowd(_ scenario: Scenario) {
      let senders = 4
      let loop = Place.parkingLoop.makeLoop()
      let reactors = (0..<1500).map { _ in Tally(on: Placement(loop), senders: senders) }
      let rounds = StressMode.rounds(2)
      Crew(of: senders) { sender in
        for _ in 0..<rounds {
          for reactor in reactors { reactor.send(sender) }
        }
      }.join()
      loop?.shutdown()
      #expect(
        reactors.allSatisfy { $0.currentState.count == Array(repeating: rounds, count: senders) },
        "\(scenario)")
    }
  }
}

/// Counts each sender's actions.
private final class Tally: Reactor {
  typealias Action = Int
  typealias Mutation = Int

  struct State: Sendable {
    var count: [Int]
  }

  let initialState: State
  let runtime: Runtime<Int, Int, State>

  init(on placement: Placement, senders: Int) {
    initialState = State(count: Array(repeating: 0, count: senders))
    runtime = Runtime(on: placement, capacity: 4)
  }

  func reduce(into state: inout State, mutation: Int) { state.count[mutation] += 1 }
}
