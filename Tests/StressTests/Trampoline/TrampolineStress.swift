import ReactorCore
import Synchronization
import TestSupport
import Testing

extension StressTests {
  /// A ring whose consumer is the thread that acquires the trampoline: a mailbox with nothing around it, so that
  /// turns are recorded from their first moment to their last.
  @Suite struct TrampolineStress {
    private struct Load: CustomStringConvertible, Sendable {
      let capacity: Int
      let threads: Int
      let turnLimit: Int
      let isRecorded: Bool
      let elements = StressMode.rounds(1500)

      var description: String {
        "capacity \(capacity), \(threads) threads, turn limit \(turnLimit)"
          + (isRecorded ? ", recorded" : "")
      }
    }

    @Test
    func `the ring has one consumer at a time, and none leaves while an element is inside`() {
      Scenario.announce("trampoline")
      for capacity in [2, 4, 64] {
        for (threads, turnLimit) in [(1, 3), (2, 1), (2, 1024), (4, 3), (8, 1024)] {
          for isRecorded in [true, false] {
            let load = Load(
              capacity: capacity, threads: threads, turnLimit: turnLimit, isRecorded: isRecorded)
            Scenario("trampoline, \(load)").run { share(load, $0) }
          }
        }
      }
    }

    private func share(_ load: Load, _ scenario: Scenario) {
      let recorder = load.isRecorded ? HistoryRecorder() : nil
      guard let made = try? SharedRing(load.capacity, load.threads, load.turnLimit, recorder) else {
        Issue.record("no ring or no trampoline: \(scenario)")
        return
      }
      let crew = Crew(of: load.threads) { thread in
        var disturbance = Disturbance(scenario.generator(thread))
        var sends: [History.Send] = []
        var sequence = 0
        while sequence < load.elements / load.threads {
          disturbance.step()
          let item = Item(producer: thread, sequence: sequence, countedBy: recorder?.payloads)
          var isAccepted = false
          if let recorder {
            sends.append(
              recorder.send(thread, sequence) {
                isAccepted = made.send(item)
                return isAccepted ? .accepted : .full
              })
          } else {
            isAccepted = made.send(item)
          }
          made.runTurns(&disturbance)
          if isAccepted { sequence += 1 }
        }
        return sends
      }
      let sends = crew.join().flatMap { $0 }
      // Every thread has checked the ring after its last send, so nothing is left to do.
      let left = made.ring.wasCount
      #expect(left == 0, "\(scenario)")
      let isIdle = made.trampoline.tryAcquire()
      #expect(isIdle, "\(scenario)")
      let complaint = made.checker.complaint
      #expect(complaint == nil, "\(scenario): \(complaint ?? "")")
      let expected = Array(repeating: load.elements / load.threads, count: load.threads)
      #expect(made.checker.next == expected, "\(scenario)")
      guard let recorder else { return }
      let history = recorder.history(made.log, sends)
      let violations = HistoryChecker(capacity: load.capacity).complaint(about: history)
      #expect(violations == nil, "\(scenario): \(violations ?? "")")
      #expect(recorder.payloads.alive == 0, "\(scenario)")
      #expect(recorder.payloads.total >= expected.reduce(0, +), "\(scenario)")
    }
  }
}

/// The protocol of a mailbox: send, then make sure that an owner processes what was sent.
private final class SharedRing: Sendable {
  let ring: Ring<Item>
  let trampoline: Trampoline
  private let turnLimit: Int

  // Accessed by the owner only; ThreadSanitizer reports a race if not.
  nonisolated(unsafe) private(set) var checker: SequenceChecker
  nonisolated(unsafe) private(set) var log: OwnerLog

  init(_ capacity: Int, _ producers: Int, _ turnLimit: Int, _ recorder: HistoryRecorder?) throws(CoreError) {
    ring = try Ring(capacity: capacity)
    trampoline = try Trampoline()
    self.turnLimit = turnLimit
    checker = SequenceChecker(producers: producers)
    log = OwnerLog(recorder)
  }

  func send(_ item: Item) -> Bool {
    defer { CurrentCore.lightFence() }
    return ring.trySend(item).isAccepted
  }

  /// Becomes the owner, if there is none, until nothing is left. If another thread is about to leave, that one finds
  /// what was sent: see `rr_trampoline.h`.
  func runTurns(_ disturbance: inout Disturbance) {
    var looks = 0
    while !ring.isEmpty, trampoline.tryAcquire() {
      let isReady = ring.isReady
      if isReady { turn(&disturbance) }
      trampoline.release()
      if isReady {
        looks = 0
        continue
      }
      // There is a claim that is not published yet. Without a fence the owner must wait for its publication.
      looks += 1
      if looks < 32 {
        CurrentCore.pause()
      } else if CurrentCore.heavyFence(), !ring.isHeadPublished {
        return
      } else {
        DedicatedThread.yield()
      }
    }
  }

  private func turn(_ disturbance: inout Disturbance) {
    log.beginTurn()
    _ = ring.drain(upTo: turnLimit) { item in
      checker.receive(item)
      log.receive(item.id)
      disturbance.step()
    }
    log.noteReleased()
    log.endTurn()
  }
}
