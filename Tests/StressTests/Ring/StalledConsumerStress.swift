import ReactorCore
import Synchronization
import TestSupport
import Testing

extension StressTests {
  /// A consumer that stops for a while: the ring accepts exactly its capacity, and then refuses.
  @Suite struct StalledConsumerStress {
    @Test
    func `without a consumer, exactly the capacity is accepted`() {
      Scenario.announce("stalled consumer")
      for capacity in [2, 4, 64, 4096] {
        for producers in [1, 2, 8] {
          for start in RingLoad.Start.allCases {
            let parameters = "capacity \(capacity), \(producers) producers, start \(start)"
            Scenario("stalled consumer, \(parameters)").run {
              fillAndDrain(capacity, producers, start, $0)
            }
          }
        }
      }
    }

    /// Producers fill the ring until each of them was refused once; then everything is received. The rounds begin at
    /// different places in the ring.
    private func fillAndDrain(
      _ capacity: Int, _ producers: Int, _ start: RingLoad.Start, _ scenario: Scenario
    ) {
      guard
        let made = try? Ring<Item>(
          capacity: capacity, startingAt: start.cursor(halfway: 3 * capacity / 2))
      else {
        Issue.record("no ring: \(scenario)")
        return
      }
      let ring = Shared(made)
      let payloads = Lifetimes()
      for round in 0..<StressMode.rounds(3) {
        let crew = Crew(of: producers) { producer in
          var accepted = 0
          func item() -> Item { Item(producer: producer, sequence: accepted, countedBy: payloads) }
          while ring.value.trySend(item()).isAccepted { accepted += 1 }
          return accepted
        }
        let accepted = crew.join()
        #expect(accepted.reduce(0, +) == capacity, "\(scenario), round \(round)")
        #expect(ring.value.wasCount == capacity, "\(scenario), round \(round)")
        // The refused elements were destroyed.
        #expect(payloads.alive == capacity, "\(scenario), round \(round)")

        var checker = SequenceChecker(producers: producers)
        _ = ring.value.drain { checker.receive($0) }
        #expect(checker.complaint == nil, "\(scenario), round \(round)")
        #expect(checker.next == accepted, "\(scenario), round \(round)")
        #expect(payloads.alive == 0, "\(scenario), round \(round)")
        // Makes the next round begin at another slot.
        _ = ring.value.trySend(Item(producer: 0, sequence: 0))
        _ = ring.value.drain { item in _ = item }
      }
    }
  }
}
