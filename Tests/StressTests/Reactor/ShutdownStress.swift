import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

extension StressTests {
  /// Loops that end, and reactors that are let go, while others send.
  @Suite struct ShutdownStress {
    /// The results of a thread's sends.
    private struct Sent: Sendable {
      /// Sent with `send(_:)`, which reports what is not delivered.
      var sent = 0
      /// Sent with `trySend(_:)` without an error.
      var accepted = 0
    }

    @Test
    func `a loop that ends while others send loses nothing silently`() {
      Scenario.announce("shutdown")
      for round in 0..<StressMode.rounds(60) {
        for threads in [1, 2, 4] {
          let capacity = [2, 4, 64][round % 3]
          let parameters = "capacity \(capacity), \(threads) threads, round \(round)"
          Scenario("shutdown, \(parameters)").run {
            shutDown(capacity, threads, $0)
          }
        }
      }
    }

    private func shutDown(
      _ capacity: Int, _ threads: Int, _ scenario: Scenario
    ) {
      let failures = FailureCounter()
      let lifetimes = Lifetimes()
      let reduced = Shared(Atomic(0))
      let sent = sendUntilClosed(capacity, threads, failures, lifetimes, reduced, scenario)
      // The reactor is gone by now, and has reported the actions that its loop left unprocessed.
      let total = sent.map { $0.sent + $0.accepted }.reduce(0, +)
      let done = reduced.value.load(ordering: .relaxed)
      #expect(done + failures.total == total, "\(scenario): \(done) reduced, \(failures.total) reported")
      #expect(failures.count(.closed) == failures.total, "\(scenario)")
      #expect(lifetimes.alive == 0, "\(scenario)")
    }

    private func sendUntilClosed(
      _ capacity: Int, _ threads: Int, _ failures: FailureCounter, _ lifetimes: Lifetimes,
      _ reduced: Shared<Atomic<Int>>, _ scenario: Scenario
    ) -> [Sent] {
      let loop = Place.parkingLoop.makeLoop(turnLimit: 3)
      let reactor = Keeper(
        on: Placement(loop), capacity: capacity, reduced: reduced, onFailure: { failures.note($0) })
      let crew = Crew(of: threads) { thread in
        var disturbance = Disturbance(scenario.generator(thread))
        var sent = Sent()
        let before = failures.total
        while true {
          disturbance.step()
          if disturbance.happens(onceIn: 4) {
            sent.sent += 1
            reactor.send(lifetimes.track())
            if failures.total > before { return sent }
          } else {
            do throws(SendError) {
              try reactor.trySend(lifetimes.track())
              sent.accepted += 1
            } catch .closed {
              return sent
            } catch {
              disturbance.idle()
            }
          }
        }
      }
      var generator = scenario.generator(-1)
      usleep(UInt32(truncatingIfNeeded: generator.next() % 1500))
      loop?.shutdown()
      return crew.join()
    }

    @Test
    func `actions of a reactor's last holder are processed, then the reactor ends`() {
      Scenario.announce("let go")
      for place in [Place.parkingLoop, .spinningLoop] {
        for senders in [1, 4] {
          Scenario("let go, \(place), \(senders) senders").run {
            letGo(place, senders, $0)
          }
        }
      }
    }

    private func letGo(
      _ place: Place, _ senders: Int, _ scenario: Scenario
    ) {
      let loop = place.makeLoop(turnLimit: 3)
      let lifetimes = Lifetimes()
      let reduced = Shared(Atomic(0))
      let failures = FailureCounter()
      let rounds = StressMode.rounds(100)
      let sent = Crew(of: senders) { sender in
        var disturbance = Disturbance(scenario.generator(sender))
        var sent = 0
        for _ in 0..<rounds {
          let reactor = Keeper(
            on: Placement(loop), capacity: 16, reduced: reduced, token: lifetimes.track(),
            onFailure: { failures.note($0) })
          for _ in 0..<disturbance.below(20) {
            disturbance.step()
            reactor.send(lifetimes.track())
            sent += 1
          }
        }
        return sent
      }.join().reduce(0, +)
      loop?.shutdown()
      #expect(reduced.value.load(ordering: .relaxed) == sent, "\(scenario)")
      #expect(failures.total == 0, "\(scenario)")
      #expect(lifetimes.alive == 0, "\(scenario)")
    }
  }
}

/// Keeps the last object that was sent in its state.
private final class Keeper: Reactor {
  typealias Action = LifetimeTracked
  typealias Mutation = LifetimeTracked

  struct State: Sendable {
    var newest: LifetimeTracked?
  }

  let initialState = State()
  let runtime: Runtime<LifetimeTracked, LifetimeTracked, State>
  private let reduced: Shared<Atomic<Int>>
  /// Lives as long as the reactor.
  private let token: LifetimeTracked?

  init(
    on placement: Placement, capacity: Int, reduced: Shared<Atomic<Int>>, token: LifetimeTracked? = nil,
    onFailure: @escaping @Sendable (Failure) -> Void
  ) {
    runtime = Runtime(on: placement, capacity: capacity, onFailure: onFailure)
    self.reduced = reduced
    self.token = token
  }

  func reduce(into state: inout State, mutation: LifetimeTracked) {
    state.newest = mutation
    reduced.value.wrappingAdd(1, ordering: .relaxed)
  }
}
