import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

extension StressTests {
  /// Threads that read the state while others change it.
  @Suite struct SnapshotStress {
    @Test(arguments: [Place.caller, .parkingLoop], [SnapshotPolicy.copied, .onDemand, .replayed])
    func `readers see whole states, never an older one after a newer one`(
      place: Place, snapshots: SnapshotPolicy
    ) {
      Scenario.announce("readers, \(place), \(snapshots)")
      // With many changes without a break, and more threads than processors, a reader is now and then suspended after
      // it has loaded which slot to copy and before it pins that slot.
      let many = snapshots == .onDemand ? 20_000 : 100_000
      for (writers, readers, changes) in [(1, 1, 6000), (1, 6, many), (3, 2, 6000)] {
        let parameters = "\(place), \(snapshots), \(writers) writers, \(readers) readers, \(changes) changes"
        Scenario("readers, \(parameters)").run {
          read(place, snapshots, writers, readers, changes, $0)
        }
      }
    }

    private func read(
      _ place: Place, _ snapshots: SnapshotPolicy, _ writers: Int, _ readers: Int, _ rounds: Int,
      _ scenario: Scenario
    ) {
      let lifetimes = Lifetimes()
      readMeanwhile(place, snapshots, writers, readers, rounds, lifetimes, scenario)
      #expect(lifetimes.alive == 0, "\(scenario)")
      #expect(lifetimes.total > StressMode.rounds(rounds) / writers * writers, "\(scenario)")
    }

    /// The reactor is gone when this returns.
    private func readMeanwhile(
      _ place: Place, _ snapshots: SnapshotPolicy, _ writers: Int, _ readers: Int, _ rounds: Int,
      _ lifetimes: Lifetimes, _ scenario: Scenario
    ) {
      let loop = place.makeLoop(turnLimit: 7)
      let reactor = WideReactor(on: Placement(loop), snapshots, lifetimes)
      let writing = Shared(Atomic(writers))
      let changes = StressMode.rounds(rounds) / writers
      let hasBreaks = rounds < 20_000
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
        var (newest, answered) = (0, 0)
        while writing.value.load(ordering: .relaxed) > 0 {
          // Reads by reference and copies in turn, and sends from inside of a read now and then.
          // Once for a state: what is sent inside of a read does not wait for room.
          let sendsInside = newest % 64 == 1 && newest != answered
          if sendsInside { answered = newest }
          let complaint = reactor.look(&newest, sendsInside: sendsInside)
          if let complaint { return complaint }
        }
        return nil
      }
      for complaint in crew.join().compactMap({ $0 }) { Issue.record("\(complaint): \(scenario)") }
      loop?.shutdown()
      #expect(reactor.currentState.isWhole, "\(scenario)")
      #expect(reactor.currentState.first == changes * writers, "\(scenario)")
      #expect(reactor.complaint == nil, "\(scenario)")
    }

    @Test(arguments: [SnapshotPolicy.copied, .onDemand, .replayed])
    func `a synchronous send that returned is visible in currentState`(snapshots: SnapshotPolicy) {
      Scenario.announce("synchronous sends")
      for threads in [1, 2, 4] {
        Scenario("synchronous sends, \(threads) threads").run {
          sendAndLook(threads, snapshots, $0)
        }
      }
    }

    /// Each thread has its own reactor, so there is no contention but from a reader of all of them.
    private func sendAndLook(_ threads: Int, _ snapshots: SnapshotPolicy, _ scenario: Scenario) {
      let lifetimes = Lifetimes()
      let reactors = (0..<threads).map { _ in WideReactor(on: .caller, snapshots, lifetimes) }
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
    /// Keeps the words on different cache lines.
    let padding = InlineArray<16, Int>(repeating: 0)
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

  init(on placement: Placement, _ snapshots: SnapshotPolicy, _ lifetimes: Lifetimes) {
    runtime = Runtime(on: placement, snapshots: snapshots, capacity: 64)
    self.lifetimes = lifetimes
    initialState = State(box: lifetimes.track(0))
  }

  /// Reads twice, by reference and by a copy, and returns what is wrong.
  func look(_ newest: inout Int, sendsInside: Bool) -> String? {
    var found: String?
    withCurrentState { state in
      let first = state.first
      // An action that changes nothing.
      if sendsInside { send(0) }
      if !state.isWhole || state.first != first { found = "a torn state: \(state)" }
      if first < newest { found = "state \(first) after \(newest)" }
      newest = max(newest, first)
    }
    let copy = currentState
    if !copy.isWhole { found = "a torn copy: \(copy)" }
    if copy.first < newest { found = "copy \(copy.first) after \(newest)" }
    newest = max(newest, copy.first)
    return found
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
