import TestSupport
import Testing

@testable import ReactorSwiftCompatibility

/// When a core observes its state: whenever there is somebody to update.
@Suite struct ObservedCoreTests {
  private let updates = UpdateQueue()

  @Test func `a subscriber gets every event although sixteen others are gone when it comes`() {
    let core = Core(state: Counting())
    // As many as the core keeps before it looks for those that are gone.
    var gone = (0..<16).map { _ in Recorder(Counting.self) }
    for recorder in gone { core.add(subscriber: recorder, notifyOnQueue: updates.queue) }
    waitForCommand(of: core)
    updates.drain()
    gone = []
    core.fire(event: Add(number: 1))
    // Not `settle()`, which removes: that would look for those that are gone.
    waitForCommand(of: core)
    updates.drain()
    let recorder = Recorder(Counting.self)
    core.add(subscriber: recorder, notifyOnQueue: updates.queue)
    core.fire(event: Add(number: 2))
    core.fire(event: Add(number: 3))
    waitForCommand(of: core)
    updates.drain()
    #expect(recorder.counts == [1, 2, 3])
    #expect(core.reactor.isObserved)
    core.remove(subscriber: recorder)
    #expect(!core.reactor.isObserved)
  }

  private func waitForCommand(of core: Core<Counting>) {
    let isExecuted = Gate()
    core.fire(command: Calling { _, _ in isExecuted.open() })
    #expect(isExecuted.wait())
  }

  private struct Waiting: Event {
    let isBlocked = Gate()
    let mayEnd = Gate()
  }

  private struct Sum: State {
    var count = 0

    mutating func react(to event: any Event) {
      count += 1
      guard let event = event as? Waiting else { return }
      event.isBlocked.open()
      #expect(event.mayEnd.wait())
    }
  }

  @Test func `a subscriber that is refused does not keep events from later ones`() {
    let core = Core(state: Sum())
    let waiting = Waiting()
    core.fire(event: waiting)
    #expect(waiting.isBlocked.wait())
    let (refused, isFull) = (Recorder(Sum.self), Gate())
    let queue = updates.queue
    // A middleware does not wait. So more waits in the end than the core holds.
    let other = Core(
      state: Counting(),
      middlewares: [
        Processing<Counting> { _, _ in
          for _ in 0..<2 * 65_536 + 8 { core.fire(event: Nothing()) }
          core.add(subscriber: refused, notifyOnQueue: queue)
          isFull.open()
        }
      ])
    other.fire(event: Nothing())
    #expect(isFull.wait())
    waiting.mayEnd.open()
    core.remove(subscriber: Recorder<Int>())
    #expect(refused.states.elements.isEmpty)
    let recorder = Recorder(Sum.self)
    core.add(subscriber: recorder, notifyOnQueue: queue)
    core.fire(event: Nothing())
    core.fire(event: Nothing())
    core.remove(subscriber: Recorder<Int>())
    updates.drain()
    let counts = recorder.states.elements.map(\.count)
    #expect(counts == (counts.first.map { [$0, $0 + 1, $0 + 2] }))
    core.remove(subscriber: recorder)
    #expect(!core.reactor.isObserved)
  }
}
