import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

extension StressTests {
  /// Requests of several threads.
  @Suite struct AskStress {
    /// Each thread sets its own key and waits for the reply; then it reads the state.
    @Test(arguments: Place.allCases)
    func `nobody reads an older state after a reply`(place: Place) {
      Scenario.announce("replies, \(place)")
      for snapshots in [SnapshotPolicy.copied, .onDemand, .replayed] {
        for capacity in [2, 64] {
          Scenario("replies, \(place), \(snapshots), capacity \(capacity)").run { scenario in
            let site = place.makeSite()
            let store = AskedStore(on: site.placement, snapshots: snapshots, capacity: capacity)
            let crew = Crew(of: 4) { thread -> String? in
              for value in 1...StressMode.rounds(2000) {
                let isReplied = Gate()
                // Read where the reply arrives, on the thread of the reactor, and by the asker.
                let seen = Shared(OwnerIsolated(0))
                store.ask {
                  .set(thread, value, $0)
                } completion: { result in
                  if case .success = result { seen.value.value = store.withCurrentState { $0[thread] } }
                  isReplied.open()
                }
                if !isReplied.wait() { return "no reply" }
                let read = store.withCurrentState { $0[thread] }
                if seen.value.value != value || read != value {
                  return "\(seen.value.value) and \(read) read after \(value) was acknowledged"
                }
              }
              return nil
            }
            for complaint in crew.join().compactMap({ $0 }) { Issue.record("\(complaint): \(scenario)") }
            site.end()
          }
        }
      }
    }

    /// Threads and tasks ask while the reactor is closed; some replies are dropped, some kept.
    @Test(arguments: Place.allCases)
    func `every request ends exactly once while the reactor is closed`(place: Place) {
      Scenario.announce("requests and closing, \(place)")
      for closing in [Closing.drain, .discard] {
        Scenario("requests and closing, \(place), \(closing)").run(withinSeconds: 120) { scenario in
          for _ in 0..<StressMode.rounds(100) {
            let site = place.makeSite()
            let store = AskedStore(on: site.placement, snapshots: .automatic, capacity: 8)
            let results = Record<Int>()
            let count = 40
            let tasks = Gate(count: 3)
            for task in 0..<3 {
              Task {
                for index in 0..<count {
                  _ = try? await store.ask { (index % 4 == 0 ? .drop($0) : .set(task, index, $0)) }
                }
                tasks.open()
              }
            }
            let crew = Crew(of: 3) { thread -> String? in
              for index in 0..<count {
                if thread == 0, index == count / 2 { store.close(closing) }
                store.ask {
                  index % 4 == 0 ? .drop($0) : .set(thread, index, $0)
                } completion: { _ in
                  results.append(thread * count + index)
                }
              }
              return nil
            }
            _ = crew.join()
            #expect(tasks.wait(), "a task hangs: \(scenario)")
            site.end()
            let isComplete = Threads.yield(seconds: StressMode.patience) {
              results.elements.count >= 3 * count
            }
            #expect(isComplete && results.elements.sorted() == Array(0..<3 * count), "\(scenario)")
          }
        }
      }
    }
  }
}

private final class AskedStore: Reactor {
  enum Action: Sendable {
    case set(Int, Int, Reply<Int>)
    case drop(Reply<Int>)
  }
  typealias Mutation = Action

  let initialState = Array(repeating: 0, count: 4)
  let runtime: Runtime<Action, Action, [Int]>

  init(on placement: Placement, snapshots: SnapshotPolicy, capacity: Int) {
    runtime = Runtime(on: placement, snapshots: snapshots, capacity: capacity, onFailure: { _ in })
  }

  func reduce(into state: inout [Int], mutation: Action) {
    guard case .set(let key, let value, let reply) = mutation else { return }
    // First the reply, then the change.
    reply(value)
    state[key] = value
  }
}
