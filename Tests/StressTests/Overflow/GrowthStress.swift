import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

extension StressTests {
  /// Mailboxes that grow while everybody sends, from inside turns as well: each grows only a few times in its life,
  /// so there are many of them.
  @Suite struct GrowthStress {
    @Test
    func `a mailbox that grows is one order, whatever its parts are in the middle of`() {
      Scenario.announce("growth, step by step")
      for capacity in [16, 64, 1024] {
        Scenario("growth, step by step, capacity \(capacity)").run { scenario in
          for round in 0..<StressMode.rounds(3200 / capacity) {
            let play = GrowthPlay(capacity: capacity, steps: 6 * capacity, scenario.generator(round))
            let complaint = play.run()
            #expect(complaint == nil, "\(scenario), round \(round): \(complaint ?? "")")
            if complaint != nil { return }
          }
        }
      }
    }

    @Test(arguments: [Place.caller, .parkingLoop])
    func `mailboxes that grow while they are full keep the order`(place: Place) {
      Scenario.announce("growth, \(place)")
      for capacity in [16, 64] {
        Scenario("growth, \(place), capacity \(capacity)").run {
          grow(place, capacity, $0)
        }
      }
    }

    /// One reactor after the other, each of which is flooded from outside and from inside of turns.
    private func grow(_ place: Place, _ capacity: Int, _ scenario: Scenario) {
      let site = place.makeSite(turnLimit: 5)
      for round in 0..<StressMode.rounds(60) {
        let recorder = HistoryRecorder()
        let complaint = flood(site, capacity, recorder, scenario, round)
        #expect(complaint == nil, "\(scenario), round \(round): \(complaint ?? "")")
        #expect(Threads.yield { recorder.payloads.alive == 0 }, "\(scenario), round \(round)")
      }
      site.end()
    }

    private func flood(
      _ site: Site, _ capacity: Int, _ recorder: HistoryRecorder, _ scenario: Scenario, _ round: Int
    ) -> String? {
      let (threads, actions) = (4, 3 * capacity)
      let failures = FailureCounter()
      let target = RecordingReactor(
        on: site.placement, capacity: capacity, producers: threads, recorder: recorder, failures: failures)
      let sends = Crew(of: threads) { thread in
        var disturbance = Disturbance(scenario.generator(round * threads + thread))
        let relay = thread % 2 == 0 ? nil : TurnSender(to: target)
        return (0..<actions).map { sequence in
          disturbance.step()
          let item = Item(producer: thread, sequence: sequence, countedBy: recorder.payloads)
          let action = RecordingReactor.Action(item: item)
          return recorder.reportedSend(thread, sequence) {
            if let relay { relay.send(action) } else { target.send(action) }
          }
        }
      }.join().flatMap { $0 }
      guard Threads.yield(until: { target.currentState.reduced == threads * actions }) else {
        return "\(target.currentState.reduced) of \(threads * actions) reduced"
      }
      if failures.total > 0 { return "\(failures.total) refused" }
      return target.checker.complaint
        ?? HistoryChecker().complaint(about: recorder.history(target.log, sends))
    }
  }
}
