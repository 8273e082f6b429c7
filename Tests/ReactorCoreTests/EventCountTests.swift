import Glibc
import ReactorCore
import Synchronization
import TestSupport
import Testing

/// Sleeping until notified, of both kinds.
@Suite struct EventCountTests {
  static let kinds: [EventCountKind] = [.futex, .descriptor]

  @Test(arguments: kinds)
  func `condition that holds does not sleep`(_ kind: EventCountKind) throws {
    let event = try EventCount(kind)
    var looks = 0
    let holds = event.wait {
      looks += 1
      return true
    }
    #expect(holds)
    #expect(looks == 1)
    #expect(event.wasArmed == false)
    // The second look is the one after arming.
    looks = 0
    let holdsThen = event.wait {
      looks += 1
      return looks == 2
    }
    #expect(holdsThen)
    #expect(looks == 2)
  }

  @Test(arguments: kinds)
  func `notify between prepare and wait is not missed`(_ kind: EventCountKind) throws {
    let event = try CurrentCore.EventCount(kind)
    defer { event.destroy() }
    for _ in 0..<10 {
      let key = event.prepare()
      #expect(event.wasArmed == true)
      event.notify()
      #expect(event.wasArmed == false)
      // Would sleep for ever otherwise.
      #expect(event.wait(key, timeoutNanoseconds: -1) == true)
    }
  }

  @Test(arguments: kinds)
  func `time runs out`(_ kind: EventCountKind) throws {
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
  func `another thread wakes`(_ kind: EventCountKind) throws {
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
      // Every second time it is really asleep, or about to be.
      if round % 2 == 0 { #expect(Threads.yield { event.value.wasArmed }) }
      turn.value.store(2 * round + 1, ordering: .relaxed)
      event.value.notify()
      #expect(Threads.yield { turn.value.load(ordering: .relaxed) == 2 * round + 2 })
    }
    #expect(isDone.wait())
  }

  @Test(arguments: kinds)
  func `all sleepers wake`(_ kind: EventCountKind) throws {
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
      #expect(Threads.yield { event.value.wasArmed })
      isOpen.value.store(true, ordering: .relaxed)
      event.value.notify()
      #expect(isDone.wait())
      #expect(woken.elements == Array(repeating: true, count: 8))
    }
  }

  @Test
  func `very long timeout is no mistake`() async throws {
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
