import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

extension StressTests {
  /// Threads that send to few keys while others passivate them: each action is processed once, in its sender's order, and
  /// a key has one reactor at a time.
  @Suite struct KeyedStress {
    @Test(arguments: [false, true])
    func `no action is lost while reactors come and go`(onLoops: Bool) throws {
      Scenario.announce("keyed, \(onLoops ? "group" : "caller")")
      try Scenario("keyed, \(onLoops ? "group" : "caller")").run { scenario in
        let group = onLoops ? try LoopGroup(name: "keyed", count: 2) : nil
        for round in 0..<StressMode.rounds(8) {
          run(group, limit: round % 2 == 0 ? .max : 4, round, scenario)
        }
        group?.shutdown()
      }
    }

    private func run(_ group: LoopGroup?, limit: Int, _ round: Int, _ scenario: Scenario) {
      let (senders, keys, count) = (3, 8, StressMode.perRound(2000))
      let store = TallyStore(keys: keys, senders: senders)
      let tallies = KeyedReactors<Int, Tally>(
        upTo: limit, waitingCapacity: .max, onPassivate: { key, state in store.keep(copy state, of: key) },
        make: { key in
          Tally(store.takeOut(key), on: group.map { .group($0, key: key) } ?? .caller, store.complaints)
        })
      let sendersLeft = Shared(Atomic(senders))
      let sent = Crew(of: senders + 1) { index -> [Int] in
        var (generator, sent) = (scenario.generator(round * 8 + index), [Int](repeating: 0, count: keys))
        if index == senders {
          // Relaxed: it only ends the loop.
          while sendersLeft.value.load(ordering: .relaxed) > 0 {
            if generator.below(2) == 0 {
              tallies.passivate(generator.below(keys))
            } else {
              tallies.passivate(idleFor: .zero)
            }
            CurrentCore.pause(times: generator.below(200))
          }
          return sent
        }
        for step in 0..<count {
          // A round takes milliseconds, in which the passivating thread may not have begun: nothing would come and go.
          if step == count / 2 { #expect(Threads.yield { tallies.counters.passivated > 0 }, "\(scenario)") }
          let key = generator.below(keys)
          sent[key] += 1
          tallies.send(Tally.Action(sender: index, number: sent[key]), to: key)
          if generator.below(16) == 0 { _ = tallies.withCurrentState(of: key) { $0.last[index] } }
        }
        sendersLeft.value.wrappingSubtract(1, ordering: .relaxed)
        return sent
      }.join()
      tallies.close()
      let unfinished = tallies.finishClosing(before: .now + .seconds(StressMode.seconds(40)))
      #expect(unfinished.isEmpty, "\(scenario)")
      for key in 0..<keys {
        #expect(store.takeOut(key).last == (0..<senders).map { sent[$0][key] }, "key \(key), \(scenario)")
      }
      for complaint in store.complaints.elements { Issue.record("\(complaint): \(scenario)") }
      let counters = tallies.counters
      #expect(counters.made == counters.passivated && counters.made > keys, "\(counters), \(scenario)")
    }
  }
}

/// The last number of each sender.
private final class Tally: Reactor {
  struct Action: Sendable {
    let sender: Int
    let number: Int
  }
  struct State: Sendable { var last: [Int] }

  let initialState: State
  let runtime: Runtime<Action, Action, State>
  private let complaints: Record<String>

  init(_ state: State, on placement: Placement, _ complaints: Record<String>) {
    initialState = state
    self.complaints = complaints
    runtime = Runtime(
      on: placement, capacity: 64, onFailure: { complaints.append("not delivered: \($0.cause)") })
  }

  func reduce(into state: inout State, mutation: Action) {
    if mutation.number != state.last[mutation.sender] + 1 {
      complaints.append("\(mutation) after \(state.last[mutation.sender])")
    }
    state.last[mutation.sender] = mutation.number
  }
}

/// The states of the keys that have no reactor.
private final class TallyStore: Sendable {
  let complaints = Record<String>()
  private let states: SystemMutex<[Tally.State?]>

  init(keys: Int, senders: Int) {
    let state = Tally.State(last: [Int](repeating: 0, count: senders))
    states = SystemMutex([Tally.State?](repeating: state, count: keys))
  }

  func takeOut(_ key: Int) -> Tally.State {
    let state = states.withLock { $0[key].take() }
    if state == nil { complaints.append("key \(key) has two reactors at a time") }
    return state ?? Tally.State(last: [])
  }

  func keep(_ state: Tally.State, of key: Int) {
    let other = states.withLock { states in
      defer { states[key] = state }
      return states[key]
    }
    if other != nil { complaints.append("key \(key) was kept twice") }
  }
}
