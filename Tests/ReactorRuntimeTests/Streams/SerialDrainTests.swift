import ReactorCore
import Synchronization
import TestSupport
import Testing

@testable import ReactorRuntime

/// The state machine that makes one sequence of the inputs of several threads, and its bound.
@Suite struct SerialDrainTests {
  private func becameDrainer(_ submission: DrainSubmission) -> Bool {
    if case .becameDrainer = submission { true } else { false }
  }

  private func mustWait(_ submission: DrainSubmission) -> Bool? {
    if case .queued(let mustWait) = submission { mustWait } else { nil }
  }

  private func isRefused(_ submission: DrainSubmission) -> Bool {
    if case .refused = submission { true } else { false }
  }

  @Test func `the first thread becomes the drainer and finds what others have queued`() {
    let drain = SystemMutex(SerialDrain<Int>())
    #expect(becameDrainer(drain.withLock { $0.submit(1, on: 7) }))
    #expect(drain.withLock { $0.drainer } == 7)
    #expect(mustWait(drain.withLock { $0.submit(2, on: 8) }) == false)
    #expect(mustWait(drain.withLock { $0.submit(3, on: 7) }) == false)
    #expect(!drain.withLock { $0.tryAcquire(on: 8) })
    #expect(drain.withLock { $0.takeBatch() } == [2, 3])
    #expect(drain.withLock { $0.isActive })
    #expect(drain.withLock { $0.takeBatch() } == [])
    #expect(!drain.withLock { $0.isActive })
    #expect(drain.withLock { $0.drainer } == 0)
    #expect(drain.withLock { $0.tryAcquire(on: 8) })
  }

  @Test func `a scheduled drain takes what was queued before it began and leaves the rest to the next`() {
    let drain = SystemMutex(SerialDrain<Int>())
    #expect(becameDrainer(drain.withLock { $0.enqueue(1, on: 7) }))
    #expect(mustWait(drain.withLock { $0.enqueue(2, on: 7) }) == false)
    #expect(drain.withLock { $0.isActive })
    #expect(drain.withLock { $0.drainer } == 0)
    #expect(drain.withLock { $0.begin(on: 9) } == [1, 2])
    #expect(drain.withLock { $0.drainer } == 9)
    #expect(mustWait(drain.withLock { $0.enqueue(3, on: 7) }) == false)
    #expect(drain.withLock { $0.finish() } == 1)
    #expect(drain.withLock { $0.isActive })
    #expect(drain.withLock { $0.drainer } == 0)
    #expect(drain.withLock { $0.begin(on: 9) } == [3])
    #expect(drain.withLock { $0.finish() } == 0)
    #expect(!drain.withLock { $0.isActive })
  }

  @Test func `a drain that takes one input at a time keeps the order, whatever is queued meanwhile`() {
    let drain = SystemMutex(SerialDrain<Int>())
    for number in 1...3 { _ = drain.withLock { $0.enqueue(number, on: 7) } }
    #expect(drain.withLock { $0.beginWithOne(on: 9) } == [1])
    #expect(mustWait(drain.withLock { $0.enqueue(4, on: 7) }) == false)
    #expect(drain.withLock { $0.finish() } == 3)
    #expect(drain.withLock { $0.beginWithOne(on: 9) } == [2])
    #expect(drain.withLock { $0.finish() } == 2)
    // What is left goes on in order, in whatever way it is taken.
    #expect(drain.withLock { $0.begin(on: 9) } == [3, 4])
    #expect(drain.withLock { $0.finish() } == 0)
    #expect(drain.withLock { $0.beginWithOne(on: 9) } == [])
    #expect(!drain.withLock { $0.finish() > 0 || $0.isActive })
  }

  @Test func `closing a drain that takes one input at a time hands out all that is left`() {
    let drain = SystemMutex(SerialDrain<Int>())
    for number in 1...3 { _ = drain.withLock { $0.enqueue(number, on: 7) } }
    #expect(drain.withLock { $0.beginWithOne(on: 9) } == [1])
    _ = drain.withLock { $0.enqueue(4, on: 7) }
    #expect(drain.withLock { $0.close() }.forgotten == [2, 3, 4])
    #expect(drain.withLock { $0.finish() } == 0)
  }

  @Test func `only a thread that queues beyond the limit of another thread's drain must wait`() {
    let drain = SystemMutex(SerialDrain<Int>())
    #expect(becameDrainer(drain.withLock { $0.enqueue(0, on: 7) }))
    // Before the drain has begun nobody waits.
    for number in 1...Backpressure.limit {
      #expect(mustWait(drain.withLock { $0.enqueue(number, on: 7) }) == false)
    }
    #expect(drain.withLock { $0.hasRoom })
    #expect(drain.withLock { $0.begin(on: 9).count } == Backpressure.limit + 1)
    for number in 1...Backpressure.limit {
      #expect(mustWait(drain.withLock { $0.enqueue(number, on: 7) }) == false)
    }
    #expect(drain.withLock { $0.hasRoom })
    #expect(mustWait(drain.withLock { $0.enqueue(0, on: 9) }) == false)
    #expect(mustWait(drain.withLock { $0.enqueue(0, on: 7) }) == true)
    #expect(!drain.withLock { $0.hasRoom })
    #expect(drain.withLock { $0.finish() } == Backpressure.limit + 2)
    #expect(drain.withLock { $0.hasRoom })
  }

  @Test func `a closed drain hands out what was queued and refuses everything`() {
    let drain = SystemMutex(SerialDrain<Int>())
    #expect(becameDrainer(drain.withLock { $0.submit(1, on: 7) }))
    _ = drain.withLock { $0.submit(2, on: 8) }
    let (forgotten, wasIdle) = drain.withLock { $0.close() }
    #expect(forgotten == [2])
    #expect(!wasIdle)
    #expect(isRefused(drain.withLock { $0.submit(3, on: 8) }))
    #expect(isRefused(drain.withLock { $0.enqueue(3, on: 8) }))
    #expect(drain.withLock { $0.takeBatch() } == [])
    #expect(!drain.withLock { $0.tryAcquire(on: 8) })
    // The drainer has seen to what was left to do.
    #expect(!drain.withLock { $0.close().wasIdle })
    let idle = SystemMutex(SerialDrain<Int>())
    #expect(idle.withLock { $0.close().wasIdle })
  }
}

/// A drain with a lock and a state.
///
/// One test after the other: the threads that wait do so in one place, and another test would wake them.
@Suite(.serialized) struct StatefulDrainTests {
  @Test func `an input brought while another is handled comes after it`() {
    let record = Record<String>()
    let link = Record<StatefulDrain<Int, Int>>()
    let drain = StatefulDrain<Int, Int>(0) { sum, input in
      sum += input
      record.append("begin \(input)")
      if input == 1 { link.elements[0].submit(2) }
      record.append("end \(input), \(sum)")
    }
    link.append(drain)
    drain.submit(1)
    #expect(record.elements == ["begin 1", "end 1, 1", "begin 2", "end 2, 3"])
  }

  @Test func `disposal destroys the state`() {
    let lifetimes = Lifetimes()
    let drain = StatefulDrain<LifetimeTracked?, Int>(lifetimes.track()) { _, _ in }
    drain.submit(1)
    #expect(lifetimes.alive == 1)
    drain.dispose()
    #expect(lifetimes.alive == 0)
  }

  @Test func `disposal while an input is handled destroys the state and what is queued`() {
    let lifetimes = Lifetimes()
    let handled = Record<Int>()
    let link = Record<StatefulDrain<LifetimeTracked, LifetimeTracked>>()
    let drain = StatefulDrain<LifetimeTracked, LifetimeTracked>(lifetimes.track()) { _, input in
      handled.append(input.value)
      link.elements[0].submit(lifetimes.track(2))
      link.elements[0].dispose()
    }
    link.append(drain)
    drain.submit(lifetimes.track(1))
    drain.submit(lifetimes.track(3))
    #expect(handled.elements == [1])
    #expect(lifetimes.alive == 0)
  }

  @Test func `disposal on another thread destroys what is queued`() {
    let lifetimes = Lifetimes()
    let isInside = Gate()
    let mayGoOn = Gate()
    let drain = StatefulDrain<Void, LifetimeTracked?>(()) { _, input in
      guard input == nil else { return }
      isInside.open()
      _ = mayGoOn.wait()
    }
    let drainer = Threads.start { drain.submit(nil) }
    #expect(isInside.wait())
    drain.submit(lifetimes.track())
    #expect(lifetimes.alive == 1)
    drain.dispose()
    #expect(lifetimes.alive == 0)
    mayGoOn.open()
    #expect(drainer.wait())
  }

  @Test(arguments: [true, false])
  func `a thread that brings too much blocks until there is room or the drain is disposed of`(
    isDisposed: Bool
  ) {
    let limit = Backpressure.limit
    let isInside = Gate()
    let mayGoOn = Gate()
    let drain = StatefulDrain<Int, Int>(0) { handled, input in
      handled += 1
      guard input == 0 else { return }
      isInside.open()
      _ = mayGoOn.wait()
    }
    let drainer = Threads.start { drain.submit(0) }
    #expect(isInside.wait())
    let brought = Shared(Atomic(0))
    let producer = Threads.start {
      for number in 1...10 * limit {
        drain.submit(number)
        // Relaxed: a count to look at.
        brought.value.wrappingAdd(1, ordering: .relaxed)
      }
    }
    #expect(Threads.yield { brought.value.load(ordering: .relaxed) >= limit })
    // So that it has probably fallen asleep; the test holds in any case.
    for _ in 0..<1000 { DedicatedThread.yield() }
    #expect(brought.value.load(ordering: .relaxed) <= limit + 1)
    if isDisposed {
      drain.dispose()
      #expect(producer.wait())
      mayGoOn.open()
    } else {
      #expect(!producer.isOpen)
      mayGoOn.open()
      #expect(producer.wait())
    }
    #expect(drainer.wait())
  }
}
