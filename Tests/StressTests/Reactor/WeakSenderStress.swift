import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

extension StressTests {
  /// A reactor drops the last reference to itself in `mutate`, while other threads turn weak references into strong ones
  /// and send. Then the reactor is gone, or it has reduced everything.
  @Suite struct WeakSenderStress {
    @Test(arguments: Place.allCases)
    func `a reactor that one thread drops and another one keeps reduces what both send`(place: Place) {
      Scenario.announce("weak senders, \(place)")
      Scenario("weak senders, \(place)").run(withinSeconds: 120) { scenario in
        let lifetimes = Lifetimes()
        let site = place.makeSite()
        run(scenario, on: site.placement, lifetimes, waves: StressMode.rounds(place == .caller ? 400 : 20))
        site.end()
        // The last reference may be that of a task that has just ended.
        #expect(Threads.yield { lifetimes.alive == 0 }, "\(scenario): \(lifetimes.alive) alive")
      }
    }

    /// In each wave all threads go through the same reactors in the same order, so that they meet again and again.
    /// Thread 0 sends each reactor the action that drops it; the others have weak references.
    private func run(_ scenario: Scenario, on placement: Placement, _ lifetimes: Lifetimes, waves: Int) {
      let threads = 3
      let line = Shared(StartingLine(threads: threads))
      let board = Guarded<[WeakRound]>([])
      let crew = Crew(of: threads) { thread -> String? in
        var generator = scenario.generator(thread)
        for number in 0..<waves {
          if thread == 0 {
            let rounds = (0..<100).map { _ in WeakRound(on: placement, lifetimes) }
            board.with { $0 = rounds }
          }
          line.value.meet()
          let complaint = send(thread, to: board.with { $0 }, &generator) { line.value.meet() }
          if complaint != nil { line.value.giveUp() }
          line.value.meet()
          if line.value.isGivenUp { return complaint.map { "wave \(number), \($0)" } }
        }
        return nil
      }
      for complaint in crew.join().compactMap({ $0 }) { Issue.record("\(scenario): \(complaint)") }
    }

    /// Sends to each reactor of a wave, waits until the other threads have done so, too, and returns what is wrong with
    /// those that this thread has kept.
    private func send(
      _ thread: Int, to rounds: [WeakRound], _ generator: inout SplitMix64, thenWait: () -> Void
    ) -> String? {
      var kept: [(round: WeakRound, reactor: Dropped, way: WeakRound.Way)] = []
      for round in rounds {
        if thread == 0 {
          CurrentCore.pause(times: generator.below(200))
          round.sendDropping()
        } else {
          let way = WeakRound.Way.random(&generator)
          if let reactor = round.send(thread, way, after: generator.below(32)) {
            kept.append((round, reactor, way))
          }
        }
      }
      thenWait()
      for (round, reactor, way) in kept {
        if let complaint = round.complaint(of: reactor, thread, way) { return complaint }
      }
      return nil
    }
  }
}

/// One reactor, and those that send to it.
private final class WeakRound: Sendable {
  /// What a thread does with the reactor that its weak reference still finds.
  enum Way: CaseIterable {
    case send, trySend, sendBefore, sendSuspending, onNext, subscribe, close

    static func random(_ generator: inout SplitMix64) -> Way {
      // A reactor that is closed refuses the actions of the other threads, so not too often.
      let way = allCases[generator.below(allCases.count)]
      return way == .close && !generator.happens(onceIn: 4) ? .send : way
    }
  }

  private let holder = Guarded<Dropped?>(nil)
  private let weakly: WeakDropped
  private let action: ActionSubject<Int>
  private let isDropped = Atomic(false)
  /// One bit for each action that was refused.
  private let refused = Atomic(0)
  private let isObserved = Atomic(false)

  init(on placement: Placement, _ lifetimes: Lifetimes) {
    let reactor = Dropped(on: placement, lifetimes.track())
    weakly = WeakDropped(reactor)
    action = reactor.action
    reactor.round.round = self
    holder.with { $0 = reactor }
  }

  func drop() {
    let last = holder.with { $0.take() }
    _ = consume last
    isDropped.store(true, ordering: .sequentiallyConsistent)
  }

  func noteRefused(_ action: Int) { refused.bitwiseOr(1 << action, ordering: .sequentiallyConsistent) }

  func sendDropping() { action.onNext(0) }

  /// Waits until the reactor has dropped its last reference, and then a little.
  func send(_ number: Int, _ way: Way, after pauses: Int) -> Dropped? {
    var looks = 0
    while !isDropped.load(ordering: .sequentiallyConsistent) {
      looks += 1
      if looks % 256 == 0 { DedicatedThread.yield() } else { CurrentCore.pause() }
    }
    CurrentCore.pause(times: pauses)
    guard let reactor = weakly.reactor else { return nil }
    do throws(SendError) {
      switch way {
      case .send: reactor.send(number)
      case .trySend: try reactor.trySend(number)
      case .sendBefore: try reactor.send(number, before: .now + .seconds(10))
      case .sendSuspending: suspend(reactor, number)
      case .onNext: action.onNext(number)
      case .subscribe:
        reactor.state.subscribe(onNext: { [self] _ in
          isObserved.store(true, ordering: .sequentiallyConsistent)
        })
      case .close: reactor.close()
      }
    } catch { noteRefused(number) }
    return reactor
  }

  private func suspend(_ reactor: Dropped, _ number: Int) {
    let isDone = Gate()
    Task.detached { [self] in
      do throws(SendError) { try await reactor.sendSuspending(number) } catch { noteRefused(number) }
      isDone.open()
    }
    _ = isDone.wait()
  }

  /// Returns what is wrong with a reactor that a thread has kept. All threads have sent by now.
  func complaint(of reactor: Dropped, _ number: Int, _ way: Way) -> String? {
    let isDone =
      switch way {
      case .close: reactor.waitUntilClosed(before: .now + .seconds(10))
      case .subscribe: wait { isObserved.load(ordering: .sequentiallyConsistent) }
      default: wait { isOver(number, reactor) }
      }
    if !isDone { return "thread \(number), \(way): not done although the reactor is there" }
    if !wait(until: { isOver(0, reactor) }) {
      return "thread \(number), \(way): the first action is not reduced"
    }
    let closed = reactor.isClosed
    return refused.load(ordering: .sequentiallyConsistent) == 0 || closed
      ? nil : "an open reactor has refused"
  }

  private func isOver(_ number: Int, _ reactor: Dropped) -> Bool {
    let bits = reactor.currentState | refused.load(ordering: .sequentiallyConsistent)
    return bits & 1 << number != 0
  }

  private func wait(until condition: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + .seconds(10)
    while !condition() {
      if .now > deadline { return false }
      DedicatedThread.yield()
    }
    return true
  }
}

/// A weak reference to a round's reactor.
private final class WeakDropped: @unchecked Sendable {
  // Unchecked: it is written once, before other threads have it, and loading a weak reference is atomic.
  private(set) weak var reactor: Dropped?

  init(_ reactor: Dropped) { self.reactor = reactor }
}

/// A weak reference to the round of a reactor, which the round refers to.
private final class WeakRoundReference: @unchecked Sendable {
  // Unchecked: as above.
  weak var round: WeakRound?
}

/// A reactor that drops its last reference when it gets action 0. Its state has one bit for each action.
private final class Dropped: Reactor {
  typealias Action = Int
  typealias Mutation = Int

  let initialState = 0
  let runtime: Runtime<Int, Int, Int>
  let round: WeakRoundReference
  private let tracked: LifetimeTracked

  init(on placement: Placement, _ tracked: LifetimeTracked) {
    let round = WeakRoundReference()
    self.round = round
    self.tracked = tracked
    runtime = Runtime(
      on: placement, capacity: 64,
      onFailure: { failure in if let action = failure.action as? Int { round.round?.noteRefused(action) } })
  }

  func mutate(action: Int) -> Observable<Int> {
    if action == 0 { round.round?.drop() }
    return .just(action)
  }

  func reduce(into state: inout Int, mutation: Int) { state |= 1 << mutation }
}
