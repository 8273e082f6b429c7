import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

extension StressTests {
  /// Many threads send to one reactor, which also sends to itself.
  @Suite struct ReactorFanInStress {
    @Test(arguments: CoreUnderTest.allCases, Place.allCases)
    func `every action is reduced once, in its producer's order, one at a time`(
      core: CoreUnderTest, place: Place
    ) {
      Scenario.announce("reactor fan-in, \(place)", on: core)
      for load in Self.loads(core, place, actions: 600, isRecorded: false) {
        Scenario("reactor fan-in, \(load)").run { fanIn(core.type, load, $0) }
      }
    }

    @Test(arguments: CoreUnderTest.allCases, Place.allCases)
    func `the history of a reactor has real-time order, re-entrant actions included`(
      core: CoreUnderTest, place: Place
    ) {
      Scenario.announce("reactor history, \(place)", on: core)
      for load in Self.loads(core, place, actions: 300, isRecorded: true) {
        Scenario("reactor history, \(load)").run { fanIn(core.type, load, $0) }
      }
    }

    /// Fewer for loops that never sleep: such a loop takes a processor for itself.
    private static func loads(
      _ core: CoreUnderTest, _ place: Place, actions: Int, isRecorded: Bool
    ) -> [ReactorLoad] {
      let sleeps = place == .caller || place == .parkingLoop
      var loads: [ReactorLoad] = []
      for capacity in sleeps ? [2, 4, 64, 4096] : [2, 64] {
        for producers in sleeps ? [1, 2, 4, 8] : [1, 3] {
          for (reentries, turnLimit) in [(0, 1024), (1, 3), (5, 1024)] {
            loads.append(
              ReactorLoad(
                core: core, place: place, capacity: capacity, producers: producers, turnLimit: turnLimit,
                actions: StressMode.rounds(actions) / producers, reentries: reentries,
                isRecorded: isRecorded))
          }
        }
      }
      return loads
    }

    private func fanIn<C: Core>(_ core: C.Type, _ load: ReactorLoad, _ scenario: Scenario) {
      let failures = FailureCounter()
      let clock = load.isRecorded ? LogicalClock() : nil
      let loop = load.place.makeLoop(on: core, turnLimit: load.turnLimit)
      let reactor = RecordingReactor<C>(
        on: PlacementOn(loop), capacity: load.capacity, producers: load.producers, clock: clock,
        failures: failures)
      let crew = Crew(of: load.producers) { producer in
        var disturbance = Disturbance(scenario.generator(producer))
        var sends: [History.Send] = []
        for sequence in 0..<load.actions {
          disturbance.step()
          let item = Item(producer: producer, sequence: sequence)
          let action = RecordingReactor<C>.Action(item: item, reentries: load.reentries)
          let begin = clock?.now() ?? 0
          if disturbance.happens(onceIn: 2) {
            reactor.send(action)
          } else {
            while (try? reactor.trySend(action)) == nil { disturbance.idle() }
          }
          if let clock {
            sends.append(
              History.Send(producer: producer, sequence: sequence, begin: begin, end: clock.now()))
          }
        }
        return sends
      }
      let sends = crew.join()
      // On the caller everything is done by now; a loop does what was sent before it ends.
      loop?.shutdown()

      let expected = load.producers * load.actions * (1 + load.reentries)
      #expect(failures.total == 0, "\(scenario)")
      #expect(!reactor.wasEnteredTwice, "\(scenario)")
      #expect(reactor.checker.complaint == nil, "\(scenario)")
      #expect(reactor.checker.next.reduce(0, +) == expected, "\(scenario)")
      #expect(reactor.currentState.reduced == expected, "\(scenario)")
      if load.isRecorded {
        var history = reactor.history
        history.sends += sends.flatMap { $0 }
        let violations = HistoryChecker().violations(in: history)
        #expect(violations.isEmpty, "\(scenario): \(violations.count) violations, \(violations.prefix(3))")
      }
    }
  }
}
