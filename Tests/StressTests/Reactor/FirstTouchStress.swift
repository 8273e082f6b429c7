import Synchronization
import TestSupport
import Testing

@testable import ReactorCore
@testable import ReactorRuntime

extension StressTests {
  /// Sixteen threads that are the first to touch a reactor, over and over.
  @Suite struct FirstTouchStress {
    static let threads = 16
    /// How many reactors are touched before all are let go. The mailbox of a runtime takes 100 kB.
    static let wave = 500

    @Test
    func `reactors with a runtime get one pipeline each, and lose nothing`() {
      Scenario.announce("first touch, stored")
      Scenario("first touch, stored").run(withinSeconds: 120) { scenario in
        touch(scenario, reactors: 50_000) { StoredTouched($0) }
      }
    }

    @Test func `reactors without a runtime get one each, which ends with the reactor`() {
      Scenario.announce("first touch, attached")
      Scenario("first touch, attached").run(withinSeconds: 120) { scenario in
        attachedRuntimes.sweep()
        let before = attachedRuntimes.wasCount
        touch(scenario, reactors: 100_000) { AttachedTouched($0) }
        attachedRuntimes.sweep()
        #expect(attachedRuntimes.wasCount <= before, "\(scenario)")
      }
    }

    /// Waves of reactors, each of which all threads touch.
    fileprivate func touch<R: Touched>(
      _ scenario: Scenario, reactors: Int, _ make: @escaping @Sendable (TouchTally) -> R
    ) {
      let lifetimes = Lifetimes()
      var resident: [Int] = []
      let count = StressMode.rounds(reactors) / (Build.isSanitized ? 10 : 1)
      for number in 0..<(count / Self.wave) {
        touchWave(scenario, number, lifetimes, make)
        // Without this sweep it would take up to a second. The sweep in the background may be under way.
        let isGone = Threads.yield {
          attachedRuntimes.sweep()
          return lifetimes.alive == 0
        }
        #expect(isGone, "\(scenario), wave \(number): \(lifetimes.alive) alive")
        resident.append(ResidentMemory.bytes())
      }
      // A single measurement proves little: the memory that the allocator holds varies by tens of megabytes. A leak
      // would lift all of the last measurements above all of the first. Few of them prove nothing.
      if resident.count < 40 { return }
      let part = min(20, resident.count / 3)
      guard let most = resident.prefix(part).max(), let least = resident.suffix(part).min() else { return }
      #expect(least - most < 8 << 20, "\(scenario): \((least - most) >> 20) MiB more than before")
    }

    fileprivate func touchWave<R: Touched>(
      _ scenario: Scenario, _ number: Int, _ lifetimes: Lifetimes,
      _ make: @escaping @Sendable (TouchTally) -> R
    ) {
      let reactors = (0..<Self.wave).map { _ in make(TouchTally(lifetimes.track())) }
      Crew(of: Self.threads) { thread in
        var generator = scenario.generator(number * Self.threads + thread)
        // All threads go through the reactors in the same order, so that they meet again and again.
        for reactor in reactors { reactor.touch(UInt32(thread), &generator) }
      }.join()
      for reactor in reactors {
        if let complaint = reactor.complaint { Issue.record("\(scenario), wave \(number): \(complaint)") }
      }
    }
  }
}

/// A reactor whose state is how many actions it has reduced.
private protocol Touched: Reactor where Action == UInt32, Mutation == UInt32, State == Int {
  var tally: TouchTally { get }
}

/// What happened to one reactor.
private final class TouchTally: Sendable {
  // Relaxed: read when the threads have been joined.
  let actionTransforms = Atomic(0)
  let mutationTransforms = Atomic(0)
  let stateTransforms = Atomic(0)
  let sent = Atomic(0)
  let observers = Guarded<[TouchObserver]>([])
  /// Lives as long as the reactor or one of its observers.
  private let token: LifetimeTracked

  init(_ token: LifetimeTracked) { self.token = token }
}

/// What one observer has seen: each state once, from its first to the last. Called by the owner only.
private final class TouchObserver: Sendable {
  // Relaxed: as above.
  private let last = Atomic(-1)
  private let gaps = Atomic(0)

  func see(_ state: Int) {
    let before = last.exchange(state, ordering: .relaxed)
    if before >= 0, state != before + 1 { gaps.add(1, ordering: .relaxed) }
  }

  /// Whether it has seen all states up to that one.
  func isComplete(upTo state: Int) -> Bool {
    last.load(ordering: .relaxed) == state && gaps.load(ordering: .relaxed) == 0
  }
}

extension Touched {
  /// What a thread does to a reactor that it may be the first to touch.
  fileprivate func touch(_ number: UInt32, _ generator: inout SplitMix64) {
    switch generator.below(4) {
    case 0:
      tally.sent.add(1, ordering: .relaxed)
      send(number)
    case 1:
      let observer = TouchObserver()
      tally.observers.with { $0.append(observer) }
      state.subscribe(onNext: { [tally] state in withExtendedLifetime(tally) { observer.see(state) } })
    case 2: precondition(currentState >= 0)
    default: break
    }
    tally.sent.add(1, ordering: .relaxed)
    action.onNext(number)
  }

  /// Returns what is wrong with it. To be called after all threads have been joined.
  fileprivate var complaint: String? {
    let calls = (
      tally.actionTransforms.load(ordering: .relaxed), tally.mutationTransforms.load(ordering: .relaxed),
      tally.stateTransforms.load(ordering: .relaxed)
    )
    if calls != (1, 1, 1) { return "the transforms were called \(calls) times" }
    let sent = tally.sent.load(ordering: .relaxed)
    if currentState != sent { return "\(currentState) of \(sent) actions were reduced" }
    let observers = tally.observers.with { $0 }
    let complete = observers.count { $0.isComplete(upTo: sent) }
    return complete == observers.count ? nil : "\(complete) of \(observers.count) observers saw every state"
  }

  func transform(action: Observable<UInt32>) -> Observable<UInt32> {
    tally.actionTransforms.add(1, ordering: .relaxed)
    return action
  }

  func transform(mutation: Observable<UInt32>) -> Observable<UInt32> {
    tally.mutationTransforms.add(1, ordering: .relaxed)
    return mutation.map { $0 }
  }

  func transform(state: Observable<Int>) -> Observable<Int> {
    tally.stateTransforms.add(1, ordering: .relaxed)
    return state
  }
}

private final class StoredTouched: Touched {
  typealias Action = UInt32
  let initialState = 0
  let runtime = Runtime<UInt32, UInt32, Int>(on: .caller, capacity: 64)
  let tally: TouchTally

  init(_ tally: TouchTally) { self.tally = tally }
  func reduce(into state: inout Int, mutation: UInt32) { state += 1 }
}

private final class AttachedTouched: Touched, ReactorKitReactor {
  typealias Action = UInt32
  let initialState = 0
  let tally: TouchTally

  init(_ tally: TouchTally) { self.tally = tally }
  func reduce(state: Int, mutation: UInt32) -> Int { state + 1 }
}
