import Dispatch
import ReactorSwiftCompatibility
import Synchronization
import TestSupport
import Testing

extension StressTests {
  /// Threads that fire, add and remove subscribers and read, on one core of ReactorSwift's API.
  @Suite struct CoreStress {
    private static let threads = 4

    @Test func `every event is processed once and in order while subscribers come and go`() {
      Scenario.announce("cores of ReactorSwift's API")
      for round in 0..<StressMode.rounds(8) {
        Scenario("cores, round \(round)").run { run($0) }
      }
    }

    private func run(_ scenario: Scenario) {
      let subscribers = Lifetimes()
      let processed = Shared(Atomic(0))
      let fired = Shared(Atomic(0))
      do {
        let core = Core(
          state: Received(last: Array(repeating: 0, count: Self.threads)),
          middlewares: [Counter(processed: processed)])
        let shared = (0..<6).map { index in
          Watcher(subscribers, on: index == 0 ? nil : DispatchQueue(label: "shared \(index)"))
        }
        let crew = Crew(of: Self.threads) { index -> String? in
          var generator = scenario.generator(index)
          var number = 0
          for _ in 0..<StressMode.perRound(2000) {
            let watcher = shared[Int(generator.below(6))]
            switch generator.below(12) {
            case 0: core.add(subscriber: watcher, notifyOnQueue: watcher.queue)
            case 1: core.remove(subscriber: watcher)
            case 2:
              if let complaint = comeAndGo(core, subscribers, drops: generator.below(2) == 0) {
                return complaint
              }
            case 3:
              number += 1
              core.fire(command: Relay(event: Numbered(thread: index, number: number), fired: fired))
              // The next number must not be fired before the command has fired this one.
              core.remove(subscriber: watcher)
            case 4:
              if core.state.isOutOfOrder { return "a snapshot is out of order" }
            default:
              number += 1
              fired.value.add(1, ordering: .relaxed)
              core.fire(event: Numbered(thread: index, number: number))
            }
          }
          return nil
        }
        for complaint in crew.join().compactMap({ $0 }) { Issue.record("\(complaint): \(scenario)") }
        for watcher in shared {
          core.remove(subscriber: watcher)
          watcher.queue?.sync {}
          if watcher.wentBack.load(ordering: .relaxed) { Issue.record("an update went back: \(scenario)") }
        }
        #expect(core.state.count == fired.value.load(ordering: .relaxed), "\(scenario)")
        #expect(!core.state.isOutOfOrder, "\(scenario)")
      }
      #expect(processed.value.load(ordering: .relaxed) == fired.value.load(ordering: .relaxed), "\(scenario)")
      #expect(Threads.yield(seconds: 20) { subscribers.alive == 0 }, "\(scenario)")
    }

    /// Adds a subscriber, removes it on the queue of its updates, and expects none after that; or drops it without removing it.
    private func comeAndGo(_ core: Core<Received>, _ subscribers: Lifetimes, drops: Bool) -> String? {
      let queue = DispatchQueue(label: "one")
      let watcher = Watcher(subscribers, on: queue)
      core.add(subscriber: watcher, notifyOnQueue: queue)
      if drops { return nil }
      queue.sync {
        // Once any removal has returned, the update for this is on the queue.
        core.fire(event: Tick())
        core.remove(subscriber: Watcher(subscribers, on: nil))
        core.remove(subscriber: watcher)
        watcher.isRemoved.store(true, ordering: .relaxed)
      }
      queue.sync {}
      return watcher.wentBack.load(ordering: .relaxed) ? "an update came after the removal" : nil
    }
  }
}

private struct Numbered: Event {
  let thread: Int
  let number: Int
}

/// Changes nothing.
private struct Tick: Event {}

private struct Received: State {
  var last: [Int]
  var count = 0
  var isOutOfOrder = false

  mutating func react(to event: any Event) {
    guard let event = event as? Numbered else { return }
    if event.number != last[event.thread] + 1 { isOutOfOrder = true }
    last[event.thread] = event.number
    count += 1
  }
}

private struct Relay: Command {
  let event: Numbered
  let fired: Shared<Atomic<Int>>

  func execute(state: Received, core: Core<Received>) {
    fired.value.add(1, ordering: .relaxed)
    core.fire(event: event)
  }
}

private struct Counter: Middleware {
  let processed: Shared<Atomic<Int>>

  func process(event: any Event, state: Received) {
    if event is Numbered { processed.value.add(1, ordering: .relaxed) }
  }
}

/// Notices updates that go back, and those that come after its removal.
private final class Watcher: Subscriber {
  let queue: DispatchQueue?
  let wentBack = Atomic(false)
  let isRemoved = Atomic(false)
  private let newest = Atomic(0)
  private let tracked: LifetimeTracked

  init(_ lifetimes: Lifetimes, on queue: DispatchQueue?) {
    tracked = lifetimes.track()
    self.queue = queue
  }

  func update(with state: Received) {
    let before = newest.exchange(state.count, ordering: .relaxed)
    if before > state.count || isRemoved.load(ordering: .relaxed) { wentBack.store(true, ordering: .relaxed) }
  }
}
