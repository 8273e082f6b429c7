import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

extension StressTests {
  /// Many threads send to one reactor, which also sends to itself.
  @Suite struct ReactorFanInStress {
    @Test(arguments: Place.allCases)
    func `every action is reduced once, in its producer's order, one at a time`(
      place: Place
    ) {
      Scenario.announce("reactor fan-in, \(place)")
      for load in Self.loads(place, actions: 600, isRecorded: false) {
        Scenario("reactor fan-in, \(load)").run { fanIn(load, $0) }
      }
    }

    @Test(arguments: Place.allCases)
    func `a recorded history keeps real-time order, has one owner at a time, and refuses only when full`(
      place: Place
    ) {
      Scenario.announce("reactor history, \(place)")
      for load in Self.loads(place, actions: 300, isRecorded: true) {
        Scenario("reactor history, \(load)").run { fanIn(load, $0) }
      }
    }

    /// There are fewer for loops that never sleep, since such a loop occupies a processor.
    private static func loads(
      _ place: Place, actions: Int, isRecorded: Bool
    ) -> [ReactorLoad] {
      let sleeps = place == .caller || place == .parkingLoop
      var loads: [ReactorLoad] = []
      for capacity in sleeps ? [2, 4, 64, 4096] : [2, 64] {
        for producers in sleeps ? [1, 2, 4, 8] : [1, 3] {
          for (reentries, turnLimit) in [(0, 1024), (1, 3), (5, 1024)] {
            loads.append(
              ReactorLoad(
                place: place, capacity: capacity, producers: producers, turnLimit: turnLimit,
                actions: StressMode.rounds(actions) / producers, reentries: reentries,
                isRecorded: isRecorded))
          }
        }
      }
      return loads
    }

    private func fanIn(_ load: ReactorLoad, _ scenario: Scenario) {
      let failures = FailureCounter()
      let recorder = load.isRecorded ? HistoryRecorder() : nil
      let site = load.place.makeSite(turnLimit: load.turnLimit)
      let reactor = RecordingReactor(
        on: site.placement, capacity: load.capacity, producers: load.producers, recorder: recorder,
        failures: failures)
      let crew = Crew(of: load.producers) { producer in
        var disturbance = Disturbance(scenario.generator(producer))
        var sends: [History.Send] = []
        for sequence in 0..<load.actions {
          disturbance.step()
          let item = Item(producer: producer, sequence: sequence, countedBy: recorder?.payloads)
          let action = RecordingReactor.Action(item: item, reentries: load.reentries)
          let waits = disturbance.happens(onceIn: 2)
          while true {
            let (isAccepted, record) = Self.send(action, to: reactor, waits: waits, recorder)
            if let record { sends.append(record) }
            if disturbance.happens(onceIn: 32) { recorder?.count { reactor.counters.waiting } }
            if isAccepted { break }
            disturbance.idle()
          }
        }
        return sends
      }
      let sends = crew.join()
      site.end()

      let expected = load.producers * load.actions * (1 + load.reentries)
      #expect(failures.total == 0, "\(scenario)")
      #expect(!reactor.wasEnteredTwice, "\(scenario)")
      #expect(reactor.checker.complaint == nil, "\(scenario)")
      #expect(reactor.checker.next.reduce(0, +) == expected, "\(scenario)")
      #expect(reactor.currentState.reduced == expected, "\(scenario)")
      guard let recorder else { return }
      var history = recorder.history(reactor.log, sends.flatMap { $0 })
      history.noteReleases(ofMailboxWith: load.capacity)
      let checker = HistoryChecker(
        ofMailboxWith: load.capacity, turnLimit: load.turnLimit, at: load.place)
      let complaint = checker.complaint(about: history)
      #expect(complaint == nil, "\(scenario): \(complaint ?? "")")
      #expect(recorder.payloads.alive == 0, "\(scenario)")
      #expect(recorder.payloads.total == expected, "\(scenario)")
    }

    /// Sends once. Returns whether the action was accepted, and the record of the send.
    private static func send(
      _ action: RecordingReactor.Action, to reactor: RecordingReactor, waits: Bool,
      _ recorder: HistoryRecorder?
    ) -> (isAccepted: Bool, record: History.Send?) {
      func send() -> History.Send.Outcome {
        if waits {
          reactor.send(action)
          return .accepted
        }
        do throws(SendError) {
          try reactor.trySend(action)
          return .accepted
        } catch {
          return History.Send.Outcome(error)
        }
      }
      guard let recorder else { return (send() == .accepted, nil) }
      let record = recorder.send(action.item.producer, action.item.sequence, send)
      return (record.outcome == .accepted, record)
    }
  }
}
