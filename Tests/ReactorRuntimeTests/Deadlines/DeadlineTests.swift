import Dispatch
import ReactorCore
import TestSupport
import Testing

@testable import ReactorRuntime

/// The deadlines of what waits.
@Suite struct DeadlineTests {
  @Test func `deadlines from several threads are called once, and not early`() {
    let (calls, all) = (Record<(number: Int, lateness: Duration)>(), Gate(count: 4 * 500))
    let haveSet = Threads.run(4) { thread in
      var random = SplitMix64(seed: UInt64(thread))
      for number in 0..<500 {
        let instant = ContinuousClock.now + .microseconds(Int(random.next() % 40_000))
        _ = Deadline(at: instant) {
          calls.append((thread * 500 + number, instant.duration(to: .now)))
          all.open()
        }
      }
    }
    #expect(haveSet)
    #expect(all.wait())
    #expect(calls.elements.map(\.number).sorted() == Array(0..<4 * 500))
    #expect(calls.elements.allSatisfy { $0.lateness >= .zero })
  }

  @Test func `a deadline that is cancelled when it passes is called once at most, and nothing is left of it`()
  {
    let (lifetimes, calls, isOver) = (Lifetimes(), Record<Int>(), Gate())
    let haveSet = Threads.run(2) { thread in
      for number in 0..<2000 {
        let object = lifetimes.track(2000 * thread + number)
        let deadline = Deadline(at: .now + .microseconds(number % 200)) { calls.append(object.value) }
        // So that many are cancelled at about the time at which they pass.
        let end = ContinuousClock.now + .microseconds(number % 100)
        while ContinuousClock.now < end {}
        deadline.cancel()
      }
    }
    #expect(haveSet)
    _ = Deadline(at: .now + .milliseconds(5)) { isOver.open() }
    #expect(isOver.wait())
    #expect(Threads.yield { lifetimes.alive == 0 })
    #expect(Set(calls.elements).count == calls.elements.count)
  }

  @Test func `more deadlines than are called at a time pass together`() {
    let all = Gate(count: 3000)
    let instant = ContinuousClock.now + .milliseconds(20)
    for _ in 0..<3000 { _ = Deadline(at: instant) { all.open() } }
    #expect(all.wait())
  }

  @Test(arguments: [Duration(attoseconds: .min), .seconds(-5), .zero, .nanoseconds(1)])
  func `a deadline that has passed is called at once`(_ delay: Duration) {
    let isOver = Gate()
    let deadline = Deadline(at: .now + delay) { isOver.open() }
    #expect(isOver.wait())
    deadline.cancel()
  }

  @Test func `a deadline in the far future is not called`() {
    let (calls, isOver) = (Record<Int>(), Gate())
    let deadlines = [
      Deadline(at: .now + .seconds(Int64.max) + .seconds(Int64.max)) { calls.append(1) },
      Deadline(after: Duration(attoseconds: .max)) { calls.append(2) },
    ]
    _ = Deadline(after: .milliseconds(5)) { isOver.open() }
    #expect(isOver.wait())
    #expect(calls.elements == [])
    for deadline in deadlines { deadline.cancel() }
  }

  @Test func `a later deadline does not delay an earlier one, nor one that was cancelled`() {
    let (first, second) = (Gate(), Gate())
    let late = Deadline(at: .now + .seconds(1_000_000)) {}
    _ = Deadline(at: .now + .milliseconds(40)) { second.open() }
    let cancelled = Deadline(at: .now + .milliseconds(20)) {}
    cancelled.cancel()
    _ = Deadline(at: .now + .milliseconds(5)) { first.open() }
    #expect(first.wait())
    #expect(second.wait())
    late.cancel()
  }

  @Test func `a deadline that is cancelled lets go of its closure, and is not called`() {
    let (lifetimes, calls) = (Lifetimes(), Record<Int>())
    let deadlines = (0..<100).map { number in
      let object = lifetimes.track(number)
      return Deadline(at: .now + .milliseconds(number % 2 == 0 ? 30 : 1_000_000)) {
        calls.append(object.value)
      }
    }
    let instant = ContinuousClock.now
    for deadline in deadlines {
      deadline.cancel()
      deadline.cancel()
    }
    let isInTime = instant.duration(to: .now) < .milliseconds(20)
    #expect(lifetimes.alive == 0 || !isInTime)
    let after = Gate()
    _ = Deadline(at: instant + .milliseconds(40)) { after.open() }
    #expect(after.wait())
    #expect(calls.elements.isEmpty || !isInTime)
    #expect(Threads.yield { lifetimes.alive == 0 })
  }

  @Test func `a deadline that was called lets go of its closure, though something holds it`() {
    let (lifetimes, isOver) = (Lifetimes(), Gate())
    func set(_ object: LifetimeTracked) -> Deadline {
      Deadline(at: .now) { withExtendedLifetime(object) { isOver.open() } }
    }
    let deadline = set(lifetimes.track())
    #expect(isOver.wait())
    #expect(Threads.yield { lifetimes.alive == 0 })
    withExtendedLifetime(deadline) {}
  }

  @Test func `one that blocks does not delay those of the same tick, nor later ones`() {
    let (mayGoOn, others, isBlocked) = (Gate(), Gate(count: 32), Gate())
    let instant = ContinuousClock.now + .milliseconds(5)
    for number in 0..<32 {
      _ = Deadline(at: instant) {
        if number == 7 {
          isBlocked.open()
          _ = mayGoOn.wait()
        }
        others.open()
      }
    }
    #expect(isBlocked.wait())
    _ = Deadline(at: .now + .milliseconds(1)) { others.open() }
    #expect(others.wait())
    mayGoOn.open()
  }

  @Test func `what goes away with a deadline may set and cancel deadlines`() {
    final class Setter: Sendable {
      let isOver: Gate
      init(_ isOver: Gate) { self.isOver = isOver }
      deinit {
        Deadline(at: .now + .seconds(1000)) {}.cancel()
        isOver.open()
      }
    }
    /// The closure has the only reference.
    func set(at instant: ContinuousClock.Instant, _ setter: Setter) -> Deadline {
      Deadline(at: instant) { withExtendedLifetime(setter) {} }
    }
    let isOver = Gate(count: 2)
    set(at: .now + .seconds(1000), Setter(isOver)).cancel()
    _ = set(at: .now + .milliseconds(1), Setter(isOver))
    #expect(isOver.wait())
  }

  @Test func `deadlines of a serial queue come in their order, however many and from whatever thread`() {
    /// In nanoseconds; a deadline is at some time between the two.
    typealias Bounds = (earliest: Int64, latest: Int64)
    let (calls, all) = (Record<Bounds>(), Gate(count: 4 * 400))
    let queue = DispatchQueue(label: "deadlines")
    let haveSet = Threads.run(4) { thread in
      var random = SplitMix64(seed: UInt64(thread))
      for _ in 0..<400 {
        let (delay, bounds) = (Int64(random.next() % 4_000_000), SystemMutex<Bounds>((0, .max)))
        let earliest = MonotonicTime.now + delay
        _ = Deadline(after: .nanoseconds(delay), on: queue) {
          calls.append(bounds.withLock { $0 })
          all.open()
        }
        bounds.withLock { $0 = (earliest, MonotonicTime.now + delay) }
      }
    }
    #expect(haveSet)
    #expect(all.wait())
    let tick: Int64 = 1 << 16
    var earliest: Int64 = 0
    for bounds in calls.elements {
      #expect(bounds.latest + tick >= earliest)
      earliest = max(earliest, bounds.earliest)
    }
  }

  @Test func `deadlines of one time come in the order in which they were set`() {
    let (calls, all) = (Record<Int>(), Gate(count: 1000))
    let queue = DispatchQueue(label: "deadlines")
    for number in 0..<1000 {
      _ = Deadline(after: .milliseconds(20), on: queue) {
        calls.append(number)
        all.open()
      }
    }
    #expect(all.wait())
    #expect(calls.elements == Array(0..<1000))
  }

  @Test func `a deadline on a serial queue needs no thread of the global one`() async {
    await #expect(processExitsWith: .success) {
      let (isOver, mayGoOn) = (Gate(), DispatchSemaphore(value: 0))
      for _ in 0..<8 * DedicatedThread.processorCount { DispatchQueue.global().async { mayGoOn.wait() } }
      let start = ContinuousClock.now
      _ = Deadline(after: .milliseconds(10), on: DispatchQueue(label: "deadlines")) { isOver.open() }
      // The system makes a thread for jobs that are blocked in half a second or later.
      if !isOver.wait() || start.duration(to: .now) > .milliseconds(400) { fatalError("it was late") }
      for _ in 0..<8 * DedicatedThread.processorCount { mayGoOn.signal() }
    }
  }

  @Test func `a deadline that has passed is not called if it is cancelled before its queue comes to it`() {
    let (lifetimes, calls, isBusy, mayGoOn) = (Lifetimes(), Record<Int>(), Gate(), Gate())
    let queue = DispatchQueue(label: "deadlines")
    queue.async {
      isBusy.open()
      _ = mayGoOn.wait()
    }
    #expect(isBusy.wait())
    let deadlines = (0..<10).map { number in
      let object = lifetimes.track(number)
      return Deadline(after: .milliseconds(1), on: queue) { calls.append(object.value) }
    }
    // Another deadline, of the same shard, has been left to the queue after those.
    let last = Gate()
    _ = Deadline(after: .milliseconds(2), on: queue) { last.open() }
    let later = Gate()
    _ = Deadline(at: .now + .milliseconds(30)) { later.open() }
    #expect(later.wait())
    for deadline in deadlines[5...] { deadline.cancel() }
    #expect(lifetimes.alive == 5)
    mayGoOn.open()
    #expect(last.wait())
    #expect(calls.elements == Array(0..<5))
    #expect(Threads.yield { lifetimes.alive == 0 })
  }

  @Test func `nothing is left of a deadline that was cancelled`() {
    weak var left: Deadline?
    do {
      let deadline = Deadline(at: .now + .seconds(1_000_000)) {}
      left = deadline
      deadline.cancel()
    }
    #expect(left == nil)
  }
}
