import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

extension StressTests {
  /// Reactors that go away while threads hold every slot of their states.
  @Suite struct PinnedEndStress {
    /// Each thread keeps the pin of another state. Then all of them give up their references to the reactor, and read the
    /// next one, whose memory may be that of the first.
    @Test
    func `a reactor that goes away takes back the pins that threads keep in all its slots`() {
      Scenario.announce("pinned ends")
      Scenario("pinned ends").run(withinSeconds: 120) { scenario in
        let lifetimes = Lifetimes()
        let (threads, waves) = (7, StressMode.rounds(400))
        let line = Shared(StartingLine(threads: threads))
        let board = Guarded<Pinned?>(nil)
        let crew = Crew(of: threads) { thread -> String? in
          var disturbance = Disturbance(scenario.generator(thread))
          for wave in 0..<waves {
            if thread == 0 { board.with { $0 = Pinned(lifetimes) } }
            line.value.meet()
            let complaint = Self.play(thread, of: threads, board, line, &disturbance)
            if complaint != nil { line.value.giveUp() }
            line.value.meet()
            if line.value.isGivenUp { return complaint.map { "wave \(wave), thread \(thread): \($0)" } }
          }
          return nil
        }
        for complaint in crew.join().compactMap({ $0 }) { Issue.record("\(scenario): \(complaint)") }
        #expect(lifetimes.alive == 0, "\(scenario)")
      }
    }

    /// One thread after the other reads a state of its own. The last references go away when this returns, at about the
    /// same time on all threads.
    private static func play(
      _ thread: Int, of threads: Int, _ board: Guarded<Pinned?>, _ line: Shared<StartingLine>,
      _ disturbance: inout Disturbance
    ) -> String? {
      guard let reactor = board.with({ $0 }) else { return "no reactor" }
      var complaint: String?
      for reader in 0..<threads {
        if thread == reader { complaint = reactor.readOften(expecting: reader) ?? complaint }
        line.value.meet()
        if thread == 0 { reactor.send(1) }
        line.value.meet()
      }
      if thread == 0 {
        let held = reactor.counters.heldStates
        if Self.keepsPins, held != threads { complaint = "\(held) states are held, not \(threads)" }
        board.with { $0 = nil }
      }
      line.value.meet()
      CurrentCore.pause(times: disturbance.below(64))
      return complaint
    }

    /// Where each read pins and unpins, nobody holds a state between two reads.
    private static var keepsPins: Bool {
      CurrentCore.hasFences && StressMode.environment("RR_NO_MEMBARRIER") == nil
    }
  }
}

private final class Pinned: Reactor {
  /// A state with an object, of which there must be none left.
  struct State: Sendable {
    var first = 0
    var tracked: LifetimeTracked
    var last = 0
  }

  let initialState: State
  let runtime = Runtime<Int, Int, State>(snapshots: .copied)
  private let lifetimes: Lifetimes

  init(_ lifetimes: Lifetimes) {
    self.lifetimes = lifetimes
    initialState = State(tracked: lifetimes.track(0))
    send(0)
  }

  func mutate(action: Int) -> Observable<Int> { .just(action) }

  func reduce(into state: inout State, mutation: Int) {
    let next = state.first + mutation
    state = State(first: next, tracked: lifetimes.track(next), last: next)
  }

  /// Reads the same state so often that the thread keeps its pin. Returns what is wrong.
  func readOften(expecting expected: Int) -> String? {
    for _ in 0..<20 {
      let seen = withCurrentState { ($0.first, $0.tracked.value, $0.last) }
      if seen != (expected, expected, expected) { return "\(seen) instead of \(expected)" }
    }
    return nil
  }
}
