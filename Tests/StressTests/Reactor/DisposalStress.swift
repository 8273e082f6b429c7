import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

extension StressTests {
  /// Observers that are disposed of while their reactor closes, or while its mailbox is full. Nothing is sent afterwards, so
  /// no later turn makes up for one that was left out.
  @Suite struct DisposalStress {
    @Test(arguments: Place.allCases)
    func `observers that are disposed of are released while their reactor is still there`(place: Place) {
      Scenario.announce("disposal, \(place)")
      Scenario("disposal, \(place)").run(withinSeconds: 120) { scenario in
        let site = place.makeSite()
        run(scenario, on: site.placement, waves: StressMode.rounds(place == .caller ? 60 : 20))
        site.end()
      }
    }

    /// In each wave all threads go through the same reactors in the same order: one sends, one closes, one disposes.
    private func run(_ scenario: Scenario, on placement: Placement, waves: Int) {
      let threads = 3
      let line = Shared(StartingLine(threads: threads))
      let board = Guarded<[Observed]>([])
      let crew = Crew(of: threads) { thread -> String? in
        var disturbance = Disturbance(scenario.generator(thread))
        for wave in 0..<waves {
          if thread == 0 {
            let reactors = (0..<50).map { _ in Observed(on: placement) }
            board.with { $0 = reactors }
          }
          line.value.meet()
          let reactors = board.with { $0 }
          for reactor in reactors { reactor.act(as: thread, &disturbance) }
          line.value.meet()
          let isReleased = thread > 0 || reactors.allSatisfy { $0.waitUntilReleased() }
          if !isReleased { line.value.giveUp() }
          line.value.meet()
          if line.value.isGivenUp { return isReleased ? nil : "wave \(wave): an observer is not released" }
        }
        return nil
      }
      for complaint in crew.join().compactMap({ $0 }) { Issue.record("\(scenario): \(complaint)") }
    }
  }
}

/// A reactor whose actions cause no mutations, so that observers of its state are never called again.
private final class Observed: Reactor {
  typealias Action = Int
  typealias Mutation = Int

  let initialState = 0
  let runtime: Runtime<Int, Int, Int>
  private let lifetimes = Lifetimes()
  private let subscriptions = Guarded<[any Disposable]>([])

  init(on placement: Placement) {
    runtime = Runtime(on: placement, capacity: 2, onFailure: { _ in })
    let made: [any Disposable] = (0..<3).map { index in
      let tracked = lifetimes.track()
      return index == 0
        ? action.subscribe(onNext: { _ in withExtendedLifetime(tracked) {} })
        : state.subscribe(onNext: { _ in withExtendedLifetime(tracked) {} })
    }
    subscriptions.with { $0 = made }
  }

  func mutate(action: Int) -> Observable<Int> { .empty() }

  func act(as thread: Int, _ disturbance: inout Disturbance) {
    switch thread {
    case 0:
      for action in 0..<4 {
        send(action)
        disturbance.step()
      }
    case 1:
      CurrentCore.pause(times: disturbance.below(32))
      if disturbance.happens(onceIn: 2) { close(disturbance.happens(onceIn: 2) ? .drain : .discard) }
    default:
      let made = subscriptions.with { $0 }
      for subscription in made {
        CurrentCore.pause(times: disturbance.below(16))
        subscription.dispose()
      }
    }
  }

  func waitUntilReleased() -> Bool { Threads.yield(seconds: StressMode.patience) { lifetimes.alive == 0 } }

  func reduce(into state: inout Int, mutation: Int) {}
}
