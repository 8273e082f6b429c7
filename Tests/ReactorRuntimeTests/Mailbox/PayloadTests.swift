import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Actions that are objects, on each path through a mailbox and out of it: each is destroyed once.
@Suite struct PayloadTests {
  /// A reactor whose owner is held inside its first action.
  private final class Carrier: Reactor {
    typealias Action = LifetimeTracked

    struct State: Sendable {
      var reduced = 0
      var newest: LifetimeTracked?
    }

    let initialState = State()
    let runtime: Runtime<LifetimeTracked, LifetimeTracked, State>
    let isInside = Gate()
    let mayGoOn = Gate()

    init(
      on placement: Placement, capacity: Int, overflow: OverflowPolicy = .block,
      failures: Record<SendError>
    ) {
      runtime = Runtime(
        on: placement, capacity: capacity, overflow: overflow,
        onFailure: { failure in if let reason = failure.sendError { failures.append(reason) } })
    }

    func mutate(action: LifetimeTracked) -> Observable<LifetimeTracked> {
      if action.value == 0 {
        isInside.open()
        _ = mayGoOn.wait()
      }
      return .just(action)
    }

    func reduce(into state: inout State, mutation: LifetimeTracked) {
      state.reduced += 1
      state.newest = mutation
    }
  }

  /// Sends from inside its turns.
  private final class Forwarder: Reactor {
    typealias Action = LifetimeTracked
    typealias Mutation = Never
    let initialState = 0
    let runtime = Runtime<LifetimeTracked, Never, Int>(on: .caller)
    private let target: Carrier

    init(to target: Carrier) { self.target = target }

    func mutate(action: LifetimeTracked) -> Observable<Never> {
      target.send(action)
      return .empty()
    }

    func reduce(into state: inout Int, mutation: Never) {}
  }

  /// Holds a reactor in its first action, lets `play` send to it, and lets it go on. Everything that was sent must be
  /// reduced or reported, and destroyed with the reactor.
  private func hold(
    _ placement: PlacementUnderTest, capacity: Int, overflow: OverflowPolicy = .block,
    _ play: (Carrier, Lifetimes) throws -> Void
  ) throws {
    let lifetimes = Lifetimes()
    let failures = Record<SendError>()
    do {
      let stage = try Stage(placement)
      let reactor = Carrier(
        on: stage.placement, capacity: capacity, overflow: overflow, failures: failures)
      // Starts the reactor, since the action that starts it would take a slot.
      _ = reactor.state
      let isDone = Threads.start { reactor.send(lifetimes.track(0)) }
      #expect(reactor.isInside.wait())
      try play(reactor, lifetimes)
      reactor.mayGoOn.open()
      #expect(isDone.wait())
      let isComplete = stage.finish {
        reactor.currentState.reduced + failures.elements.count == lifetimes.total
      }
      #expect(isComplete, "\(reactor.currentState.reduced) reduced, \(failures.elements.count) reported")
      // Each state that readers may still read keeps one action.
      #expect(lifetimes.alive <= 8)
    }
    // The thread that sent the first one may still hold the reactor.
    #expect(Threads.yield { lifetimes.alive == 0 })
  }

  @Test(
    arguments: [OverflowPolicy.fail, .dropNewest, .dropOldest])
  func `actions that are refused or dropped are destroyed once`(_ policy: OverflowPolicy) throws {
    for placement in PlacementUnderTest.allCases {
      for capacity in [1, 8, 16] {
        try hold(placement, capacity: capacity, overflow: policy) { reactor, lifetimes in
          for index in 1...100 { reactor.send(lifetimes.track(index)) }
        }
      }
    }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `actions that wait while the mailbox grows are destroyed once`(_ placement: PlacementUnderTest) throws
  {
    // Two rings are left behind.
    try hold(placement, capacity: 1024) { reactor, lifetimes in
      for index in 1...1000 { reactor.send(lifetimes.track(index)) }
    }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `actions that are kept beside the mailbox are destroyed once`(_ placement: PlacementUnderTest) throws {
    try hold(placement, capacity: 4) { reactor, lifetimes in
      let forwarder = Forwarder(to: reactor)
      for index in 1...100 { forwarder.send(lifetimes.track(index)) }
    }
  }

  @Test(arguments: [Closing.drain, .discard])
  func `actions inside a reactor that is closed are destroyed once`(_ closing: Closing) throws {
    for placement in PlacementUnderTest.allCases {
      try hold(placement, capacity: 16) { reactor, lifetimes in
        for index in 1...8 { reactor.send(lifetimes.track(index)) }
        let forwarder = Forwarder(to: reactor)
        for index in 1...20 { forwarder.send(lifetimes.track(index)) }
        reactor.close(closing)
        // Refused, and reported.
        reactor.send(lifetimes.track(1))
      }
    }
  }

  @Test
  func `actions of suspended tasks are destroyed once`() async throws {
    let lifetimes = Lifetimes()
    let failures = Record<SendError>()
    let told = Record<SendError>()
    do {
      let reactor = Carrier(on: .caller, capacity: 1, failures: failures)
      _ = reactor.state
      let isDone = Threads.start { reactor.send(lifetimes.track(0)) }
      #expect(reactor.isInside.wait())
      // There is room for one.
      try reactor.trySend(lifetimes.track(61))
      let tasks = (1...60).map { index in
        Task {
          let deadline = index % 3 == 0 ? ContinuousClock.now + .milliseconds(5) : nil
          do throws(SendError) {
            try await reactor.sendSuspending(lifetimes.track(index), before: deadline)
          } catch {
            told.append(error)
          }
        }
      }
      for index in stride(from: 1, to: 60, by: 3) { tasks[index].cancel() }
      #expect(await eventually { told.elements.count == 40 })
      reactor.mayGoOn.open()
      for task in tasks { await task.value }
      #expect(isDone.wait())
      #expect(Threads.yield { reactor.currentState.reduced == 62 - told.elements.count })
      #expect(Set(told.elements) == [.timedOut, .cancelled])
      #expect(failures.elements == [])
    }
    #expect(Threads.yield { lifetimes.alive == 0 })
    #expect(lifetimes.total == 62)
  }
}
