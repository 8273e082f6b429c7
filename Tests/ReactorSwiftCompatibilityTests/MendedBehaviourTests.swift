import Dispatch
import TestSupport
import Testing

@testable import ReactorSwiftCompatibility

/// Where ReactorSwift crashes, hangs, tears or loses, and this product does not.
@Suite struct MendedBehaviourTests {
  private let updates = UpdateQueue()

  private struct Pair: State {
    var (left, right): ([Int], [Int]) = ([], [])

    mutating func react(to event: any Event) {
      left.append(left.count)
      right.append(right.count)
    }
  }

  @Test func `core.state is a whole state on every thread, at any time`() {
    let core = Core(state: Pair())
    #expect(
      Threads.run(4) { index in
        for _ in 0..<2000 {
          if index == 0 { core.fire(event: Nothing()) }
          let state = core.state
          if state.left != state.right { Issue.record("torn: \(state)") }
        }
      })
  }

  @Test func `what was processed can be read at once, although the core goes on`() {
    let core = Core(state: Counting())
    let seen = Record<[Int]>()
    core.fire(event: Pause())
    core.fire(event: Add(number: 1))
    core.fire(command: Calling { state, core in seen.append(core.state.numbers) })
    for _ in 0..<3 { core.fire(event: Pause()) }
    core.settle()
    #expect(seen.elements == [[1]])
  }

  @Test func `an event is released when it was processed`() {
    let events = Lifetimes()
    for middlewares in [[], [Processing<Counting> { _, _ in }]] {
      let core = Core(state: Counting(), middlewares: middlewares)
      core.fire(event: Carrying(tracked: events.track()))
      core.settle()
      #expect(events.alive == 0)
    }
  }

  private struct Carrying: Event {
    let tracked: LifetimeTracked
  }

  @Test func `remove returns inside an update, also on the core's own queue, and no update follows`() {
    for queue in [updates.queue, nil] {
      let core = Core(state: Counting())
      let isRemoved = Gate()
      let recorder = Recorder(Counting.self) { _ in isRemoved.open() }
      let remover = Remover(core)
      core.add(subscriber: remover, notifyOnQueue: queue)
      core.add(subscriber: recorder, notifyOnQueue: queue)
      for _ in 0..<20 { core.fire(event: Nothing()) }
      #expect(isRemoved.wait())
      core.settle()
      #expect(Threads.yield { recorder.counts.count >= 1 })
      updates.drain()
      #expect(remover.states.elements.count == 1)
    }
  }

  private final class Remover: Subscriber {
    let states = Record<Counting>()
    private let core: Core<Counting>

    init(_ core: Core<Counting>) { self.core = core }

    func update(with state: Counting) {
      states.append(state)
      core.remove(subscriber: self)
    }
  }

  @Test func `remove returns inside a command and inside a middleware`() {
    let reference = WeakCore()
    let recorders = (0..<2).map { _ in Recorder(Counting.self) }
    let core = Core(
      state: Counting(),
      middlewares: [
        Processing<Counting> { event, _ in
          if event is Add { reference.core?.remove(subscriber: recorders[0]) }
        }
      ])
    reference.core = core
    for recorder in recorders { core.add(subscriber: recorder, notifyOnQueue: updates.queue) }
    core.fire(event: Add(number: 1))
    core.fire(command: Calling { _, core in core.remove(subscriber: recorders[1]) })
    core.settle()
    updates.drain()
    let counts = recorders.map(\.counts.count)
    core.fire(event: Nothing())
    core.settle()
    updates.drain()
    #expect(recorders.map(\.counts.count) == counts)
  }

  @Test func `no update begins after remove has returned, although some are on the queue already`() {
    let core = Core(state: Counting())
    let recorder = Recorder(Counting.self)
    updates.queue.suspend()
    core.add(subscriber: recorder, notifyOnQueue: updates.queue)
    for _ in 0..<5 { core.fire(event: Nothing()) }
    core.settle()
    core.remove(subscriber: recorder)
    updates.queue.resume()
    updates.drain()
    #expect(recorder.counts == [])
  }

  @Test func `a subscriber that is removed while its selector runs is not updated`() {
    let (isSelecting, maySelect) = (Gate(), Gate())
    let core = Core(state: Counting())
    let recorder = Recorder(Counting.self)
    core.add(subscriber: recorder, notifyOnQueue: updates.queue) { state in
      isSelecting.open()
      _ = maySelect.wait()
      return state
    }
    #expect(isSelecting.wait())
    core.remove(subscriber: recorder)
    maySelect.open()
    updates.drain()
    #expect(recorder.counts == [])
  }

  @Test func `a subscriber may remove itself in its deinit`() {
    final class Leaving: Subscriber {
      let core: Core<Counting>
      init(_ core: Core<Counting>) { self.core = core }
      deinit { core.remove(subscriber: self) }
      func update(with state: Counting) {}
    }
    let core = Core(state: Counting())
    do {
      let leaving = Leaving(core)
      core.add(subscriber: leaving, notifyOnQueue: updates.queue)
      core.fire(event: Add(number: 1))
    }
    #expect(core.state.numbers == [1])
    #expect(core.table.count == 0)
  }

  @Test func `a subscriber may remove itself in its deinit where a command had the last reference to it`() {
    final class Screen: Subscriber {
      let core: Core<Counting>
      init(_ core: Core<Counting>) { self.core = core }
      deinit { core.remove(subscriber: self) }
      func update(with state: Counting) {}
    }
    struct Load: Command {
      let screen: Screen
      let mayEnd: Gate
      func execute(state: Counting, core: Core<Counting>) { #expect(mayEnd.wait()) }
    }
    let core = Core(state: Counting())
    let (mayEnd, isDone) = (Gate(), Gate())
    let recorder = Recorder(Counting.self)
    do {
      let screen = Screen(core)
      core.add(subscriber: screen, notifyOnQueue: updates.queue)
      core.fire(command: Load(screen: screen, mayEnd: mayEnd))
    }
    // When this one is updated, neither the core's thread nor an update has a reference to the screen any more.
    core.add(subscriber: recorder, notifyOnQueue: updates.queue)
    core.fire(event: Add(number: 1))
    #expect(Threads.yield { recorder.counts.last == 1 })
    mayEnd.open()
    core.fire(command: Calling { _, _ in isDone.open() })
    #expect(isDone.wait(seconds: 60))
    #expect(core.table.count == 1)
  }

  @Test func `subscribers are not retained, and dead ones are dropped`() {
    let core = Core(state: Counting())
    let captured = Lifetimes()
    func addBriefly(_ count: Int) {
      for _ in 0..<count {
        let tracked = captured.track()
        let recorder = Recorder(Int.self)
        core.add(subscriber: recorder, notifyOnQueue: updates.queue) { _ in tracked.value }
      }
    }
    addBriefly(10)
    core.fire(event: Nothing())
    #expect(Threads.yield(seconds: 10) { core.table.count == 0 })
    // The next event finds that they are gone.
    core.fire(event: Nothing())
    #expect(Threads.yield(seconds: 10) { captured.alive == 0 })

    // No event comes, and no update can tell that they are gone.
    updates.queue.suspend()
    addBriefly(1000)
    #expect(core.table.count < 32)
    updates.queue.resume()
  }

  @Test func `a command that blocks does not block the core`() {
    let core = Core(state: Counting())
    let mayEnd = Gate()
    let hasEnded = Gate()
    core.fire(
      command: Calling { _, _ in
        #expect(mayEnd.wait())
        hasEnded.open()
      })
    core.fire(event: Add(number: 1))
    #expect(Threads.yield { core.state.numbers == [1] })
    #expect(!hasEnded.isOpen)
    mayEnd.open()
    #expect(hasEnded.wait())
  }

  @Test func `a core without subscribers and middlewares does not observe its state`() {
    let core = Core(state: Counting())
    #expect(!core.reactor.isObserved)
    for round in 1...3 {
      let recorders = (0..<2).map { _ in Recorder(Counting.self) }
      for recorder in recorders { core.add(subscriber: recorder, notifyOnQueue: updates.queue) }
      core.fire(event: Add(number: 1))
      core.remove(subscriber: recorders[0])
      #expect(core.reactor.isObserved)
      core.fire(event: Add(number: 2))
      core.settle()
      updates.drain()
      #expect(recorders[1].counts == [2 * round - 2, 2 * round - 1, 2 * round])
      core.remove(subscriber: recorders[1])
      #expect(!core.reactor.isObserved)
    }
    let observing = Core(state: Counting(), middlewares: [Processing<Counting> { _, _ in }])
    let recorder = Recorder(Counting.self)
    observing.add(subscriber: recorder, notifyOnQueue: updates.queue)
    observing.remove(subscriber: recorder)
    #expect(observing.reactor.isObserved)
  }

  @Test func `subscribers that come and go on many threads get every event of their time`() {
    let core = Core(state: Counting())
    let queue = updates.queue
    let hasRun = Threads.run(4) { _ in
      for _ in 0..<200 {
        let recorder = Recorder(Counting.self)
        core.add(subscriber: recorder, notifyOnQueue: queue)
        core.fire(event: Add(number: 1))
        core.settle()
        queue.sync {}
        let counts = recorder.counts
        // One after the other, from the state at the addition on; its own event among them.
        if counts.count < 2 || counts != Array(counts[0]..<(counts[0] + counts.count)) {
          Issue.record("missed an event: \(counts)")
        }
        core.remove(subscriber: recorder)
      }
    }
    #expect(hasRun)
    #expect(!core.reactor.isObserved)
  }

  #if DEBUG
    @Test func `a wrong type of a selector, a core or a middleware causes a warning; nil does not`() {
      enum OfSelector {}
      enum OfMiddleware {}
      final class Text<Place>: Subscriber {
        func update(with text: String) { Issue.record("was called with \(text)") }
      }
      final class Deaf<Place>: Middleware {
        func process(event: any Event, state: String) { Issue.record("was called") }
      }
      let ofSelector = HookedWarnings(about: Text<OfSelector>.self)
      let ofMiddleware = HookedWarnings(about: Deaf<OfMiddleware>.self)
      let core = Core(state: Counting(), middlewares: [Deaf<OfMiddleware>()])
      let text = Text<OfSelector>()
      core.add(subscriber: text, notifyOnQueue: updates.queue) { _ in String?.none as Any }
      core.settle()
      updates.drain()
      #expect((ofSelector.kinds + ofMiddleware.kinds).isEmpty)
      core.remove(subscriber: text)
      core.add(subscriber: text, notifyOnQueue: updates.queue) { state in state.numbers.count }
      core.fire(event: Nothing())
      core.settle()
      updates.drain()
      #expect(
        ofSelector.warnings.map(\.description).contains {
          $0.contains("Text<") && $0.contains("expects a Swift.String, but was given a Swift.Int")
            && $0.contains("Remedy: let the selector return")
        })
      #expect(
        ofMiddleware.warnings.map(\.description).contains {
          $0.contains("Deaf<") && $0.contains("Counting, so it was not called")
        })
      #expect(ofSelector.kinds + ofMiddleware.kinds == [.wrongStateType, .wrongStateType])
    }
  #endif
}
