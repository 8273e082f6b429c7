import Glibc
import ReactorCore
import Synchronization
import TestSupport
import Testing

/// Sleeping and waking with both kinds of event counts.
@Suite struct EventCountTests {
  static let kinds: [EventCountKind] = [.futex, .descriptor]

  @Test(arguments: kinds)
  func `a condition that holds ends the wait without a sleep`(_ kind: EventCountKind) throws {
    let event = try EventCount(kind)
    var looks = 0
    let holds = event.wait {
      looks += 1
      return true
    }
    #expect(holds)
    #expect(looks == 1)
    #expect(event.mustNotify == false)
    // The second check is the one after arming.
    looks = 0
    let holdsThen = event.wait {
      looks += 1
      return looks == 2
    }
    #expect(holdsThen)
    #expect(looks == 2)
  }

  @Test(arguments: kinds)
  func `a notification between prepare and wait is not missed`(_ kind: EventCountKind) throws {
    let event = try CurrentCore.EventCount(kind)
    defer { event.destroy() }
    for _ in 0..<10 {
      let key = event.prepare()
      #expect(event.mustNotify == true)
      event.notify()
      #expect(event.mustNotify == false)
      // Otherwise this would sleep forever.
      #expect(event.wait(key, timeoutNanoseconds: -1) == true)
    }
  }

  @Test(arguments: kinds)
  func `a wait ends when its time has passed`(_ kind: EventCountKind) throws {
    let event = try EventCount(kind)
    let start = ContinuousClock.now
    #expect(event.wait(timeoutNanoseconds: 3_000_000) { false } == false)
    #expect(ContinuousClock.now - start >= .milliseconds(3))
    #expect(event.wait(timeoutNanoseconds: 0) { false } == false)
    #expect(event.wait(timeoutNanoseconds: -5) { false } == false)
    #expect(event.wait(timeoutNanoseconds: 0) { true } == true)
    let raw = try CurrentCore.EventCount(kind)
    defer { raw.destroy() }
    #expect(!raw.wait(raw.prepare(), timeoutNanoseconds: 1_000_000))
    #expect(!raw.wait(raw.prepare(), timeoutNanoseconds: 0))
  }

  @Test(arguments: kinds)
  func `a notification of another thread ends a sleep`(_ kind: EventCountKind) throws {
    let event = Shared(try EventCount(kind))
    let turn = Shared(Atomic(0))
    let rounds = 200
    let isDone = Threads.start {
      for round in 0..<rounds {
        _ = event.value.wait(timeoutNanoseconds: 20_000_000_000) {
          turn.value.load(ordering: .relaxed) == 2 * round + 1
        }
        turn.value.store(2 * round + 2, ordering: .relaxed)
      }
    }
    for round in 0..<rounds {
      // In every second round, the other thread sleeps or is about to.
      if round % 2 == 0 { #expect(Threads.yield { event.value.mustNotify }) }
      turn.value.store(2 * round + 1, ordering: .relaxed)
      event.value.notify()
      #expect(Threads.yield { turn.value.load(ordering: .relaxed) == 2 * round + 2 })
    }
    #expect(isDone.wait())
  }

  @Test(arguments: kinds)
  func `a notification wakes all sleepers`(_ kind: EventCountKind) throws {
    for _ in 0..<10 {
      let event = Shared(try EventCount(kind))
      let isOpen = Shared(Atomic(false))
      let asleep = Gate(count: 8)
      let woken = Record<Bool>()
      let isDone = Threads.start {
        _ = Threads.run(8) { _ in
          asleep.open()
          woken.append(
            event.value.wait(timeoutNanoseconds: 20_000_000_000) { isOpen.value.load(ordering: .relaxed) })
        }
      }
      #expect(asleep.wait())
      #expect(Threads.yield { event.value.mustNotify })
      isOpen.value.store(true, ordering: .relaxed)
      event.value.notify()
      #expect(isDone.wait())
      #expect(woken.elements == Array(repeating: true, count: 8))
    }
  }

  @Test(arguments: kinds)
  func `an event count that is armed again stays armed until it is notified`(_ kind: EventCountKind) throws {
    let event = try EventCount(kind)
    var key: UInt32 = 0
    func arm(unless condition: Bool = false) -> Bool { event.arm(again: &key) { condition } }
    #expect(arm())
    #expect(event.mustNotify == true)
    let first = key
    #expect(arm())
    #expect(!arm(unless: true))
    #expect(key == first)
    #expect(event.mustNotify == true)
    event.notify()
    #expect(event.mustNotify == false)
    #expect(arm())
    #expect(key != first)
    #expect(event.mustNotify == true)
    let mayWait = event.arm(again: &key) {
      event.notify()
      return false
    }
    #expect(!mayWait)
    #expect(arm())
  }

  @Test
  func `a very long timeout is valid`() async throws {
    let event = try EventCount()
    var looks = 0
    let holds = event.wait(timeoutNanoseconds: .max / 2) {
      looks += 1
      if looks == 2 { event.notify() }
      return looks == 3
    }
    #expect(holds)
  }
}
