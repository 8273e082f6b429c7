import FaultyPlatform
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import PureSwiftCore
@testable import ReactorCore

/// Sleeps that end for no reason.
@Suite struct EventCountFaultTests {
  /// The results of a futex call that ends for no reason.
  static let results = [0, EINTR, EAGAIN, ETIMEDOUT]
  /// Later than a test gives up. So a sleeper that is not woken cannot pass because its time has run out.
  static let late: Int64 = 1_200_000_000_000
  static let timeouts: [Int64?] = [nil, late]

  @Test(.needsCCore, arguments: results, timeouts)
  func `a thread sleeps again after a sleep that ended for no reason`(_ error: Int32, _ timeout: Int64?)
    throws
  {
    let event = Shared(try EventCount())
    let isOpen = Shared(Atomic(false))
    let looks = Shared(Atomic(0))
    let answers = Record<Bool>()
    let isDone = Threads.start {
      faulty_fail(FAULTY_FUTEX_WAIT, 50, error)
      answers.append(
        event.value.wait(timeoutNanoseconds: timeout) {
          let isOpen = isOpen.value.load(ordering: .relaxed)
          looks.value.add(1, ordering: .relaxed)
          return isOpen
        })
      #expect(faulty_calls(FAULTY_FUTEX_WAIT) >= 51)
      faulty_reset()
    }
    // Two checks for each of those sleeps, and two before the sleep that the notification ends.
    #expect(Threads.yield { looks.value.load(ordering: .relaxed) >= 102 && event.value.mustNotify })
    #expect(!isDone.isOpen)
    isOpen.value.store(true, ordering: .relaxed)
    event.value.notify()
    #expect(isDone.wait())
    #expect(answers.elements == [true])
  }

  @Test(.needsCCore, arguments: results)
  func `a sleep that ended for no reason does not shorten the timeout`(_ error: Int32) throws {
    faulty_reset()
    defer { faulty_reset() }
    let event = try EventCount()
    let start = ContinuousClock.now
    faulty_fail(FAULTY_FUTEX_WAIT, 5, error)
    #expect(event.wait(timeoutNanoseconds: 20_000_000) { false } == false)
    #expect(ContinuousClock.now - start >= .milliseconds(20))
  }

  /// The twin's condition variable may wake for no reason as well.
  @Test
  func `a parking spot of the twin sleeps again while it must`() throws {
    let memory = try CacheLine.allocate(byteCount: ParkingSpot.lines * CacheLine.size)
    defer { free(memory) }
    try ParkingSpot.place(inLine: 0, of: memory)
    let spot = ParkingSpot(inLine: 0, of: memory)
    defer { spot.destroy() }
    let address = UInt(bitPattern: memory)
    let mustSleep = Shared(Atomic(true))
    for timeout in [-1, Self.late] {
      mustSleep.value.store(true, ordering: .relaxed)
      let looks = Shared(Atomic(0))
      let answers = Record<Bool>()
      let isDone = Threads.start {
        let spot = ParkingSpot(inLine: 0, of: UnsafeMutableRawPointer(bitPattern: address)!)
        answers.append(
          spot.park(timeoutNanoseconds: timeout) {
            looks.value.add(1, ordering: .relaxed)
            return mustSleep.value.load(ordering: .relaxed)
          })
      }
      #expect(
        Threads.yield {
          spot.unparkAll()
          return looks.value.load(ordering: .relaxed) >= 20
        })
      #expect(!isDone.isOpen)
      mustSleep.value.store(false, ordering: .relaxed)
      spot.unparkAll()
      #expect(isDone.wait())
      #expect(answers.elements == [true])
    }
  }

  /// The twin's descriptor is full long before a counter would be.
  @Test
  func `a full wake socket of the twin is readable and is emptied`() throws {
    let socket = try WakeSocket()
    defer { socket.destroy() }
    for _ in 0..<3 {
      #expect(!Self.isReadable(socket.watched))
      for _ in 0..<20_000 { socket.signal() }
      #expect(Self.isReadable(socket.watched))
      socket.empty()
    }
    #expect(!Self.isReadable(socket.watched))
  }

  static func isReadable(_ descriptor: Int32) -> Bool {
    var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&watched, 1, 0) == 1
  }
}

/// A kernel that granted membarrier when the process started, and refuses it now.
@Suite(.needsCCore)
struct RefusedFenceTests {
  /// Calls `body` with whether the fence is refused. It is not refused where the process uses no membarrier.
  private func whileRefused(_ error: Int32, _ body: (Bool) -> Void) {
    faulty_reset()
    faulty_fail(FAULTY_MEMBARRIER, -1, error)
    defer { faulty_reset() }
    body(!CurrentCore.heavyFence())
  }

  @Test(arguments: EventCountTests.kinds, [EPERM, ENOSYS])
  func `a thread that is refused the fence sleeps for a moment at a time`(
    _ kind: EventCountKind, _ error: Int32
  ) throws {
    let event = Shared(try EventCount(kind))
    let isOpen = Shared(Atomic(false))
    whileRefused(error) { isRefused in
      if !isRefused { return }
      var looks = 0
      let start = ContinuousClock.now
      // No thread notifies.
      let holds = event.value.wait(timeoutNanoseconds: 120_000_000_000) {
        looks += 1
        return looks == 20
      }
      #expect(holds)
      #expect(faulty_calls(FAULTY_FUTEX_WAIT) == 9)
      // A millisecond each, unless a signal ends some of them.
      #expect(ContinuousClock.now - start >= .milliseconds(5))
      // Nor does it sleep longer than it was told to.
      #expect(event.value.raw.wait(event.value.raw.prepare(), timeoutNanoseconds: 1000) == false)
    }
    // Once the fence is granted again, a thread sleeps and is woken.
    let isDone = Threads.start {
      _ = event.value.wait { isOpen.value.load(ordering: .relaxed) }
    }
    #expect(Threads.yield { event.value.mustNotify })
    isOpen.value.store(true, ordering: .relaxed)
    event.value.notify()
    #expect(isDone.wait())
  }

  @Test(arguments: EventCountTests.kinds, [EPERM, ENOSYS])
  func `arm returns false if the fence is refused`(_ kind: EventCountKind, _ error: Int32) throws {
    let event = try EventCount(kind)
    whileRefused(error) { isRefused in
      #expect(event.arm { false } == !isRefused)
      #expect(event.arm { true } == false)
    }
    #expect(event.arm { false } == true)
    // It also returns false after a notification in between.
    #expect(
      event.arm {
        event.notify()
        return false
      } == false)
  }
}
