import ReactorCore
import Synchronization
import TestSupport
import Testing

extension StressTests {
  /// Many producers, one ring, one consumer.
  @Suite struct RingFanInStress {
    @Test
    func `every element is received once, whole, and in its producer's order`() {
      Scenario.announce("ring fan-in")
      for load in RingLoad.all(elements: 4000, isRecorded: false) {
        Scenario("ring fan-in, \(load)").run { scenario in
          fanIn(load, scenario)
        }
      }
    }

    @Test
    func `a recorded history keeps real-time order and whole batches, and refuses only when full`() {
      Scenario.announce("ring history")
      for load in RingLoad.all(elements: 1500, isRecorded: true) {
        Scenario("ring history, \(load)").run { scenario in
          fanIn(load, scenario)
        }
      }
    }

    private func fanIn(_ load: RingLoad, _ scenario: Scenario) {
      guard let made = try? Ring<Item>(capacity: load.capacity, startingAt: load.firstCursor) else {
        Issue.record("no ring: \(scenario)")
        return
      }
      let ring = Shared(made)
      let recorder = load.isRecorded ? HistoryRecorder() : nil
      let finished = Shared(Atomic(0))
      let crew = Crew(of: load.producers) { index in
        var producer = RingProducer(
          index, load: load, recorder: recorder, disturbance: Disturbance(scenario.generator(index)))
        producer.run(ring.value)
        finished.value.wrappingAdd(1, ordering: .sequentiallyConsistent)
        return producer.sends
      }
      var consumer = RingConsumer(
        load: load, recorder: recorder, disturbance: Disturbance(scenario.generator(-1)))
      consumer.run(ring.value) { finished.value.load(ordering: .sequentiallyConsistent) == load.producers }
      let sends = crew.join()

      #expect(consumer.checker.complaint == nil, "\(scenario)")
      #expect(
        consumer.checker.next == Array(repeating: load.elements, count: load.producers), "\(scenario)")
      #expect(ring.value.wasCount == 0, "\(scenario)")
      if let recorder {
        let history = recorder.history(consumer.log, sends.flatMap { $0 })
        let complaint = HistoryChecker(capacity: load.capacity, hasOneThread: true).complaint(about: history)
        #expect(complaint == nil, "\(scenario): \(complaint ?? "")")
        #expect(recorder.payloads.alive == 0, "\(scenario)")
        #expect(recorder.payloads.total >= load.elements * load.producers, "\(scenario)")
      }
    }
  }
}
