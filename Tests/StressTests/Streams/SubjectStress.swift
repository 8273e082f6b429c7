import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

extension StressTests {
  /// Threads that send events to a subject, subscribe and dispose at the same time.
  @Suite struct SubjectStress {
    @Test func `all observers see the same order, which keeps each thread's order`() {
      Scenario.announce("subject order")
      for threads in [2, 4] {
        for round in 0..<StressMode.rounds(4) {
          Scenario("subject order, \(threads) threads, round \(round)").run { bring(threads, $0) }
        }
      }
    }

    private func bring(_ threads: Int, _ scenario: Scenario) {
      let perThread = 10_000
      let subject = PublishSubject<Int>()
      let logs = (0..<3).map { _ in ObserverLog() }
      for log in logs { _ = subject.subscribe(onNext: log.next) }
      // An observer sends the negative of the element that it received.
      _ = subject.subscribe(onNext: { element in
        if element > 0, element % 16 == 0 { subject.onNext(-element) }
      })
      Crew(of: threads) { thread in
        var disturbance = Disturbance(scenario.generator(thread))
        for index in 1...perThread {
          subject.onNext(thread * perThread + index)
          disturbance.step()
        }
      }.join()
      subject.onCompleted()
      let order = logs[0].elements
      #expect(logs.allSatisfy { $0.overlapCount == 0 }, "\(scenario)")
      #expect(logs.allSatisfy { $0.elements == order }, "\(scenario)")
      let sent = 1...threads * perThread
      #expect(Set(order) == Set(sent).union(sent.filter { $0 % 16 == 0 }.map(-)), "\(scenario)")
      #expect(order.count == sent.count + sent.count / 16, "\(scenario)")
      for thread in 0..<threads {
        let own = order.filter { $0 > thread * perThread && $0 <= (thread + 1) * perThread }
        #expect(own == own.sorted(), "\(scenario)")
      }
    }

    @Test func `a late observer receives the last element, and then each later one, once`() {
      Scenario.announce("late subscribers")
      for (bringing, subscribing) in [(1, 1), (2, 2), (1, 3), (3, 1)] {
        for round in 0..<StressMode.rounds(2) {
          Scenario("late subscribers, \(bringing) bring, \(subscribing) subscribe, round \(round)").run {
            subscribeLate(bringing, subscribing, $0)
          }
        }
      }
    }

    private struct Late: Sendable {
      let log: ObserverLog
      let valueBefore: Int
      let wasDisposed: Bool
      let wasToldAtOnce: Bool
    }

    private func subscribeLate(_ bringing: Int, _ subscribing: Int, _ scenario: Scenario) {
      let lifetimes = Lifetimes()
      let all = ObserverLog()
      let perThread = StressMode.perRound(10_000)
      var late: [Late] = []
      do {
        let relay = StateRelay(value: lifetimes.track(0))
        _ = relay.subscribe(onNext: { all.next($0.value) })
        let hasEnded = Shared(Atomic(0))
        let crew = Crew(of: bringing + subscribing) { thread -> [Late] in
          var disturbance = Disturbance(scenario.generator(thread))
          if thread >= bringing {
            return subscribe(
              to: relay, until: { hasEnded.value.load(ordering: .relaxed) == bringing }, &disturbance)
          }
          for index in 1...perThread {
            relay.accept(lifetimes.track(thread * perThread + index))
            disturbance.step()
          }
          hasEnded.value.wrappingAdd(1, ordering: .relaxed)
          return []
        }
        late = crew.join().flatMap { $0 }
        // Only the subject's value is left, and nothing that was queued.
        #expect(lifetimes.alive == 1, "\(scenario)")
      }
      #expect(lifetimes.alive == 0, "\(scenario)")
      #expect(all.elements.count == bringing * perThread + 1, "\(scenario)")
      let positions = Dictionary(uniqueKeysWithValues: zip(all.elements, 0...))
      for subscription in late {
        #expect(subscription.wasToldAtOnce, "\(scenario)")
        let complaint = subscription.log.complaint(
          against: all.elements, positions: positions, from: positions[subscription.valueBefore] ?? .max,
          toTheEnd: !subscription.wasDisposed)
        if let complaint { Issue.record("\(complaint): \(scenario)") }
      }
    }

    /// Subscribes again and again, and disposes most.
    private func subscribe(
      to relay: StateRelay<LifetimeTracked>, until isOver: () -> Bool, _ disturbance: inout Disturbance
    ) -> [Late] {
      var late: [Late] = []
      while !isOver(), late.count < 2000 {
        let log = ObserverLog()
        let before = relay.value.value
        // This observer is slow to process the value, so that others deliver later elements meanwhile.
        let pause = disturbance.below(400)
        let subscription = relay.subscribe(onNext: {
          if log.isEmpty { CurrentCore.pause(times: pause) }
          log.next($0.value)
        })
        let wasToldAtOnce = !log.isEmpty
        disturbance.step()
        let wasDisposed = !disturbance.happens(onceIn: 50)
        if wasDisposed { subscription.dispose() }
        late.append(
          Late(log: log, valueBefore: before, wasDisposed: wasDisposed, wasToldAtOnce: wasToldAtOnce))
      }
      return late
    }

    @Test func `an observer that subscribes around the end receives the end once, and last`() {
      Scenario.announce("subject end")
      Scenario("subject end").run { scenario in
        let subjects = (0..<StressMode.rounds(3000)).map { BehaviorSubject(value: $0) }
        let line = Shared(StartingLine(threads: 3))
        let logs = Crew(of: 3) { thread -> [ObserverLog] in
          var generator = scenario.generator(thread)
          return subjects.map { subject in
            let log = ObserverLog()
            line.value.meet()
            CurrentCore.pause(times: generator.below(32))
            if thread == 0 {
              subject.onNext(-1)
              subject.onNext(-2)
              subject.onCompleted()
            } else {
              _ = subject.subscribe(onNext: log.next, onCompleted: log.end)
            }
            return log
          }
        }.join()[1...].flatMap { $0 }
        #expect(subjects.allSatisfy { !$0.hasObservers }, "\(scenario)")
        #expect(logs.allSatisfy { $0.ends == 1 && $0.elementsAfterTheEnd == 0 }, "\(scenario)")
        #expect(logs.allSatisfy { $0.overlapCount == 0 }, "\(scenario)")
        #expect(logs.allSatisfy { $0.elements.suffix(1) == [-2] || $0.elements.isEmpty }, "\(scenario)")
      }
    }
  }
}
