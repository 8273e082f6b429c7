import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

extension StressTests {
  /// Reactors that are closed while others send, in each way and in each place.
  @Suite struct ClosingHistoryStress {
    private struct Load: CustomStringConvertible, Sendable {
      let place: Place
      /// The calls to close, one after the other. The later one overrules the earlier.
      let closings: [Closing]
      let capacity: Int
      let reentries: Int
      let threads = 3

      var description: String {
        let ways = closings.map { "\($0)" }.joined(separator: ", then ")
        return "\(place), \(ways), capacity \(capacity), \(reentries) re-entries"
      }
    }

    @Test(arguments: [Place.caller, .parkingLoop, .group, .hosted])
    func `sends are refused only after a close began, and accepted actions are processed or reported`(
      place: Place
    ) {
      Scenario.announce("closing history, \(place)")
      for closings in [[Closing.drain], [.discard], [.drain, .discard]] {
        for (capacity, reentries) in [(1, 0), (2, 2), (64, 0), (64, 1)] {
          let load = Load(
            place: place, closings: closings, capacity: capacity, reentries: reentries)
          for round in 0..<StressMode.rounds(6) {
            Scenario("closing history, \(load), round \(round)").run { close(load, $0) }
          }
        }
      }
    }

    private func close(_ load: Load, _ scenario: Scenario) {
      let recorder = HistoryRecorder()
      let site = load.place.makeSite(turnLimit: 3)
      var history = play(load, recorder, site, scenario)
      site.end()
      history.noteReleases(ofMailboxWith: load.capacity)
      let checker = HistoryChecker(
        ofMailboxWith: load.capacity, turnLimit: 3, at: load.place)
      let complaint = checker.complaint(about: history)
      #expect(complaint == nil, "\(scenario): \(complaint ?? "")")
      #expect(history.end != nil, "\(scenario): it does not end")
      #expect(recorder.payloads.alive == 0, "\(scenario)")
      #expect(recorder.payloads.total >= history.receptions.count + history.reports.count, "\(scenario)")
    }

    /// The reactor is gone when this returns.
    private func play(
      _ load: Load, _ recorder: HistoryRecorder, _ site: Site, _ scenario: Scenario
    ) -> History {
      let reactor = RecordingReactor(
        on: site.placement, capacity: load.capacity, producers: load.threads, keepsSequence: false,
        recorder: recorder, failures: FailureCounter())
      let crew = Crew(of: load.threads) { thread in
        Self.sendUntilClosed(thread, to: reactor, load, recorder, Disturbance(scenario.generator(thread)))
      }
      var generator = scenario.generator(-1)
      for closing in load.closings {
        usleep(UInt32(truncatingIfNeeded: generator.next() % 600))
        recorder.close(discards: closing == .discard) { reactor.close(closing) }
      }
      let hasEnded = reactor.waitUntilEnded(before: .now + .seconds(30))
      let end = recorder.clock.now()
      let sends = crew.join().flatMap { $0 }
      var history = recorder.history(reactor.log, sends)
      if hasEnded { history.end = end }
      return history
    }

    private static func sendUntilClosed(
      _ thread: Int, to reactor: RecordingReactor, _ load: Load, _ recorder: HistoryRecorder,
      _ seeded: Disturbance
    ) -> [History.Send] {
      var disturbance = seeded
      var sends: [History.Send] = []
      var sequence = 0
      while sends.last?.outcome != .closed {
        disturbance.step()
        let item = Item(producer: thread, sequence: sequence, countedBy: recorder.payloads)
        let action = RecordingReactor.Action(item: item, reentries: load.reentries)
        if disturbance.happens(onceIn: 2) {
          sends.append(recorder.reportedSend(thread, sequence) { reactor.send(action) })
        } else {
          let record = recorder.send(thread, sequence) {
            do throws(SendError) {
              try reactor.trySend(action)
              return .accepted
            } catch {
              return History.Send.Outcome(error)
            }
          }
          sends.append(record)
        }
        sequence += 1
      }
      return sends
    }
  }
}
