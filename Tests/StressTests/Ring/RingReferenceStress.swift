import ReactorCore
import TestSupport
import Testing

extension StressTests {
  /// Elements that own an object, in rings that are closed or destroyed while others send.
  @Suite struct RingReferenceStress {
    @Test
    func `no element leaks or is destroyed twice`() {
      Scenario.announce("ring of references")
      for capacity in [2, 4, 64] {
        for producers in [1, 2, 8] {
          for round in 0..<StressMode.rounds(8) {
            let parameters = "capacity \(capacity), \(producers) producers, round \(round)"
            Scenario("ring of references, \(parameters)").run {
              closeWhileSending(capacity, producers, $0)
            }
          }
        }
      }
    }

    /// The consumer closes the ring in the middle, and leaves some elements inside, which are destroyed with the
    /// ring.
    private func closeWhileSending(
      _ capacity: Int, _ producers: Int, _ scenario: Scenario
    ) {
      let lifetimes = Lifetimes()
      let received = receiveSome(capacity, producers, lifetimes, scenario)
      #expect(lifetimes.alive == 0, "\(scenario)")
      #expect(received.left >= 0 && received.left <= capacity, "\(scenario): \(received)")
    }

    private func receiveSome(
      _ capacity: Int, _ producers: Int, _ lifetimes: Lifetimes, _ scenario: Scenario
    ) -> (accepted: Int, received: Int, left: Int) {
      guard let made = try? Ring<LifetimeTracked>(capacity: capacity) else {
        Issue.record("no ring: \(scenario)")
        return (0, 0, -1)
      }
      let ring = Shared(made)
      let crew = Crew(of: producers) { producer in
        var disturbance = Disturbance(scenario.generator(producer))
        var accepted = 0
        while !ring.value.isClosed {
          disturbance.step()
          let count = 1 + disturbance.below(min(3, capacity))
          if ring.value.trySend(count: count, { lifetimes.track($0) }) == .accepted { accepted += count }
          if ring.value.trySend(lifetimes.track()).isAccepted { accepted += 1 } else { disturbance.idle() }
        }
        return accepted
      }
      var disturbance = Disturbance(scenario.generator(-1))
      let enough = 100 + disturbance.below(200)
      var received = 0
      while received < enough {
        received += ring.value.drain(upTo: 1 + disturbance.below(capacity)) { element in _ = element }
        disturbance.step()
      }
      ring.value.close()
      let accepted = crew.join().reduce(0, +)
      #expect(ring.value.wasCount == accepted - received, "\(scenario)")
      #expect(lifetimes.alive == accepted - received, "\(scenario)")
      return (accepted, received, accepted - received)
    }
  }
}
