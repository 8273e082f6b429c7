import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

extension StressTests {
  /// Threads that read the state while others change it.
  @Suite struct SnapshotStress {
    @Test(arguments: [Place.caller, .parkingLoop])
    func `readers see whole states, never an older one after a newer one`(
      place: Place
    ) {
      Scenario.announce("readers, \(place)")
      // With many changes without a break, and more threads than processors, a reader is now and then suspended after
      // it has loaded which slot to copy and before it pins that slot.
      for (writers, readers, changes) in [(1, 1, 6000), (1, 6, 100_000), (3, 2, 6000)] {
        let parameters = "\(place), \(writers) writers, \(readers) readers, \(changes) changes"
        Scenario("readers, \(parameters)").run {
          read(place, writers, readers, changes, $0)
        }
      }
    }

    private func read(
      _ place: Place, _ writers: Int, _ readers: Int, _ rounds: Int, _ scenario: Scenario
    ) {
      let lifetimes = Lifetimes()
      readMeanwhile(place, writers, readers, rounds, lifetimes, scenario)
      #expect(lifetimes.alive == 0, "\(scenario)")
      #expect(lifetimes.total > StressMode.rounds(rounds) / writers * writers, "\(scenario)")
    }

    /// The reactor is gone when this returns.
    private func readMeanwhile(
      _ place: Place, _ writers: Int, _ readers: Int, _ rounds: Int, _ lifetimes: Lifetimes,
      _ scenario: Scenario
    ) {
      let loop = place.makeLoop(turnLimit: 7)
      let reactor = WideReactor(on: Placement(loop), lifetimes)
      let writing = Shared(Atomic(writers))
      let changes = StressMode.rounds(rounds) / writers
      let hasBreaks = rounds < 100_000
      let crew = Crew(of: writers + readers) { index -> String? in
        if index < writers {
          var disturbance = Disturbance(scenario.generator(index))
          for _ in 0..<changes {
            if hasBreaks { disturbance.step() }
            reactor.send(1)
          }
          writing.value.wrappingSubtract(1, ordering: .relaxed)
          return nil
        }
        var newest = 0
        while writing.value.load(ordering: .relaxed) > 0 {
          let state = reactor.currentState
          if !state.isWhole { return "a torn state: \(state)" }
          if state.first < newest { return "state \(state.first) after \(newest)" }
          newest = state.first
        }
        return nil
      }
      for complaint in crew.join().compactMap({ $0 }) { Issue.record("\(complaint): \(scenario)") }
      loop?.shutdown()
      #expect(reactor.currentState.isWhole, "\(scenario)")
      #expect(reactor.currentState.first == changes * writers, "\(scenario)")
      #expect(reactor.complaint == nil, "\(scenario)")
    }

    @Test
    func `a synchronous send that returned is visible in currentState`() {
      Scenario.announce("synchronous sends")
      for threads in [1, 2, 4] {
        Scenario("synchronous sends, \(threads) threads").run {
          sendAndLook(threads, $0)
        }
      }
    }

    /// Each thread has its own reactor, so there is no contention but from a reader of all of them.
    private func sendAndLook(_ threads: Int, _ scenario: Scenario) {
      let lifetimes = Lifetimes()
      let reactors = (0..<threads).map { _ in WideReactor(on: .caller, lifetimes) }
      let sending = Shared(Atomic(threads))
      let crew = Crew(of: threads + 1) { index -> String? in
        if index == threads {
          while sending.value.load(ordering: .relaxed) > 0 {
            for reactor in reactors where !reactor.currentState.isWhole { return "a torn state" }
          }
          return nil
        }
        defer { sending.value.wrappingSubtract(1, ordering: .relaxed) }
        var disturbance = Disturbance(scenario.generator(index))
        for number in 1...StressMode.rounds(4000) {
          disturbance.step()
          reactors[index].send(1)
          let seen = reactors[index].currentState.first
          if seen != number { return "after send \(number) the state is \(seen)" }
        }
        return nil
      }
      for complaint in crew.join().compactMap({ $0 }) { Issue.record("\(complaint): \(scenario)") }
      // Each reactor keeps the objects of the states that are published, or were published last.
      #expect(lifetimes.alive <= threads * (snapshotSlotCount + 1), "\(scenario): \(lifetimes.alive) alive")
    }
  }
}

/// A reactor whose state has several words and a reference, which must all agree.
private final class WideReactor: Reactor {
  typealias Action = Int
  typealias Mutation = Int

  struct State: Sendable {
    var first = 0
    var box: LifetimeTracked
    var second = 0
    var third = 0

    var isWhole: Bool { first == second && second == third && third == box.value }
  }

  let initialState: State
  let runtime: Runtime<Int, Int, State>
  private let lifetimes: Lifetimes

  // Owner only.
  nonisolated(unsafe) private(set) var complaint: String?
  nonisolated(unsafe) private var reduced = 0

  init(on placement: Placement, _ lifetimes: Lifetimes) {
    runtime = Runtime(on: placement, capacity: 64)
    self.lifetimes = lifetimes
    initialState = State(box: lifetimes.track(0))
  }

  func mutate(action: Int) -> Observable<Int> {
    // The owner sees everything that it has reduced immediately.
    if complaint == nil, currentState.first != reduced || !currentState.isWhole {
      complaint = "the owner saw \(currentState) after \(reduced)"
    }
    return .just(action)
  }

  func reduce(into state: inout State, mutation: Int) {
    state.first += mutation
    state.box = lifetimes.track(state.first)
    state.second += mutation
    state.third += mutation
    reduced = state.first
  }
}
