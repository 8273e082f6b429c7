import ReactorCore
import Synchronization
import TestSupport
import Testing

extension StressTests {
  /// Lanes whose producers come and go all the time, also more of them than there are lanes.
  @Suite struct LanesStress {
    struct Load: CustomStringConvertible, Sendable {
      let limit: Int
      let capacity: Int
      let threads: Int
      let start: RingLoad.Start
      let isRecorded: Bool
      /// The number of registrations of each thread, and the most elements that are sent in one of them.
      let registrations = StressMode.rounds(30)
      let elements = 40

      var description: String {
        "\(limit) lanes, capacity \(capacity), \(threads) threads, start \(start)"
          + (isRecorded ? ", recorded" : "")
      }
    }

    @Test
    func `producers that come and go lose nothing and keep their order`() {
      Scenario.announce("lanes")
      for (limit, threads) in [(1, 2), (3, 8), (64, 4)] {
        for capacity in [2, 4, 64] {
          for start in [RingLoad.Start.zero, .near2To64] {
            for isRecorded in [false, true] {
              let load = Load(
                limit: limit, capacity: capacity, threads: threads, start: start,
                isRecorded: isRecorded)
              Scenario("lanes, \(load)").run { comeAndGo(load, $0) }
            }
          }
        }
      }
    }

    private func comeAndGo(_ load: Load, _ scenario: Scenario) {
      let start = load.start.cursor(halfway: 3 * load.capacity)
      guard
        let lanes = try? Lanes<Item>(limit: load.limit, capacity: load.capacity, startingAt: start)
      else {
        Issue.record("no lanes: \(scenario)")
        return
      }
      let recorder = load.isRecorded ? HistoryRecorder() : nil
      let finished = Shared(Atomic(0))
      let crew = Crew(of: load.threads) { thread in
        var disturbance = Disturbance(scenario.generator(thread))
        var sends: [[History.Send]] = []
        while sends.count < load.registrations {
          // A producer is a registration, not a thread.
          let producer = thread * load.registrations + sends.count
          guard let sent = Self.register(with: lanes, as: producer, load, recorder, &disturbance) else {
            disturbance.idle()
            continue
          }
          sends.append(sent)
        }
        finished.value.wrappingAdd(1, ordering: .sequentiallyConsistent)
        return sends
      }
      var disturbance = Disturbance(scenario.generator(-1))
      var checker = SequenceChecker(producers: load.threads * load.registrations)
      var log = OwnerLog(recorder)
      while true {
        let wasLast = finished.value.load(ordering: .sequentiallyConsistent) == load.threads
        let limit = disturbance.happens(onceIn: 4) ? Int.max : 1 + disturbance.below(2 * load.capacity)
        log.beginTurn()
        let count = lanes.drain(upTo: limit, share: 1 + disturbance.below(8)) { item in
          checker.receive(item)
          log.receive(item.id)
        }
        log.endTurn()
        log.noteReleased()
        if count > 0 { disturbance.step() } else if wasLast { break } else { disturbance.idle() }
      }
      let sends = crew.join().flatMap { $0 }
      #expect(checker.complaint == nil, "\(scenario)")
      #expect(checker.next == sends.map { $0.last { $0.outcome == .accepted }!.sequence + 1 }, "\(scenario)")
      if let recorder { judge(recorder.history(log, sends.flatMap { $0 }), load, scenario) }
      #expect(recorder?.payloads.alive ?? 0 == 0, "\(scenario)")
    }

    /// Among several lanes only each producer's order is guaranteed. A single lane is a ring with its own room.
    private func judge(_ history: History, _ load: Load, _ scenario: Scenario) {
      let together = HistoryChecker(keepsRealTimeOrder: false, hasOneThread: true)
      let complaint = together.complaint(about: history)
      #expect(complaint == nil, "\(scenario): \(complaint ?? "")")
      let lanes = history.byProducer
      #expect(lanes.count == load.threads * load.registrations, "\(scenario)")
      let alone = HistoryChecker(capacity: load.capacity)
      let complaints = lanes.compactMap { alone.complaint(about: $0) }
      #expect(complaints.isEmpty, "\(scenario): \(complaints.prefix(3))")
    }

    /// Registers a lane and sends some elements through it. Returns the sends, at least the last one, or nil if no
    /// lane was free.
    private static func register(
      with lanes: Lanes<Item>, as producer: Int, _ load: Load, _ recorder: HistoryRecorder?,
      _ disturbance: inout Disturbance
    ) -> [History.Send]? {
      guard var lane = try? lanes.register() else { return nil }
      var sends: [History.Send] = []
      let count = 1 + disturbance.below(load.elements)
      var sequence = 0
      while sequence < count {
        disturbance.step()
        let item = Item(producer: producer, sequence: sequence, countedBy: recorder?.payloads)
        let isAccepted: Bool
        if let recorder {
          let record = recorder.send(producer, sequence) { lane.trySend(item).isAccepted ? .accepted : .full }
          sends.append(record)
          isAccepted = record.outcome == .accepted
        } else {
          isAccepted = lane.trySend(item).isAccepted
          if isAccepted { sends = [History.Send(producer: producer, sequence: sequence, begin: 0, end: 0)] }
        }
        if isAccepted {
          sequence += 1
        } else {
          disturbance.idle()
        }
      }
      return sends
    }
  }
}
