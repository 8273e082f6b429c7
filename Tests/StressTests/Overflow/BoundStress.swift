import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

extension StressTests {
  /// Reactors that are sent more than they may hold: from outside, from turns of other reactors, and by themselves.
  @Suite struct BoundStress {
    private struct Load: CustomStringConvertible, Sendable {
      let place: Place
      let policy: OverflowPolicy
      let capacity: Int
      let reentrantCapacity: Int
      let threads = 4
      let actions = StressMode.rounds(400)
      /// On loops.
      let turnLimit = 3

      var description: String {
        "\(place), \(policy), capacity \(capacity), re-entrant capacity \(reentrantCapacity)"
      }

      var checker: HistoryChecker {
        HistoryChecker(
          ofMailboxWith: capacity, policy: policy, reentrantCapacity: reentrantCapacity, turnsSend: true,
          turnLimit: turnLimit, at: place)
      }
    }

    @Test(arguments: [Place.caller, .parkingLoop, .group, .hosted])
    func `a reactor holds no more than its limits allow, whichever thread sends, and its turns are short`(
      place: Place
    ) {
      Scenario.announce("bounds, \(place)")
      for policy in [OverflowPolicy.block, .dropOldest] {
        for (capacity, reentrantCapacity) in [(1, 1), (2, 8), (16, 4)] {
          let load = Load(
            place: place, policy: policy, capacity: capacity, reentrantCapacity: reentrantCapacity)
          Scenario("bounds, \(load)").run { overload(load, $0) }
        }
      }
    }

    private func overload(_ load: Load, _ scenario: Scenario) {
      let recorder = HistoryRecorder()
      let failures = FailureCounter()
      let site = load.place.makeSite(turnLimit: load.turnLimit)
      let target = RecordingReactor(
        on: site.placement, capacity: load.capacity, overflow: load.policy,
        reentrantCapacity: load.reentrantCapacity, producers: load.threads, keepsSequence: false,
        recorder: recorder, failures: failures)
      let crew = Crew(of: load.threads) { thread in
        var disturbance = Disturbance(scenario.generator(thread))
        // Every other thread sends from inside the turns of its own reactor.
        let relay = thread % 2 == 0 ? nil : TurnSender(to: target)
        // An action that was pushed out had been accepted.
        let ignored: SendError? = load.policy == .dropOldest ? .dropped : nil
        return (0..<load.actions).map { sequence in
          disturbance.step()
          if disturbance.happens(onceIn: 16) { recorder.count { target.counters.waiting } }
          let item = Item(producer: thread, sequence: sequence, countedBy: recorder.payloads)
          let action = RecordingReactor.Action(item: item, reentries: disturbance.below(3))
          var record = recorder.reportedSend(thread, sequence, ignoring: ignored) {
            if let relay { relay.send(action) } else { target.send(action) }
          }
          record.isFromTurn = relay != nil
          return record
        }
      }
      let sends = crew.join().flatMap { $0 }
      let isEmpty = Threads.yield { target.counters.waiting == 0 }
      #expect(isEmpty, "\(scenario): \(target.counters)")
      site.end()
      var history = recorder.history(target.log, sends)
      history.noteReleases(ofMailboxWith: load.capacity)
      let complaint = load.checker.complaint(about: history)
      #expect(complaint == nil, "\(scenario): \(complaint ?? "")")
      #expect(!target.wasEnteredTwice, "\(scenario)")
      let made = load.threads * load.actions + target.ownSends
      #expect(failures.total + history.receptions.count == made, "\(scenario)")
      let refused = failures.count(.reentrantOverflow) + failures.count(.dropped)
      #expect(failures.total == refused, "\(scenario)")
      #expect(target.counters.largestTurn <= (load.place == .caller ? 1024 : load.turnLimit), "\(scenario)")
      #expect(recorder.payloads.alive == 0, "\(scenario)")
      #expect(recorder.payloads.total == made, "\(scenario)")
    }
  }
}
