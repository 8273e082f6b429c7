import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

extension StressTests {
  /// Streams that `mutate` has returned, and that emit on their own threads while others send, subscribe and dispose.
  @Suite struct ForeignStreamStress {
    @Test(arguments: [Place.caller, .parkingLoop])
    func `every mutation is reduced once, in its source's order, and every state is seen once`(
      place: Place
    ) {
      Scenario.announce("foreign streams, \(place)")
      for capacity in [4, 4096] {
        for transforms in [false, true] {
          let parameters = "\(place), capacity \(capacity), transforms \(transforms)"
          Scenario("foreign streams, \(parameters)").run { scenario in
            mix(place, capacity, transforms, scenario)
          }
        }
      }
    }

    /// Three sources and three senders, and one thread that subscribes and disposes.
    private func mix(
      _ place: Place, _ capacity: Int, _ transforms: Bool, _ scenario: Scenario
    ) {
      let payloads = Lifetimes()
      let sent = mix(place, capacity, transforms, payloads, scenario)
      #expect(payloads.alive == 0, "\(scenario)")
      #expect(payloads.total == sent, "\(scenario)")
    }

    /// Returns how many items were sent. The reactor is gone when this returns.
    private func mix(
      _ place: Place, _ capacity: Int, _ transforms: Bool, _ payloads: Lifetimes,
      _ scenario: Scenario
    ) -> Int {
      let (sources, senders, items) = (3, 3, StressMode.rounds(1500))
      let loop = place.makeLoop(turnLimit: 16)
      let reactor = ForeignReactor(
        on: Placement(loop), capacity: capacity, sources: sources, producers: sources + senders,
        transforms: transforms)
      let observer = StateChain()
      let subscription = reactor.state.subscribe(onNext: { observer.see($0) })
      for source in 0..<sources { reactor.action.onNext(.listen(source)) }
      // So that no item is sent before the reactor has subscribed.
      while reactor.withCurrentState({ $0.listening }) < sources { DedicatedThread.yield() }
      Crew(of: sources + senders + 1) { thread in
        var disturbance = Disturbance(scenario.generator(thread))
        if thread == sources + senders { return churn(reactor, &disturbance, items, scenario) }
        for sequence in 0..<items {
          disturbance.step()
          let item = Item(producer: thread, sequence: sequence, countedBy: payloads)
          if thread < sources {
            reactor.sources[thread].onNext(item)
          } else {
            reactor.action.onNext(.pass(item))
          }
        }
      }.join()
      loop?.shutdown()
      let expected = (sources + senders) * items
      #expect(reactor.failures.total == 0, "\(scenario)")
      #expect(reactor.checker.complaint == nil, "\(scenario)")
      #expect(reactor.checker.next.reduce(0, +) == expected, "\(scenario)")
      #expect(reactor.currentState.reduced == expected, "\(scenario)")
      #expect(observer.gaps == 0, "\(scenario)")
      #expect(observer.last == expected, "\(scenario)")
      subscription.dispose()
      return expected
    }

    /// Subscribes and disposes, again and again. Each observer must see states without a gap as long as it is there.
    private func churn(
      _ reactor: ForeignReactor, _ disturbance: inout Disturbance, _ count: Int, _ scenario: Scenario
    ) {
      var observers: [StateChain] = []
      var subscriptions: [any Disposable] = []
      for _ in 0..<count {
        let observer = StateChain()
        if disturbance.happens(onceIn: 2) {
          subscriptions.append(reactor.state.subscribe(onNext: { observer.see($0) }))
          observers.append(observer)
        } else {
          subscriptions.append(reactor.action.subscribe(onNext: { _ in }))
        }
        disturbance.idle()
        if subscriptions.count > 8 { subscriptions.remove(at: disturbance.below(8)).dispose() }
      }
      for subscription in subscriptions { subscription.dispose() }
      let gaps = observers.reduce(0) { $0 + $1.gaps }
      #expect(gaps == 0, "passing observers missed states, \(scenario)")
    }

    @Test(arguments: [Place.caller, .parkingLoop])
    func `a reactor that is released while its streams send ends without an error`(place: Place) {
      Scenario.announce("streams of a reactor that is let go, \(place)")
      Scenario("let go with streams, \(place)").run { scenario in
        letGo(place, scenario)
      }
    }

    private func letGo(_ place: Place, _ scenario: Scenario) {
      let lifetimes = Lifetimes()
      let loop = place.makeLoop(turnLimit: 4)
      let sources = (0..<2).map { _ in PublishSubject<Item>() }
      let isOver = Shared(Atomic(false))
      // How many items a source may have sent by now. If it sent without end, the thread that lets the reactor go
      // could be kept as the owner for as long.
      let most = Shared(Atomic(0))
      let crew = Crew(of: sources.count) { thread in
        var disturbance = Disturbance(scenario.generator(thread))
        var sequence = 0
        while !isOver.value.load(ordering: .relaxed) {
          disturbance.step()
          guard sequence < most.value.load(ordering: .relaxed) else {
            DedicatedThread.yield()
            continue
          }
          sources[thread].onNext(Item(producer: thread, sequence: sequence, countedBy: lifetimes))
          sequence += 1
        }
      }
      var disturbance = Disturbance(scenario.generator(-1))
      for _ in 0..<StressMode.rounds(300) {
        most.value.add(200, ordering: .relaxed)
        let reactor = ForeignReactor(
          on: Placement(loop), capacity: 16, sources: sources, producers: 3, transforms: false,
          token: lifetimes.track())
        let (observed, tracked) = (reactor.state, lifetimes.track())
        observed.subscribe(onNext: { _ in withExtendedLifetime(tracked) {} })
        for source in 0..<sources.count { reactor.action.onNext(.listen(source)) }
        for _ in 0..<disturbance.below(50) { disturbance.idle() }
      }
      isOver.value.store(true, ordering: .relaxed)
      crew.join()
      loop?.shutdown()
      #expect(lifetimes.alive == 0, "\(scenario)")
      #expect(sources.allSatisfy { !$0.hasObservers }, "\(scenario)")
    }
  }
}

/// Checks that one observer of a ``ForeignReactor`` sees each state once. Called by the owner only; read afterwards.
final class StateChain: Sendable {
  // Relaxed: see above.
  private let newest = Atomic(-1)
  private let missed = Atomic(0)

  func see(_ state: ForeignState) {
    let before = newest.exchange(state.version, ordering: .relaxed)
    if before >= 0, state.version != before + 1 { missed.add(1, ordering: .relaxed) }
    reduced.store(state.reduced, ordering: .relaxed)
  }

  private let reduced = Atomic(0)

  var gaps: Int { missed.load(ordering: .relaxed) }
  /// How many items had been reduced in the last state.
  var last: Int { reduced.load(ordering: .relaxed) }
}

struct ForeignState: Sendable {
  /// Grows by one with each mutation.
  var version = 0
  var listening = 0
  var reduced = 0
}

/// A reactor that reduces items of its sources and of its actions, and checks the order of each.
final class ForeignReactor: Reactor {
  enum Action: Sendable {
    case listen(Int)
    case pass(Item)
  }
  enum Mutation: Sendable {
    case listening
    case item(Item)
  }

  let initialState = ForeignState()
  let runtime: Runtime<Action, Mutation, ForeignState>
  let sources: [PublishSubject<Item>]
  let failures: FailureCounter
  private let transforms: Bool
  private let token: LifetimeTracked?

  // Accessed by the owner only; ThreadSanitizer reports a race if not.
  nonisolated(unsafe) private(set) var checker: SequenceChecker

  init(
    on placement: Placement, capacity: Int, sources: [PublishSubject<Item>], producers: Int,
    transforms: Bool, token: LifetimeTracked? = nil
  ) {
    let failures = FailureCounter()
    self.failures = failures
    runtime = Runtime(on: placement, capacity: capacity, onFailure: { failures.note($0) })
    self.sources = sources
    self.transforms = transforms
    self.token = token
    checker = SequenceChecker(producers: producers)
  }

  convenience init(
    on placement: Placement, capacity: Int, sources: Int, producers: Int, transforms: Bool
  ) {
    self.init(
      on: placement, capacity: capacity, sources: (0..<sources).map { _ in PublishSubject() },
      producers: producers, transforms: transforms)
  }

  func transform(mutation: Observable<Mutation>) -> Observable<Mutation> {
    transforms ? .merge(mutation, .never()) : mutation
  }

  func transform(state: Observable<ForeignState>) -> Observable<ForeignState> {
    transforms ? state.map { $0 } : state
  }

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .pass(let item): .just(.item(item))
    case .listen(let number):
      // First the source, so that nothing that it sends after this is seen is missed.
      .merge(sources[number].map { .item($0) }, .just(.listening))
    }
  }

  func reduce(into state: inout ForeignState, mutation: Mutation) {
    state.version += 1
    switch mutation {
    case .listening: state.listening += 1
    case .item(let item):
      if token == nil { checker.receive(item) }
      state.reduced += 1
    }
  }
}
