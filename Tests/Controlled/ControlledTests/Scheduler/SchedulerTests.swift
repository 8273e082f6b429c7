import ControlledScheduler
import Dispatch
import ReactorCore
import Synchronization
import TestSupport
import Testing

/// All tests under the scheduler, one at a time: a process has one execution at a time.
@Suite(.serialized) enum Controlled {}

private var here: ctl_place { ctl_place(text: nil, line: 0) }

/// Two threads that each load and then store.
private let losesAnUpdate: @Sendable () -> Void = {
  let count = Shared(Atomic(0))
  let add: @Sendable () -> Void = {
    count.value.store(count.value.load(ordering: .relaxed) + 1, ordering: .relaxed)
  }
  let (first, second) = (Worker("first", add), Worker("second", add))
  first.join()
  second.join()
  check(count.value.load(ordering: .relaxed) == 2, "an update was lost")
}

extension Controlled {
  /// The scheduler itself, on small programs whose schedules are known.
  @Suite struct SchedulerTests {
    /// Two threads with three pieces each between their points have 20 orders. Of the 10 that begin with the first
    /// thread, 1, 2, 4, 2, 1 have 0, 1, 2, 3, 4 interruptions, each of which is a delay: a sequence of r runs has r - 2,
    /// since one of its changes is at the end of a thread. Those that begin with the second have one delay more.
    @Test func `a systematic search runs each order once`() {
      for (delays, expected) in [1, 4, 10, 16, 19, 20, 20].enumerated() {
        let orders = Record<[Int]>()
        let (count, failed) = search(delays: delays) {
          let order = Names()
          // Not interrupted, so that only the two threads have points.
          ctl_enter_section()
          for name in 0...1 {
            _ = Worker("\(name)") {
              for _ in 0..<2 {
                order.append(name)
                ctl_point("a point", nil, here)
              }
              order.append(name)
              if order.names.count == 6 { orders.append(order.names) }
            }
          }
        }
        #expect(failed == nil)
        #expect(count == expected)
        #expect(Set(orders.elements).count == expected)
      }
    }

    /// By each strategy.
    private var failuresOfLostUpdate: [Execution?] {
      let priorities = (0..<1000).map { Schedule(.priorities(depth: 2, decisions: 10), seed: UInt64($0)) }
      return [
        search(delays: 1, losesAnUpdate).failed, firstFailure(of: randomSchedules(1000), losesAnUpdate),
        firstFailure(of: priorities, losesAnUpdate),
      ]
    }

    @Test func `a lost update needs one delay, and each strategy finds it`() throws {
      let without = search(delays: 0, losesAnUpdate)
      #expect(without.failed == nil)
      for failed in failuresOfLostUpdate { #expect(failed != nil) }
    }

    @Test func `a schedule that failed fails again, at the same point`() throws {
      for failed in failuresOfLostUpdate {
        let failed = try #require(failed)
        let schedule = try #require(Schedule("\(failed.schedule)"))
        let again = schedule.run(losesAnUpdate)
        #expect(again.failure == failed.failure)
        #expect(again.hash == failed.hash)
      }
    }

    @Test func `a sleep without a check after prepare loses a wake-up`() throws {
      let body = { @Sendable (checksAgain: Bool) in
        let (flag, event) = (Shared(Atomic(false)), Shared(Condition()))
        let sleeper = Worker("sleeper") {
          if checksAgain {
            event.value.sleep { flag.value.load(ordering: .acquiring) }
          } else if !flag.value.load(ordering: .acquiring) {
            event.value.sleep { false }
          }
        }
        flag.value.store(true, ordering: .releasing)
        event.value.wake()
        sleeper.join()
      }
      let failed = try #require(search(delays: 2) { body(false) }.failed)
      #expect(failed.failure?.contains("a deadlock, or a lost wake-up") == true)
      #expect(failed.failure?.contains("sleeper") == true)
      let mended = search(delays: 2) { body(true) }
      #expect(mended.failed == nil)
    }

    @Test func `a mutex that one thread tries and another locks is held by one of them`() {
      let failed = firstFailure(of: randomSchedules(200)) {
        let mutex = Shared(SystemMutex(false))
        let enter = { @Sendable (isInside: inout Bool) in
          check(!isInside, "two threads hold a mutex")
          isInside = true
          ctl_point("is inside", nil, here)
          isInside = false
        }
        let first = Worker("first") { _ = mutex.value.withLockIfAvailable { enter(&$0) } }
        let second = Worker("second") { mutex.value.withLock { enter(&$0) } }
        first.join()
        second.join()
      }
      #expect(failed == nil, "\(failed?.failure ?? "")")
    }

    @Test func `a timer of Dispatch fires at its time, and a descriptor's timer wakes a poller`() {
      let failed = firstFailure(of: randomSchedules(100)) {
        let begin = ContinuousClock.now
        let latch = Latch()
        let source = DispatchSource.makeTimerSource(queue: .global())
        source.schedule(deadline: .now() + .seconds(100))
        source.setEventHandler { latch.open() }
        source.resume()
        latch.wait()
        check(.now - begin >= .seconds(100), "the timer was early")
        source.cancel()
        // There are descriptors.
        let poller = try! Poller()
        poller.setTimer(MonotonicTime.now + 100_000_000_000)
        poller.wait(timeoutMilliseconds: -1) { _, _ in }
        check(.now - begin >= .seconds(200), "the poller's timer was early")
      }
      #expect(failed == nil, "\(failed?.failure ?? "")")
    }

    @Test func `another thread may make a strong reference between a check and the release`() {
      final class Object: Sendable {}
      nonisolated(unsafe) var survived = 0
      for schedule in randomSchedules(300) {
        _ = schedule.run {
          let (weakly, kept, mine) = (WeakHolder<Object>(), Holder<Object>(), Holder<Object>())
          mine.object = Object()
          weakly.object = mine.object
          let first = Worker("first") {
            let isOnly = isKnownUniquelyReferenced(&mine.object)
            mine.object = nil
            if isOnly, weakly.object != nil { survived += 1 }
          }
          let second = Worker("second") { kept.object = weakly.object }
          first.join()
          second.join()
        }
      }
      #expect(survived > 0)
    }

    @Test func `two mutexes that are locked in both orders deadlock`() throws {
      let body = { @Sendable (isOrdered: Bool) in
        let (first, second) = (SystemMutex(0), SystemMutex(0))
        let other = Worker("other") {
          let (outer, inner) = isOrdered ? (first, second) : (second, first)
          outer.withLock { _ in inner.withLock { $0 += 1 } }
        }
        first.withLock { _ in second.withLock { $0 += 1 } }
        other.join()
        check(first.withLock { $0 } + second.withLock { $0 } == 2, "a mutex let two threads in")
      }
      let failed = try #require(search(delays: 1) { body(false) }.failed)
      #expect(failed.failure?.contains("every thread waits") == true)
      let mended = search(delays: 2) { body(true) }
      #expect(mended.failed == nil)
    }

    @Test func `a thread that spins lets the others run`() {
      let (_, failed) = search(delays: 1) {
        let flag = Shared(Atomic(false))
        let setter = Worker("setter") { flag.value.store(true, ordering: .relaxed) }
        while !flag.value.load(ordering: .relaxed) { CurrentCore.pause() }
        setter.join()
      }
      #expect(failed == nil)
    }

    @Test func `a thread that spins for ever is no progress`() {
      let execution = Schedule(.random).run(mostPoints: 1000) { while true { CurrentCore.pause() } }
      #expect(execution.failure?.contains("no progress") == true)
    }

    @Test func `time passes when every thread waits, and only then`() {
      let slept = Shared(Atomic<Int64>(0))
      let execution = Schedule(.systematic(delays: 0)).run {
        let start = ContinuousClock.now
        let event = Shared(try! EventCount())
        let short = Worker("short") {
          check(!event.value.wait(timeoutNanoseconds: 1_000_000_000) { false }, "woken for no reason")
          check(start.duration(to: .now) >= .seconds(1), "too early")
          check(start.duration(to: .now) < .milliseconds(1001), "too late")
        }
        check(!event.value.wait(timeoutNanoseconds: 3_600_000_000_000) { false }, "woken for no reason")
        slept.value.store(start.duration(to: .now).nanoseconds, ordering: .relaxed)
        short.join()
      }
      #expect(execution.failure == nil)
      #expect(slept.value.load(ordering: .relaxed) >= 3_600_000_000_000)
    }

    @Test func `a wait may time out although a wake-up comes`() {
      let outcomes = Record<Bool>()
      let (_, failed) = search(delays: 1) {
        let (flag, event) = (Shared(Atomic(false)), Shared(try! EventCount()))
        let waker = Worker("waker") {
          flag.value.store(true, ordering: .releasing)
          event.value.notify()
        }
        outcomes.append(event.value.wait(timeoutNanoseconds: 1000) { flag.value.load(ordering: .acquiring) })
        waker.join()
      }
      #expect(failed == nil)
      #expect(Set(outcomes.elements) == [true, false])
    }

    @Test func `a thread that is left asleep is a failure`() {
      let execution = Schedule(.systematic(delays: 0)).run {
        let event = Shared(try! EventCount())
        _ = Worker("left") { _ = event.value.wait { false } }
      }
      #expect(execution.failure?.contains("a thread sleeps although the body has ended") == true)
    }
  }

  /// Late stores, on the classic program: each of two threads stores, and then loads what the other one stores.
  @Suite struct LateStoreTests {
    enum Fence { case none, light, full, heavy }

    /// Whether some schedule lets both threads load the old value.
    private func bothMiss(_ first: Fence, _ second: Fence, lateStores: Bool = true) -> Bool {
      let cross = { @Sendable (fence: Fence) in
        switch fence {
        case .none: break
        case .light: CurrentCore.lightFence()
        case .full: atomicMemoryFence(ordering: .sequentiallyConsistent)
        case .heavy: _ = CurrentCore.heavyFence()
        }
      }
      let failed = firstFailure(of: randomSchedules(500, lateStores: lateStores)) {
        let (mine, its) = (Shared(Atomic(false)), Shared(Atomic(false)))
        let missed = Shared(Atomic(false))
        let other = Worker("other") {
          its.value.store(true, ordering: .releasing)
          cross(second)
          missed.value.store(!mine.value.load(ordering: .acquiring), ordering: .sequentiallyConsistent)
        }
        mine.value.store(true, ordering: .releasing)
        cross(first)
        let hasMissed = !its.value.load(ordering: .acquiring)
        other.join()
        check(!(hasMissed && missed.value.load(ordering: .relaxed)), "both missed it")
      }
      return failed != nil
    }

    @Test func `only late stores let both threads miss each other's`() {
      #expect(!bothMiss(.none, .none, lateStores: false))
      #expect(bothMiss(.none, .none))
    }

    @Test func `a fence on one side is not enough, and on both sides it is`() {
      #expect(bothMiss(.full, .none))
      #expect(!bothMiss(.full, .full))
    }

    @Test func `a heavy fence on one side is enough`() {
      #expect(bothMiss(.light, .light))
      #expect(!bothMiss(.heavy, .light))
    }

    @Test func `a late store is seen by its own thread, and stays behind earlier ones`() {
      let failed = firstFailure(of: randomSchedules(500, lateStores: true)) {
        let (payload, isReady) = (Shared(Atomic(0)), Shared(Atomic(false)))
        let reader = Worker("reader") {
          while !isReady.value.load(ordering: .acquiring) { CurrentCore.pause() }
          check(payload.value.load(ordering: .relaxed) == 7, "the flag overtook the payload")
        }
        payload.value.store(7, ordering: .relaxed)
        check(payload.value.load(ordering: .relaxed) == 7, "a thread did not see its own store")
        isReady.value.store(true, ordering: .releasing)
        reader.join()
      }
      #expect(failed == nil)
    }
  }
}

/// A condition without a lock, for a test of what goes wrong with it.
private struct Condition: ~Copyable, Sendable {
  private let epoch = Atomic(0)

  func sleep(unless isTrue: () -> Bool) {
    let key = epoch.load(ordering: .sequentiallyConsistent)
    if isTrue() { return }
    if epoch.load(ordering: .sequentiallyConsistent) == key { _ = ctl_block("sleeps", nil, .max, here) }
  }

  func wake() {
    epoch.add(1, ordering: .sequentiallyConsistent)
    ctl_wake(nil)
  }
}

/// A list that only the thread with the baton changes.
private final class Names: @unchecked Sendable {
  // Unchecked: one thread runs at a time.
  private(set) var names: [Int] = []
  func append(_ name: Int) { names.append(name) }
}
