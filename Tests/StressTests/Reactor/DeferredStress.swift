import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

extension StressTests {
  /// Threads that pin every slot of a state while others change it, so that its publication is deferred.
  @Suite struct DeferredStress {
    @Test
    func `when all threads have left, the newest state is shown`() {
      Scenario.announce("deferred states")
      Scenario("deferred states").run { scenario in
        var deferred = 0
        for round in 0..<StressMode.rounds(300) {
          let reactor = Counter()
          reactor.send(1)
          let (senders, readers, times, depth) = (4, 2, 6, 4)
          let crew = Crew(of: senders + readers) { index -> String? in
            var disturbance = Disturbance(scenario.generator(round * 8 + index))
            for _ in 0..<times {
              let complaint = reactor.readNested(depth, sends: index < senders, after: 0, &disturbance)
              if let complaint { return complaint }
            }
            return nil
          }
          for complaint in crew.join().compactMap({ $0 }) { Issue.record("\(complaint): \(scenario)") }
          // Only the first read after the threads: a read that finds a deferred state publishes it for the next one.
          let (shown, sent) = (reactor.currentState, 1 + senders * times * depth)
          #expect(shown == sent, "in round \(round): \(scenario)")
          deferred += reactor.runtime.counters.deferredStates
          if shown != sent { return }
        }
        #expect(deferred > 0, "no state was deferred: \(scenario)")
      }
    }
  }
}

private final class Counter: Reactor {
  let runtime = Runtime<Int, Int, Int>(snapshots: .copied)
  let initialState = 0

  func mutate(action: Int) -> Observable<Int> { .just(action) }
  func reduce(into state: inout Int, mutation: Int) { state += mutation }

  /// Reads inside of reads, and may send an action in each, so that the next one reads another state. Returns what is wrong.
  func readNested(_ depth: Int, sends: Bool, after newest: Int, _ disturbance: inout Disturbance) -> String? {
    withCurrentState { state in
      if state < newest { return "state \(state) after \(newest)" }
      if sends { send(1) }
      disturbance.step()
      return depth == 1 ? nil : readNested(depth - 1, sends: sends, after: state, &disturbance)
    }
  }
}
