import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

extension StressTests {
  /// Mailboxes that are mostly full, with each policy, and in each place.
  @Suite struct OverflowHistoryStress {
    private struct Load: CustomStringConvertible, Sendable {
      let place: Place
      let policy: OverflowPolicy
      let capacity: Int
      let threads = 4
      let actions = StressMode.rounds(400)
      let reentrantCapacity = 4
      /// On loops.
      let turnLimit = 3

      var description: String { "\(place), \(policy), capacity \(capacity)" }

      var checker: HistoryChecker {
        HistoryChecker(
          ofMailboxWith: capacity, policy: policy, reentrantCapacity: reentrantCapacity,
          turnLimit: turnLimit, at: place)
      }
    }

    @Test(
      arguments: [OverflowPolicy.block, .fail, .dropNewest, .dropOldest])
    func `refused and dropped actions found no room, and all others are processed in order`(
      policy: OverflowPolicy
    ) {
      Scenario.announce("overflow history, \(policy)")
      for place in [Place.caller, .parkingLoop, .group, .hosted] {
        for capacity in [1, 2, 16] {
          let load = Load(place: place, policy: policy, capacity: capacity)
          Scenario("overflow history, \(load)").run { overflow(load, $0) }
        }
      }
    }

    private func overflow(_ load: Load, _ scenario: Scenario) {
      let recorder = HistoryRecorder()
      let failures = FailureCounter()
      let site = load.place.makeSite(turnLimit: load.turnLimit)
      let target = RecordingReactor(
        on: site.placement, capacity: load.capacity, overflow: load.policy,
        reentrantCapacity: load.reentrantCapacity, producers: load.threads, keepsSequence: false,
        recorder: recorder, failures: failures)
      let crew = Crew(of: load.threads) { thread in
        var disturbance = Disturbance(scenario.generator(thread))
        return (0..<load.actions).map { sequence in
          disturbance.step()
          if disturbance.happens(onceIn: 16) { recorder.count { target.counters.waiting } }
          let item = Item(producer: thread, sequence: sequence, countedBy: recorder.payloads)
          // An action that was pushed out had been accepted.
          let ignored: SendError? = load.policy == .dropOldest ? .dropped : nil
          return recorder.reportedSend(thread, sequence, ignoring: ignored) {
            target.send(RecordingReactor.Action(item: item))
          }
        }
      }
      let sends = crew.join().flatMap { $0 }
      site.end()
      var history = recorder.history(target.log, sends)
      history.noteReleases(ofMailboxWith: load.capacity)
      let complaint = load.checker.complaint(about: history)
      #expect(complaint == nil, "\(scenario): \(complaint ?? "")")
      #expect(!target.wasEnteredTwice, "\(scenario)")
      #expect(failures.total + history.receptions.count == load.threads * load.actions, "\(scenario)")
      #expect(load.policy != .block || failures.total == 0, "\(scenario)")
      #expect(recorder.payloads.alive == 0, "\(scenario)")
      #expect(recorder.payloads.total == load.threads * load.actions, "\(scenario)")
    }

    @Test(arguments: [Place.caller, .parkingLoop, .group, .hosted])
    func `actions of suspended tasks are processed in order, or their tasks get an error`(
      place: Place
    ) {
      Scenario.announce("suspended history, \(place)")
      for capacity in [1, 2, 16] {
        let load = Load(place: place, policy: .block, capacity: capacity)
        for round in 0..<StressMode.rounds(3) {
          Scenario("suspended history, \(load), round \(round)").run { suspend(load, $0) }
        }
      }
    }

    /// Many tasks with a few actions each. Some have a deadline, or are cancelled.
    private func suspend(_ load: Load, _ scenario: Scenario) {
      let (tasks, actions) = (100, 4)
      let recorder = HistoryRecorder()
      let failures = FailureCounter()
      let site = load.place.makeSite(turnLimit: load.turnLimit)
      let target = RecordingReactor(
        on: site.placement, capacity: load.capacity, reentrantCapacity: load.reentrantCapacity,
        producers: tasks, keepsSequence: false, recorder: recorder, failures: failures)
      let ended = Gate(count: tasks)
      let records = Record<[History.Send]>()
      var generator = scenario.generator(-1)
      for producer in 0..<tasks {
        let patience = generator.happens(onceIn: 2) ? nil : generator.below(1000)
        let task = Task.detached {
          var sends: [History.Send] = []
          for sequence in 0..<actions {
            let item = Item(producer: producer, sequence: sequence, countedBy: recorder.payloads)
            let action = RecordingReactor.Action(item: item)
            let begin = recorder.clock.now()
            let deadline = patience.map { ContinuousClock.now + .microseconds($0) }
            let outcome = await Self.send(action, to: target, before: deadline)
            sends.append(
              History.Send(
                producer: producer, sequence: sequence, begin: begin, end: recorder.clock.now(),
                outcome: outcome, isBeforeDeadline: deadline.map { ContinuousClock.now < $0 } ?? false,
                isTaskCancelled: Task.isCancelled))
          }
          records.append(sends)
          ended.open()
        }
        if generator.happens(onceIn: 8) { task.cancel() }
      }
      #expect(ended.wait(), "\(scenario): tasks wait for ever")
      site.end()
      var history = recorder.history(target.log, records.elements.flatMap { $0 })
      history.noteReleases(ofMailboxWith: load.capacity)
      let complaint = load.checker.complaint(about: history)
      #expect(complaint == nil, "\(scenario): \(complaint ?? "")")
      #expect(history.sends.count == tasks * actions, "\(scenario)")
      #expect(failures.total == 0, "\(scenario)")
      #expect(Threads.yield { recorder.payloads.alive == 0 }, "\(scenario)")
      #expect(recorder.payloads.total == tasks * actions, "\(scenario)")
    }

    private static func send(
      _ action: RecordingReactor.Action, to target: RecordingReactor,
      before deadline: ContinuousClock.Instant?
    ) async -> History.Send.Outcome {
      do throws(SendError) {
        try await target.sendSuspending(action, before: deadline)
        return .accepted
      } catch {
        return History.Send.Outcome(error)
      }
    }
  }
}
