import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

extension StressTests {
  /// Mailboxes that are always full: actions that wait beside the ring, actions that give way, and suspended tasks.
  @Suite struct FullMailboxStress {
    /// Threads that send from outside, and reactors that send from inside their turns, into one tiny mailbox.
    @Test(arguments: [Place.caller, .parkingLoop, .group, .hosted])
    func `the ring and what is kept beside it are one order`(place: Place) {
      Scenario.announce("spill, \(place)")
      for capacity in [1, 2, 4] {
        for isRecorded in [true, false] {
          let name = "spill, \(place), capacity \(capacity)"
          Scenario(isRecorded ? "\(name), recorded" : name).run {
            spill(place, capacity, isRecorded ? HistoryRecorder() : nil, $0)
          }
        }
      }
    }

    private func spill(
      _ place: Place, _ capacity: Int, _ recorder: HistoryRecorder?,
      _ scenario: Scenario
    ) {
      let (threads, actions) = (4, StressMode.rounds(1000))
      let failures = FailureCounter()
      let site = place.makeSite(turnLimit: 3)
      let target = RecordingReactor(
        on: site.placement, capacity: capacity, producers: threads, recorder: recorder, failures: failures)
      let crew = Crew(of: threads) { thread in
        var disturbance = Disturbance(scenario.generator(thread))
        // Every other thread sends from inside the turns of its own reactor.
        let relay = thread % 2 == 0 ? nil : TurnSender(to: target)
        var sends: [History.Send] = []
        for sequence in 0..<actions {
          disturbance.step()
          let item = Item(producer: thread, sequence: sequence, countedBy: recorder?.payloads)
          let action = RecordingReactor.Action(item: item)
          func send() { if let relay { relay.send(action) } else { target.send(action) } }
          guard let recorder else {
            send()
            continue
          }
          var record = recorder.reportedSend(thread, sequence, send)
          record.isFromTurn = relay != nil
          sends.append(record)
          if disturbance.happens(onceIn: 16) { recorder.count { target.counters.waiting } }
        }
        return sends
      }
      let sends = crew.join().flatMap { $0 }
      #expect(Threads.yield { target.withCurrentState { $0.reduced } == threads * actions }, "\(scenario)")
      site.end()
      #expect(failures.total == 0, "\(scenario)")
      #expect(target.checker.complaint == nil, "\(scenario): \(target.checker.complaint ?? "")")
      #expect(target.checker.next.reduce(0, +) == threads * actions, "\(scenario)")
      guard let recorder else { return }
      var history = recorder.history(target.log, sends)
      history.noteReleases(ofMailboxWith: capacity)
      let checker = HistoryChecker(ofMailboxWith: capacity, turnsSend: true, turnLimit: 3, at: place)
      let complaint = checker.complaint(about: history)
      #expect(complaint == nil, "\(scenario): \(complaint ?? "")")
      #expect(recorder.payloads.alive == 0, "\(scenario)")
      #expect(recorder.payloads.total == threads * actions, "\(scenario)")
    }

    @Test(arguments: [Place.caller, .parkingLoop])
    func `with dropOldest, remaining actions are reduced in order and dropped ones reported`(
      place: Place
    ) {
      Scenario.announce("drop oldest, \(place)")
      for capacity in [1, 2, 16] {
        Scenario("drop oldest, \(place), capacity \(capacity)").run {
          dropOldest(place, capacity, $0)
        }
      }
    }

    private func dropOldest(
      _ place: Place, _ capacity: Int, _ scenario: Scenario
    ) {
      let (threads, actions) = (4, StressMode.rounds(2000))
      let tally = ParcelTally()
      let loop = place.makeLoop(turnLimit: 3)
      let target = Slow(
        on: Placement(loop), capacity: capacity, overflow: .dropOldest, tally: tally)
      Crew(of: threads) { thread in
        var disturbance = Disturbance(scenario.generator(thread))
        for sequence in 0..<actions {
          disturbance.step()
          target.send(Parcel(from: thread, sequence, by: tally))
        }
      }.join()
      loop?.shutdown()
      let dropped = target.counters.dropped
      #expect(tally.refused == (dropped == 0 ? [:] : [.dropped: dropped]), "\(scenario)")
      #expect(tally.reduced.load(ordering: .relaxed) + dropped == threads * actions, "\(scenario)")
      #expect(tally.alive == 0, "\(scenario)")
      #expect(tally.reordered.load(ordering: .relaxed) == 0, "\(scenario)")
    }

    /// Thousands of tasks with one tiny mailbox. Some of them are cancelled or have a deadline, and threads take the
    /// room from them.
    @Test(arguments: [Place.caller, .parkingLoop])
    func `no suspended sender is lost or forgotten`(place: Place) {
      Scenario.announce("suspended senders, \(place)")
      for round in 0..<StressMode.rounds(10) {
        let capacity = [1, 2, 16][round % 3]
        Scenario("suspended senders, \(place), capacity \(capacity), round \(round)")
          .run {
            suspend(place, capacity, $0)
          }
      }
    }

    private func suspend(_ place: Place, _ capacity: Int, _ scenario: Scenario) {
      let tally = ParcelTally()
      let running = Shared(Atomic(0))
      let loop = place.makeLoop(turnLimit: 3)
      let target = Slow(on: Placement(loop), capacity: capacity, overflow: .block, tally: tally)
      Crew(of: 3) { thread in
        var disturbance = Disturbance(scenario.generator(thread))
        var tasks: [Task<Void, Never>] = []
        for number in 0..<200 {
          disturbance.step()
          let sender = 3 + thread * 200 + number
          let patience = disturbance.happens(onceIn: 2) ? nil : disturbance.below(3000)
          running.value.add(1, ordering: .relaxed)
          tasks.append(
            Task.detached {
              await Self.send(from: sender, to: target, patience, tally)
              running.value.subtract(1, ordering: .releasing)
            })
          if disturbance.happens(onceIn: 4) { target.send(Parcel(from: thread, number, by: tally)) }
          if disturbance.happens(onceIn: 4) { tasks[disturbance.below(tasks.count)].cancel() }
        }
      }.join()
      let hasEnded = Threads.yield(seconds: 30) { running.value.load(ordering: .acquiring) == 0 }
      #expect(hasEnded, "\(scenario): \(running.value.load(ordering: .relaxed)) tasks wait for ever")
      loop?.shutdown()
      let refused = tally.refused
      #expect(Set(refused.keys).isSubset(of: [.cancelled, .timedOut]), "\(scenario): \(refused)")
      let reduced = tally.reduced.load(ordering: .relaxed)
      #expect(reduced + refused.values.reduce(0, +) == tally.made.load(ordering: .relaxed), "\(scenario)")
      #expect(Threads.yield { tally.alive == 0 }, "\(scenario): \(tally.alive) alive")
      #expect(tally.reordered.load(ordering: .relaxed) == 0, "\(scenario)")
    }

    private static func send(
      from sender: Int, to target: Slow, _ patience: Int?, _ tally: ParcelTally
    ) async {
      for sequence in 0..<3 {
        let parcel = Parcel(from: sender, sequence, by: tally)
        do throws(SendError) {
          try await target.sendSuspending(
            parcel, before: patience.map { ContinuousClock.now + .microseconds($0) })
        } catch {
          parcel.noteRefused(error)
        }
      }
    }
  }
}

/// A slow reactor that checks each sender's order.
private final class Slow: Reactor {
  typealias Action = Parcel
  let initialState = 0
  let runtime: Runtime<Parcel, Parcel, Int>
  private let tally: ParcelTally
  // Owner only.
  nonisolated(unsafe) private var newest: [Int: Int] = [:]

  init(on placement: Placement, capacity: Int, overflow: OverflowPolicy, tally: ParcelTally) {
    self.tally = tally
    runtime = Runtime(
      on: placement, capacity: capacity, overflow: overflow,
      onFailure: { failure in
        guard let parcel = failure.action as? Parcel, let reason = failure.sendError else {
          preconditionFailure("\(failure)")
        }
        parcel.noteRefused(reason)
      })
  }

  func reduce(into state: inout Int, mutation: Parcel) {
    if let last = newest[mutation.sender], last >= mutation.sequence {
      tally.reordered.add(1, ordering: .relaxed)
    }
    newest[mutation.sender] = mutation.sequence
    mutation.noteReduced()
    if state % 4 == 0 { CurrentCore.pause(times: 64) }
    state += 1
  }
}
