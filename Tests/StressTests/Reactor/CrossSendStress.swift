import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

extension StressTests {
  /// Reactors that send to one another from inside their turns, with mailboxes that are mostly full.
  @Suite struct CrossSendStress {
    /// The placements of the two reactors.
    enum Arrangement: CaseIterable, Sendable {
      case callers, oneLoop, twoLoops, loopAndCaller
    }

    @Test(arguments: Arrangement.allCases)
    func `every action between reactors is reduced, or refused and reported`(
      arrangement: Arrangement
    ) {
      Scenario.announce("cross sends, \(arrangement)")
      for capacity in [2, 4, 64] {
        for threads in [1, 2, 4] {
          let parameters = "\(arrangement), capacity \(capacity), \(threads) threads"
          Scenario("cross sends, \(parameters)").run {
            cross(arrangement, capacity, threads, $0)
          }
        }
      }
    }

    private func cross(
      _ arrangement: Arrangement, _ capacity: Int, _ threads: Int, _ scenario: Scenario
    ) {
      let loops = (0..<2).map { _ in Place.parkingLoop.makeLoop(turnLimit: 5) }
      let failures = FailureCounter()
      let reactors = (0..<2).map { index in
        let loop: Loop? =
          switch arrangement {
          case .callers: nil
          case .oneLoop: loops[0]
          case .twoLoops: loops[index]
          case .loopAndCaller: index == 0 ? loops[0] : nil
          }
        return Relay(on: Placement(loop), capacity: capacity, failures: failures)
      }
      reactors[0].next.value = reactors[1]
      reactors[1].next.value = reactors[0]
      let rounds = StressMode.rounds(100)
      let crew = Crew(of: threads) { thread in
        var disturbance = Disturbance(scenario.generator(thread))
        for _ in 0..<rounds {
          disturbance.step()
          reactors[disturbance.below(2)].send(Relay.Action(hops: disturbance.below(12)))
        }
      }
      crew.join()
      // The second loop may still send to the first.
      for loop in loops { loop?.shutdown() }
      let states = reactors.map(\.currentState)
      let reduced = states.map(\.reduced).reduce(0, +)
      let forwarded = states.map(\.forwarded).reduce(0, +)
      #expect(reduced + failures.total == threads * rounds + forwarded, "\(scenario)")
      #expect(!reactors.contains { $0.wasEnteredTwice }, "\(scenario)")
      // Sends from turns never wait, and the threads own no reactor while they wait. So nothing is refused, except by a loop
      // that ends: what its reactors send to one another, and what those of other loops send to it.
      #expect(failures.total == failures.count(.closed), "\(scenario)")
      if arrangement == .callers { #expect(failures.total == 0, "\(scenario)") }
      // The threads have sent before that.
      #expect(reduced >= threads * rounds, "\(scenario)")
      // The two refer to each other.
      for reactor in reactors { reactor.next.value = nil }
    }
  }
}

/// Passes an action on to another reactor until it has made all its hops.
private final class Relay: Reactor {
  struct Action: Sendable {
    var hops: Int
  }

  typealias Mutation = Action

  struct State: Sendable {
    var reduced = 0
    var forwarded = 0
  }

  /// Set before the first send.
  final class Link: @unchecked Sendable {
    var value: Relay?
  }

  let initialState = State()
  let runtime: Runtime<Action, Action, State>
  let next = Link()

  // Owner only.
  nonisolated(unsafe) private var isReducing = false
  nonisolated(unsafe) private(set) var wasEnteredTwice = false

  init(on placement: Placement, capacity: Int, failures: FailureCounter) {
    runtime = Runtime(on: placement, capacity: capacity, onFailure: { failures.note($0) })
  }

  func mutate(action: Action) -> Observable<Action> {
    if action.hops > 0 { next.value?.send(Action(hops: action.hops - 1)) }
    return .just(action)
  }

  func reduce(into state: inout State, mutation: Action) {
    if isReducing { wasEnteredTwice = true }
    isReducing = true
    state.reduced += 1
    if mutation.hops > 0 { state.forwarded += 1 }
    isReducing = false
  }
}
