import ReactorRuntime
import Synchronization
import TestSupport
import Testing

extension StressTests {
  /// Observers of a shared stream that come and go while it emits.
  @Suite struct SharingStress {
    @Test func `every observer of a shared stream sees it without gaps, and the last one ends it`() {
      Scenario.announce("sharing")
      for replay in [0, 1, 3] {
        for threads in [2, 3] {
          for round in 0..<StressMode.rounds(2) {
            Scenario("sharing, replay \(replay), \(threads) threads, round \(round)").run {
              comeAndGo(replay, threads, $0)
            }
          }
        }
      }
    }

    private func comeAndGo(_ replay: Int, _ threads: Int, _ scenario: Scenario) {
      let source = PublishSubject<Int>()
      let connections = Shared(Atomic(0))
      let connected = Shared(Atomic(0))
      let shared = Observable<Int>.create { observer in
        connections.value.wrappingAdd(1, ordering: .relaxed)
        connected.value.wrappingAdd(1, ordering: .relaxed)
        let subscription = source.subscribe(observer)
        return Disposables.create {
          subscription.dispose()
          connected.value.wrappingSubtract(1, ordering: .relaxed)
        }
      }.share(replay: replay)
      let isOver = Shared(Atomic(false))
      let logs = Crew(of: threads + 1) { thread -> [ObserverLog] in
        var disturbance = Disturbance(scenario.generator(thread))
        guard thread == 0 else { return observe(shared, until: isOver, &disturbance) }
        for element in 1...StressMode.perRound(20_000) {
          source.onNext(element)
          disturbance.step()
        }
        isOver.value.store(true, ordering: .relaxed)
        return []
      }.join().flatMap { $0 }
      #expect(connected.value.load(ordering: .relaxed) == 0, "\(scenario)")
      #expect(!source.hasObservers, "\(scenario)")
      #expect(connections.value.load(ordering: .relaxed) > 0, "\(scenario)")
      for log in logs {
        #expect(log.overlapCount == 0, "\(scenario)")
        let isWithoutGaps = zip(log.elements, log.elements.dropFirst()).allSatisfy { $1 == $0 + 1 }
        if !isWithoutGaps { Issue.record("gaps in \(log.elements.prefix(100)): \(scenario)") }
      }
    }

    private func observe(
      _ stream: Observable<Int>, until isOver: Shared<Atomic<Bool>>, _ disturbance: inout Disturbance
    ) -> [ObserverLog] {
      var logs: [ObserverLog] = []
      while !isOver.value.load(ordering: .relaxed), logs.count < 5000 {
        let log = ObserverLog()
        let subscription = stream.subscribe(onNext: log.next)
        disturbance.step()
        subscription.dispose()
        logs.append(log)
      }
      return logs
    }
  }
}
