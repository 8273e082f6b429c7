import Dispatch
import ReactorRuntime
import TestSupport
import Testing

/// The schedulers on the system's queues, and the current thread's.
@Suite(.serialized) struct SchedulersTests {
  private static let timed: [any SchedulerType] = [
    ConcurrentDispatchQueueScheduler.shared, ConcurrentDispatchQueueScheduler(qos: .utility),
    SerialDispatchQueueScheduler(qos: .default),
    SerialDispatchQueueScheduler(queue: .global(), internalSerialQueueName: "test"),
    SerialDispatchQueueScheduler(internalSerialQueueName: "test"), MainScheduler.instance,
    MainScheduler.asyncInstance,
  ]

  @Test(arguments: timed.indices)
  func `an action runs whether or not its disposable is kept`(index: Int) {
    let scheduler = Self.timed[index]
    let done = Gate(count: 2)
    _ = scheduler.schedule { done.open() }
    _ = scheduler.schedule(after: .milliseconds(2)) { done.open() }
    #expect(done.wait())
  }

  @Test(arguments: timed.indices)
  func `a timer does not fire early`(index: Int) {
    let scheduler = Self.timed[index]
    let done = Gate()
    let passed = Record<Duration>()
    let begin = scheduler.now
    _ = scheduler.schedule(after: .milliseconds(20)) {
      passed.append(scheduler.now - begin)
      done.open()
    }
    #expect(done.wait())
    #expect(passed.elements.count == 1)
    #expect(passed.elements[0] >= .milliseconds(20))
  }

  @Test(arguments: timed.indices)
  func `a disposed action is released at once and does not run`(index: Int) {
    let scheduler = Self.timed[index]
    let lifetimes = Lifetimes()
    let record = Record<Int>()
    let timers = [
      scheduler.schedule(after: .seconds(1000)) { [tracked = lifetimes.track()] in
        record.append(tracked.value)
      },
      scheduler.schedule(after: .seconds(1 << 40)) { [tracked = lifetimes.track()] in
        record.append(tracked.value)
      },
      scheduler.schedulePeriodic(after: .seconds(1000), every: .seconds(1)) { [tracked = lifetimes.track()] in
        record.append(tracked.value)
      },
    ]
    #expect(lifetimes.alive == 3)
    for timer in timers { timer.dispose() }
    #expect(lifetimes.alive == 0)
    for timer in timers { timer.dispose() }
    #expect(record.elements.isEmpty)
  }

  @Test(arguments: timed.indices)
  func `a fired timer releases its action`(index: Int) {
    let scheduler = Self.timed[index]
    let lifetimes = Lifetimes()
    let done = Gate()
    let timer = scheduler.schedule(after: .milliseconds(-5)) { [tracked = lifetimes.track()] in
      withExtendedLifetime(tracked) { done.open() }
    }
    #expect(done.wait())
    #expect(Threads.yield { lifetimes.alive == 0 })
    timer.dispose()
  }

  @Test(arguments: timed.indices)
  func `a periodic action ends from inside itself`(index: Int) {
    let scheduler = Self.timed[index]
    let lifetimes = Lifetimes()
    let holder = SerialDisposable()
    let record = Record<Int>()
    let isAssigned = Gate()
    let done = Gate()
    holder.disposable = scheduler.schedulePeriodic(after: .zero, every: .microseconds(100)) {
      [tracked = lifetimes.track()] in
      // Until then there is nothing that the fifth time could dispose of.
      guard isAssigned.wait() else { return }
      record.append(tracked.value)
      if record.elements.count == 5 {
        holder.dispose()
        done.open()
      }
    }
    isAssigned.open()
    #expect(done.wait())
    #expect(Threads.yield { lifetimes.alive == 0 })
    #expect(record.elements.count == 5)
  }

  @Test func `a serial scheduler keeps the order on a concurrent queue`() {
    let scheduler = SerialDispatchQueueScheduler(queue: .global(), internalSerialQueueName: "order")
    let record = Record<Int>()
    let done = Gate()
    for number in 0..<1000 {
      _ = scheduler.schedule {
        record.append(number)
        if number == 999 { done.open() }
      }
    }
    #expect(done.wait())
    #expect(record.elements == Array(0..<1000))
  }

  /// Returns what happens in which order if an action of the main scheduler schedules another one there, on the main queue.
  private func orderOnMainQueue() -> [String] {
    let record = Record<String>()
    let done = Gate()
    DispatchQueue.main.async {
      MainScheduler.ensureExecutingOnScheduler()
      _ = MainScheduler.instance.schedule {
        record.append("1")
        _ = MainScheduler.instance.schedule {
          record.append("3")
          done.open()
        }
        record.append("2")
      }
      record.append("after")
      _ = MainScheduler.asyncInstance.schedule { record.append("4") }
    }
    #expect(done.wait())
    return Array(record.elements.prefix(4))
  }

  @Test func `the main scheduler runs at once on the main queue, but not inside another action`() {
    // Not at once while actions of tests that run beside this one are outstanding.
    #expect(Threads.yield { orderOnMainQueue() == ["1", "2", "after", "3"] })
  }

  @Test func `the main scheduler uses the queue from other threads`() {
    let done = Gate()
    let disposed = Record<Int>()
    let (isBusy, mayGoOn) = (Gate(), Gate())
    let ended = Threads.start {
      // The queue is busy, so that what follows is disposed of before it can begin.
      DispatchQueue.main.async {
        isBusy.open()
        _ = mayGoOn.wait()
      }
      _ = isBusy.wait()
      MainScheduler.instance.schedule { disposed.append(1) }.dispose()
      _ = MainScheduler.instance.schedule {
        MainScheduler.ensureExecutingOnScheduler()
        done.open()
      }
      mayGoOn.open()
    }
    #expect(ended.wait())
    #expect(done.wait())
    #expect(disposed.elements.isEmpty)
  }

  @Test func `the current thread's scheduler runs actions at once, one after the other`() {
    let record = Record<Int>()
    let scheduler = CurrentThreadScheduler.instance
    _ = scheduler.schedule {
      record.append(1)
      _ = scheduler.schedule {
        record.append(3)
        _ = scheduler.schedule { record.append(5) }
      }
      scheduler.schedule { record.append(100) }.dispose()
      _ = scheduler.schedule { record.append(4) }
      record.append(2)
    }
    record.append(6)
    #expect(record.elements == [1, 2, 3, 4, 5, 6])
  }

  @Test func `a task that an action starts does not wait in the queue of that thread`() async {
    let done = Gate()
    let scheduler = CurrentThreadScheduler.instance
    // On its own thread, because blocking must not occupy a thread of the task pool.
    let hasRun = await withCheckedContinuation { continuation in
      _ = Threads.start {
        _ = scheduler.schedule {
          Task { _ = scheduler.schedule { done.open() } }
          // The queue of that thread still exists; an action in it would wait for this one.
          continuation.resume(returning: done.wait())
        }
      }
    }
    #expect(hasRun)
  }

  @Test func `a long chain of actions of the current thread does not nest`() {
    let left = Record<Int>()
    @Sendable func next(_ count: Int) {
      if count == 0 { return left.append(0) }
      _ = CurrentThreadScheduler.instance.schedule { next(count - 1) }
    }
    next(200_000)
    #expect(left.elements == [0])
  }
}
