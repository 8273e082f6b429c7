import ReactorCore
import Synchronization
import TestSupport
import Testing

extension StressTests {
  /// Sleepers and notifiers. A lost wake-up shows as a sleep that only its timeout ended.
  @Suite struct EventCountStress {
    /// In nanoseconds.
    private static let patience = Int64(StressMode.patience) * 1_000_000_000

    /// Sleeps until the condition holds. Returns false if only the timeout ended the sleep.
    private static func wasWoken(
      by eventCount: borrowing EventCount, until condition: () -> Bool
    ) -> Bool {
      let start = ContinuousClock.now
      let isTrue = eventCount.wait(timeoutNanoseconds: patience, until: condition)
      return isTrue && start.duration(to: .now) < .nanoseconds(patience)
    }

    // MARK: One item in flight

    @Test(arguments: [EventCountKind.futex, .descriptor])
    func `a consumer that parks is woken for each item`(kind: EventCountKind) {
      Scenario.announce("parked consumer, \(kind)")
      Scenario("parked consumer, \(kind)").run(withinSeconds: 120) { oneInFlight(kind, $0) }
    }

    /// The producer sends the next item only after the last one has arrived, so no later wake-up makes up for a lost
    /// one. And it sends at about the time at which the consumer goes to sleep.
    private func oneInFlight(_ kind: EventCountKind, _ scenario: Scenario) {
      guard let made = try? Ring<Item>(capacity: 2), let ec = try? EventCount(kind) else {
        Issue.record("no ring or no event count: \(scenario)")
        return
      }
      let items = StressMode.rounds(kind == .futex ? 60_000 : 5000)
      let ring = Shared(made)
      let eventCount = Shared(ec)
      let arrived = Shared(Atomic(0))
      let isOver = Shared(Atomic(false))
      let producer = Crew(of: 1) { _ in
        var generator = scenario.generator(0)
        for sequence in 0..<items {
          CurrentCore.pause(times: generator.below(generator.happens(onceIn: 16) ? 1000 : 64))
          _ = ring.value.trySend(Item(producer: 0, sequence: sequence))
          eventCount.value.notify()
          // Mostly spins, since a yield takes longer than going to sleep.
          var looks = 0
          while arrived.value.load(ordering: .acquiring) <= sequence {
            if isOver.value.load(ordering: .relaxed) { return }
            looks += 1
            if looks % 64 == 0 { DedicatedThread.yield() } else { CurrentCore.pause() }
          }
        }
      }
      var checker = SequenceChecker(producers: 1)
      var generator = scenario.generator(1)
      while checker.next[0] < items, checker.complaint == nil {
        CurrentCore.pause(times: generator.below(64))
        guard Self.wasWoken(by: eventCount.value, until: { ring.value.isReady }) else {
          Issue.record("a wake-up was lost before item \(checker.next[0]): \(scenario)")
          break
        }
        _ = ring.value.drain { checker.receive($0) }
        arrived.value.store(checker.next[0], ordering: .releasing)
      }
      isOver.value.store(true, ordering: .relaxed)
      producer.join()
      #expect(checker.complaint == nil, "\(scenario)")
    }

    // MARK: Many producers

    @Test
    func `a parked consumer of many producers gets everything`() {
      Scenario.announce("parked consumer of many")
      for capacity in [2, 64] {
        for producers in [1, 4, 8] {
          let load = RingLoad(
            capacity: capacity, producers: producers, start: .near2To56, sending: .mixed,
            elements: StressMode.rounds(4000) / producers, isRecorded: false)
          Scenario("parked consumer, \(load)").run(withinSeconds: 120) { fanIn(load, $0) }
        }
      }
    }

    private func fanIn(_ load: RingLoad, _ scenario: Scenario) {
      guard
        let made = try? Ring<Item>(capacity: load.capacity, startingAt: load.firstCursor),
        let ec = try? EventCount()
      else {
        Issue.record("no ring or no event count: \(scenario)")
        return
      }
      let ring = Shared(made)
      let eventCount = Shared(ec)
      let crew = Crew(of: load.producers) { index in
        var producer = RingProducer(
          index, load: load, recorder: nil, disturbance: Disturbance(scenario.generator(index)))
        producer.run(ring.value) { eventCount.value.notify() }
      }
      var checker = SequenceChecker(producers: load.producers)
      let expected = load.elements * load.producers
      var received = 0
      while received < expected {
        guard Self.wasWoken(by: eventCount.value, until: { ring.value.isReady }) else {
          Issue.record("a wake-up was lost after \(received) of \(expected) elements: \(scenario)")
          break
        }
        received += ring.value.drain { checker.receive($0) }
      }
      // After a failure producers would find the ring full for ever.
      while received < expected { received += ring.value.drain { checker.receive($0) } }
      crew.join()
      #expect(checker.complaint == nil, "\(scenario)")
    }
  }
}
