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
  /// Observers of a shared stream that come and go while it emits.
  @Suite struct SharingStress {
    @Test func `every observer of a shared stream sees it without gaps, and the last one ends it`() {
      Scenario.announce("sharing")
      for replay in [0, 1, 3] {
        for threads in [2, 3] {
          for round in 0..<StressMode.rounds(2) {
            // Also in the brief mode, which has one round, both happen.
            let stays = (replay + threads + round).isMultiple(of: 2)
            let name = "sharing, replay \(replay), \(threads) threads, round \(round)"
            Scenario(name + (stays ? ", one stays" : "")).run(withinSeconds: 120) {
              comeAndGo(replay, threads, oneStays: stays, $0)
            }
          }
        }
      }
    }

    /// What the threads of a scenario share.
    private struct Stage: ~Copyable, Sendable {
      let connections = Atomic(0)
      let connected = Atomic(0)
      /// The most connections at the same time.
      let mostConnected = Atomic(0)
      /// Whether enough was emitted, so that the observers leave.
      let isOver = Atomic(false)
      let observing: Atomic<Int>
      /// How many observers that waited for the next element received none.
      let deaf = Atomic(0)

      init(threads: Int) { observing = Atomic(threads) }
    }

    /// - Parameter stays: Whether one observer stays from the beginning to the end.
    private func comeAndGo(_ replay: Int, _ threads: Int, oneStays stays: Bool, _ scenario: Scenario) {
      let source = PublishSubject<Int>()
      let stage = Shared(Stage(threads: threads))
      let shared = Observable<Int>.create { observer in
        stage.value.connections.wrappingAdd(1, ordering: .relaxed)
        let connected = stage.value.connected.wrappingAdd(1, ordering: .relaxed).newValue
        stage.value.mostConnected.max(connected, ordering: .relaxed)
        let subscription = source.subscribe(observer)
        return Disposables.create {
          subscription.dispose()
          stage.value.connected.wrappingSubtract(1, ordering: .relaxed)
        }
      }.share(replay: replay)
      let stayingLog = ObserverLog()
      let staying = stays ? shared.subscribe(onNext: stayingLog.next) : nil
      let logs = Crew(of: threads + 1) { thread -> [ObserverLog] in
        var disturbance = Disturbance(scenario.generator(thread))
        if thread > 0 { return observe(shared, replaying: replay, stage, &disturbance) }
        emit(to: source, stage, &disturbance)
        return []
      }.join().flatMap { $0 }
      staying?.dispose()
      #expect(stage.value.connected.load(ordering: .relaxed) == 0, "\(scenario)")
      #expect(stage.value.mostConnected.load(ordering: .relaxed) == 1, "\(scenario)")
      #expect(!source.hasObservers, "\(scenario)")
      #expect(stage.value.deaf.load(ordering: .relaxed) == 0, "\(scenario): observers received nothing")
      let connections = stage.value.connections.load(ordering: .relaxed)
      if stays {
        #expect(connections == 1, "\(scenario)")
        #expect(stayingLog.elements.first == 1, "\(scenario)")
        #expect(stayingLog.elements.count >= Self.elements, "\(scenario)")
      } else {
        #expect(connections > 0, "\(scenario)")
      }
      for log in logs + [stayingLog] {
        #expect(log.overlapCount == 0, "\(scenario)")
        let isWithoutGaps = zip(log.elements, log.elements.dropFirst()).allSatisfy { $1 == $0 + 1 }
        if !isWithoutGaps { Issue.record("gaps in \(log.elements.prefix(100)): \(scenario)") }
      }
    }

    private static var elements: Int { StressMode.perRound(20_000) }

    /// Emits, and goes on until no observer waits for an element any more.
    private func emit(
      to source: PublishSubject<Int>, _ stage: Shared<Stage>, _ disturbance: inout Disturbance
    ) {
      var element = 0
      while element < Self.elements || stage.value.observing.load(ordering: .relaxed) > 0 {
        element += 1
        source.onNext(element)
        disturbance.step()
        if element == Self.elements { stage.value.isOver.store(true, ordering: .relaxed) }
        if element >= Self.elements { usleep(50) }
      }
    }

    private func observe(
      _ stream: Observable<Int>, replaying replay: Int, _ stage: Shared<Stage>,
      _ disturbance: inout Disturbance
    ) -> [ObserverLog] {
      defer { stage.value.observing.wrappingSubtract(1, ordering: .relaxed) }
      var logs: [ObserverLog] = []
      while !stage.value.isOver.load(ordering: .relaxed), logs.count < 5000 {
        let log = ObserverLog()
        let subscription = stream.subscribe(onNext: log.next)
        if logs.isEmpty || disturbance.happens(onceIn: 8) {
          // More than it is replayed.
          let hears = Threads.yield(seconds: StressMode.patience) { log.eventCount > replay }
          if !hears { stage.value.deaf.wrappingAdd(1, ordering: .relaxed) }
        } else {
          disturbance.step()
        }
        subscription.dispose()
        logs.append(log)
      }
      return logs
    }
  }
}
