import Dispatch
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import ReactorSwiftCompatibility

/// What ReactorSwift does, and this product does likewise.
@Suite struct KeptBehaviourTests {
  private let updates = UpdateQueue()

  @Test func `a subscriber is updated when it is added, and after each event, even if nothing has changed`() {
    let core = Core(state: Counting())
    core.fire(event: Add(number: 7))
    let recorder = Recorder(Counting.self)
    core.add(subscriber: recorder, notifyOnQueue: updates.queue)
    core.fire(event: Nothing())
    core.fire(event: Add(number: 8))
    core.settle()
    updates.drain()
    #expect(recorder.states.elements.map(\.numbers) == [[7], [7], [7, 8]])
  }

  @Test func `a subscriber that is added twice is updated once, with its first queue and selector`() {
    let core = Core(state: Counting())
    let recorder = Recorder(Counting.self)
    core.add(subscriber: recorder, notifyOnQueue: updates.queue)
    core.add(subscriber: recorder, notifyOnQueue: nil) { _ in 1 }
    core.fire(event: Nothing())
    core.settle()
    updates.drain()
    #expect(recorder.counts == [0, 0])
  }

  @Test func `a subscriber that was removed may be added again`() {
    let core = Core(state: Counting())
    let recorder = Recorder(Counting.self)
    for _ in 0..<2 {
      core.add(subscriber: recorder, notifyOnQueue: updates.queue)
      core.settle()
      updates.drain()
      core.remove(subscriber: recorder)
    }
    core.fire(event: Nothing())
    core.settle()
    updates.drain()
    #expect(recorder.counts == [0, 0])
  }

  @Test
  func `a middleware gets each event and the state after it, and core.state is that state on every thread`() {
    let seen = Record<[Int]>()
    let reference = WeakCore()
    let middleware = Processing<Counting> { event, state in
      guard let event = event as? Add else { return }
      seen.append([event.number, state.numbers.count, reference.core?.state.numbers.count ?? -1])
      let finished = Threads.start { seen.append([reference.core?.state.numbers.count ?? -1]) }
      #expect(finished.wait())
    }
    let core = Core(state: Counting(), middlewares: [middleware])
    reference.core = core
    for number in [5, 6] { core.fire(event: Add(number: number)) }
    core.settle()
    #expect(seen.elements == [[5, 1, 1], [1], [6, 2, 2], [2]])
  }

  @Test func `an update is put on its queue before the middlewares are called`() {
    let order = Record<String>()
    let queue = updates.queue
    let core = Core(
      state: Counting(),
      middlewares: [Processing<Counting> { _, _ in queue.async { order.append("middleware") } }])
    let recorder = Recorder(Counting.self) { _ in order.append("update") }
    core.add(subscriber: recorder, notifyOnQueue: queue)
    core.fire(event: Nothing())
    core.settle()
    updates.drain()
    #expect(order.elements == ["update", "update", "middleware"])
  }

  @Test func `an event that a middleware fires comes behind those that were fired before`() {
    let reference = WeakCore()
    let isFired = Gate()
    let middleware = Processing<Counting> { event, _ in
      guard let event = event as? Add, event.number == 1 else { return }
      #expect(isFired.wait())
      reference.core?.fire(event: Add(number: 3))
    }
    let core = Core(state: Counting(), middlewares: [middleware])
    reference.core = core
    for number in [1, 2] { core.fire(event: Add(number: number)) }
    isFired.open()
    core.settle()
    core.settle()
    #expect(core.state.numbers == [1, 2, 3])
  }

  @Test func `a command gets the state after what was fired before, and its events come behind`() {
    let core = Core(state: Counting())
    let seen = Record<[Int]>()
    let isFired = Gate()
    core.fire(event: Add(number: 1))
    core.fire(
      command: Calling { state, core in
        seen.append(state.numbers)
        #expect(isFired.wait())
        core.fire(event: Add(number: 3))
      })
    core.fire(event: Add(number: 2))
    isFired.open()
    core.settle()
    core.settle()
    #expect(seen.elements == [[1]])
    #expect(core.state.numbers == [1, 2, 3])
  }

  @Test func `commands are executed one at a time, in the order in which they were fired`() {
    let core = Core(state: Counting())
    let executed = Record<Int>()
    for number in 0..<50 {
      core.fire(
        command: Calling { _, _ in
          if number.isMultiple(of: 10) { sched_yield() }
          executed.append(number)
        })
    }
    core.settle()
    #expect(executed.elements == Array(0..<50))
  }

  @Test func `remove returns after the events and commands that were fired before`() {
    let slow = Processing<Counting> { _, _ in sleep(milliseconds: 5) }
    let core = Core(state: Counting(), middlewares: [slow])
    let executed = Record<Int>()
    let recorder = Recorder(Counting.self)
    core.add(subscriber: recorder, notifyOnQueue: updates.queue)
    for number in 0..<4 { core.fire(event: Add(number: number)) }
    core.fire(
      command: Calling { _, _ in
        sleep(milliseconds: 20)
        executed.append(1)
      })
    core.remove(subscriber: recorder)
    #expect(core.state.numbers == [0, 1, 2, 3])
    #expect(executed.elements == [1])
  }

  @Test func `updates run on the queue that was given, by default the main queue, and for nil one at a time`()
  {
    let core = Core(state: Counting())
    let key = DispatchSpecificKey<Bool>()
    updates.queue.setSpecific(key: key, value: true)
    let isUpdated = Gate(count: 2)
    let isOnQueue = Record<Bool?>()
    let onQueue = Recorder(Counting.self) { _ in
      isOnQueue.append(DispatchQueue.getSpecific(key: key))
      isUpdated.open()
    }
    let onMain = Recorder(Counting.self) { _ in
      dispatchPrecondition(condition: .onQueue(.main))
      isUpdated.open()
    }
    core.add(subscriber: onQueue, notifyOnQueue: updates.queue)
    core.add(subscriber: onMain)
    #expect(isUpdated.wait())
    #expect(isOnQueue.elements == [true])

    let running = Atomic(0)
    let atOnce = Record<Int>()
    let areUpdated = Gate(count: 20)
    let recorders = (0..<2).map { _ in
      Recorder(Counting.self) { _ in
        atOnce.append(running.add(1, ordering: .relaxed).newValue)
        sleep(milliseconds: 1)
        running.subtract(1, ordering: .relaxed)
        areUpdated.open()
      }
    }
    for recorder in recorders { core.add(subscriber: recorder, notifyOnQueue: nil) }
    for _ in 0..<9 { core.fire(event: Nothing()) }
    #expect(areUpdated.wait())
    #expect(atOnce.elements.allSatisfy { $0 == 1 })
  }

  @Test func `what a selector returns is cast to the subscriber's type`() {
    let core = Core(state: Counting())
    let recorder = Recorder(Int?.self)
    core.add(subscriber: recorder, notifyOnQueue: updates.queue) { state in state.numbers.count }
    core.fire(event: Add(number: 4))
    core.settle()
    updates.drain()
    #expect(recorder.states.elements == [0, 1])
  }

  @Test func `a core that has gone away still processes what was fired`() {
    let isSeen = Gate(count: 100)
    let states = Lifetimes()
    do {
      let core = Core(
        state: Tracking(tracked: states.track()),
        middlewares: [Processing<Tracking> { _, _ in isSeen.open() }])
      for _ in 0..<100 { core.fire(event: Nothing()) }
    }
    #expect(isSeen.wait())
    #expect(Threads.yield { states.alive == 0 })
  }

  private struct Tracking: State {
    let tracked: LifetimeTracked
    mutating func react(to event: any Event) {}
  }
}
