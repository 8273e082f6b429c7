import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

extension StressTests {
  /// Requests that end the previous one with `take(until: action…)`, while other threads send their results.
  @Suite struct SupersededStress {
    @Test(arguments: [Place.caller, .parkingLoop])
    func `nothing of an older request is reduced after the first of a newer one`(
      place: Place
    ) {
      Scenario.announce("superseded requests, \(place)")
      for searchers in [1, 3] {
        let parameters = "\(place), \(searchers) searchers"
        Scenario("superseded requests, \(parameters)").run { scenario in
          search(place, searchers, scenario)
        }
      }
    }

    private func search(
      _ place: Place, _ searchers: Int, _ scenario: Scenario
    ) {
      let lifetimes = Lifetimes()
      searchAndAnswer(place, searchers, lifetimes, scenario)
      #expect(Threads.yield { lifetimes.alive == 0 }, "\(scenario): \(lifetimes.alive) requests are left")
    }

    /// The reactor is gone when this returns.
    private func searchAndAnswer(
      _ place: Place, _ searchers: Int, _ lifetimes: Lifetimes, _ scenario: Scenario
    ) {
      let (answerers, requests) = (2, StressMode.rounds(2000))
      let loop = place.makeLoop(turnLimit: 8)
      let reactor = SearchReactor(on: Placement(loop), lifetimes)
      let left = Shared(Atomic(searchers))
      Crew(of: searchers + answerers) { thread in
        var disturbance = Disturbance(scenario.generator(thread))
        if thread < searchers {
          for _ in 0..<requests {
            disturbance.step()
            reactor.action.onNext(.search)
            for _ in 0..<disturbance.below(4) { reactor.action.onNext(.other) }
          }
          left.value.subtract(1, ordering: .relaxed)
        } else {
          while left.value.load(ordering: .relaxed) > 0 {
            reactor.newest.with { $0 }?.answer(&disturbance)
            disturbance.step()
          }
        }
      }.join()
      // The last request is not superseded, so its results arrive in any case.
      while reactor.newest.with({ $0?.number }) != searchers * requests { DedicatedThread.yield() }
      var disturbance = Disturbance(scenario.generator(-1))
      reactor.newest.with { $0 }?.answer(&disturbance)
      loop?.shutdown()
      let log = reactor.log
      #expect(reactor.failures.total == 0, "\(scenario)")
      #expect(log.requests == searchers * requests, "\(scenario)")
      #expect(lifetimes.total == log.requests, "\(scenario)")
      #expect(log.stale == 0, "\(scenario): of \(log.answers) answers")
      #expect(log.answers > 0, "\(scenario)")
    }
  }
}

/// A request. Its results come from any thread, one at a time, and it may complete with them.
private final class Request: Sendable {
  let number: Int
  let answers = PublishSubject<Int>()
  private let isAnswering = Atomic(false)
  private let token: LifetimeTracked

  init(_ number: Int, _ lifetimes: Lifetimes) {
    self.number = number
    token = lifetimes.track(number)
  }

  /// Sends a result, unless another thread is sending one.
  func answer(_ disturbance: inout Disturbance) {
    if isAnswering.exchange(true, ordering: .acquiring) { return }
    for _ in 0...disturbance.below(3) { answers.onNext(number) }
    if disturbance.below(2) == 0 { answers.onCompleted() }
    isAnswering.store(false, ordering: .releasing)
  }
}

private final class SearchReactor: Reactor {
  enum Action: Sendable { case search, other }
  enum Mutation: Sendable {
    case begin(Int)
    case answer(Int)
    case nothing
  }

  struct Log: Sendable {
    var requests = 0
    var answers = 0
    /// Results of an older request that arrived after the newer one.
    var stale = 0
  }

  let initialState = 0
  let runtime: Runtime<Action, Mutation, Int>
  let newest = Guarded<Request?>(nil)
  let failures: FailureCounter
  private let lifetimes: Lifetimes

  // Accessed by the owner only.
  nonisolated(unsafe) private(set) var log = Log()
  nonisolated(unsafe) private var current = 0

  init(on placement: Placement, _ lifetimes: Lifetimes) {
    let failures = FailureCounter()
    self.failures = failures
    self.lifetimes = lifetimes
    runtime = Runtime(on: placement, capacity: 64, onFailure: { failures.note($0) })
  }

  func mutate(action: Action) -> Observable<Mutation> {
    guard case .search = action else { return .just(.nothing) }
    log.requests += 1
    let request = Request(log.requests, lifetimes)
    let answers = request.answers
      .take(until: self.action.filter { if case .search = $0 { true } else { false } })
      .map { Mutation.answer($0) }
    // This stream is subscribed to after the other two, so a thread that sends results finds the request subscribed
    // to. It ends at once, so that the whole stream ends with the request's results.
    let published = Observable<Mutation>.deferred { [newest] in
      newest.with { $0 = request }
      return .empty()
    }
    return .merge(.just(.begin(request.number)), answers, published)
  }

  func reduce(into state: inout Int, mutation: Mutation) {
    state += 1
    switch mutation {
    case .begin(let number): current = number
    case .answer(let number):
      log.answers += 1
      if number != current { log.stale += 1 }
    case .nothing: break
    }
  }
}
