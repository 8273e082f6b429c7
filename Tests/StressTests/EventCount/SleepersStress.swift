import ReactorCore
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

extension StressTests {
  /// Several sleepers on one event count, each with its own condition. One of them at a time is to wake. The others
  /// wake for nothing, and prepare again while that one may still be about to sleep.
  @Suite struct SleepersStress {
    /// A condition: how often it was made true, and how often its sleeper noticed.
    private struct Bell: ~Copyable, Sendable {
      let rung = Atomic(0)
      let heard = Atomic(0)
    }

    /// In nanoseconds; longer than the notifier waits for a sleeper.
    private static let patience = Int64(StressMode.patience + 10) * 1_000_000_000
    /// Set before the last notification.
    private static let over = Int.max

    @Test
    func `each of several sleepers is woken for its own condition`() {
      Scenario.announce("sleepers")
      for sleepers in [1, 2, 4] {
        Scenario("sleepers, \(sleepers) sleepers").run(withinSeconds: 120) {
          ring(sleepers, $0)
        }
      }
    }

    private func ring(_ sleepers: Int, _ scenario: Scenario) {
      guard let made = try? EventCount() else {
        Issue.record("no event count: \(scenario)")
        return
      }
      let eventCount = Shared(made)
      let bells = (0..<sleepers).map { _ in Shared(Bell()) }
      let crew = Crew(of: sleepers + 1) { index -> String? in
        let generator = scenario.generator(index)
        if index < sleepers { return Self.listen(bells[index], eventCount, generator) }
        let complaint = Self.ring(bells, eventCount, StressMode.rounds(2000), generator)
        for bell in bells { bell.value.rung.store(Self.over, ordering: .releasing) }
        eventCount.value.notify()
        return complaint
      }
      for complaint in crew.join().compactMap({ $0 }) { Issue.record("\(complaint): \(scenario)") }
    }

    private static func listen(
      _ bell: Shared<Bell>, _ eventCount: Shared<EventCount>, _ seeded: SplitMix64
    ) -> String? {
      var generator = seeded
      var heard = 0
      while true {
        let start = ContinuousClock.now
        _ = eventCount.value.wait(timeoutNanoseconds: patience) {
          let isTrue = bell.value.rung.load(ordering: .acquiring) > heard
          // Between the check and the sleep the notifier notifies and others prepare.
          if !isTrue, generator.happens(onceIn: 4) {
            usleep(UInt32(truncatingIfNeeded: generator.next() % 300))
          }
          return isTrue
        }
        heard = bell.value.rung.load(ordering: .acquiring)
        if heard == over { return nil }
        bell.value.heard.store(heard, ordering: .releasing)
        // If it was not rung for all that time, the notifier has failed already.
        if start.duration(to: .now) >= .nanoseconds(patience) { return "a sleeper was not woken" }
      }
    }

    private static func ring(
      _ bells: [Shared<Bell>], _ eventCount: Shared<EventCount>, _ rounds: Int, _ seeded: SplitMix64
    ) -> String? {
      var generator = seeded
      for round in 1...rounds {
        let bell = bells[generator.below(bells.count)]
        if generator.happens(onceIn: 2) {
          usleep(UInt32(truncatingIfNeeded: generator.next() % 200))
        } else {
          CurrentCore.pause(times: generator.below(200))
        }
        bell.value.rung.store(round, ordering: .releasing)
        eventCount.value.notify()
        let isHeard = Threads.yield(seconds: StressMode.patience) {
          bell.value.heard.load(ordering: .acquiring) == round
        }
        if !isHeard { return "a wake-up was lost in round \(round)" }
      }
      return nil
    }
  }
}
