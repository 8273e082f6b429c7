import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests that reactors, their runtimes, states and streams are freed.
@Suite struct LifetimeTests {
  final class Holder: Reactor {
    typealias Action = LifetimeTracked
    typealias State = LifetimeTracked
    let initialState: LifetimeTracked
    let runtime: Runtime<LifetimeTracked, LifetimeTracked, LifetimeTracked>
    private let own: LifetimeTracked
    private let onReduce: @Sendable (Int) -> Void

    init(
      on placement: Placement, _ lifetimes: Lifetimes,
      onReduce: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
      runtime = Runtime(on: placement, capacity: 64)
      initialState = lifetimes.track()
      own = lifetimes.track()
      self.onReduce = onReduce
    }

    func reduce(into state: inout LifetimeTracked, mutation: LifetimeTracked) {
      onReduce(mutation.value)
      state = mutation
    }
  }

  @Test
  func `a stream that a transform has kept emits nothing after the end of its reactor`() {
    let kept = Record<Observable<Int>>()
    let events = Record<Event<Int>>()
    for _ in 0..<8 {
      let reactor = Streamed(action: {
        kept.append($0)
        return $0
      })
      reactor.send(1)
    }
    for stream in kept.elements { stream.subscribe { events.append($0) }.dispose() }
    #expect(kept.elements.count == 8)
    #expect(events.elements.isEmpty)
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a reactor and its states are freed`(_ placement: PlacementUnderTest) throws {
    for actions in [0, 1, 2, 100] {
      let lifetimes = Lifetimes()
      do {
        let stage = try Stage(placement)
        let reactor = Holder(on: stage.placement, lifetimes)
        for index in 0..<actions { reactor.send(lifetimes.track(index)) }
        #expect(stage.finish())
        // The current state, those of earlier turns, and the reactor's own two.
        #expect(lifetimes.alive <= 2 + 4)
      }
      #expect(lifetimes.alive == 0)
    }
  }

  @Test
  func `a reactor on a loop processes what was sent before its last reference is released`() throws {
    let loop = try Loop()
    let lifetimes = Lifetimes()
    let reduced = Record<Int>()
    let isInside = Gate()
    let mayGoOn = Gate()
    do {
      let reactor = Holder(on: .loop(loop), lifetimes) { value in
        if value == 0 {
          isInside.open()
          _ = mayGoOn.wait()
        }
        reduced.append(value)
      }
      for index in 0..<20 { reactor.send(lifetimes.track(index)) }
      #expect(isInside.wait())
    }
    #expect(lifetimes.alive > 0)
    mayGoOn.open()
    // The loop releases the reactor once it is idle.
    #expect(Threads.yield { lifetimes.alive == 0 })
    #expect(reduced.elements == Array(0..<20))
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test
  func `a reactor whose last reference is released in its turn is freed after it`() throws {
    let lifetimes = Lifetimes()
    let slot = Owner()
    slot.held = Holder(on: .caller, lifetimes) { value in
      slot.held = nil
      #expect(lifetimes.alive > 0)
      _ = value
    }
    slot.held?.send(lifetimes.track(1))
    #expect(lifetimes.alive == 0)
  }

  private final class Owner: @unchecked Sendable {
    // Unchecked, because only one thread uses it.
    var held: Holder?
  }

  @Test
  func `actions that a closed loop refuses are destroyed`() throws {
    let lifetimes = Lifetimes()
    do {
      let loop = try Loop()
      let reactor = Holder(on: .loop(loop), lifetimes)
      loop.shutdown()
      for index in 0..<5 { try? reactor.trySend(lifetimes.track(index)) }
      #expect(lifetimes.alive <= 3)
    }
    #expect(lifetimes.alive == 0)
  }

  @Test
  func `the streams of transforms are freed with the reactor, even if they retain the given stream`() {
    let lifetimes = Lifetimes()
    do {
      let reactor = Streamed(
        action: { action in
          action.concat(Observable.never()).do(onNext: { [tracked = lifetimes.track()] _ in _ = tracked })
        },
        mutation: { mutation in
          mutation.flatMap { [tracked = lifetimes.track()] element in
            _ = tracked
            return Observable.just(element).take(until: mutation.filter { _ in false })
          }
        },
        state: { state in state.retry().do(onNext: { [tracked = lifetimes.track()] _ in _ = tracked }) })
      reactor.send(1)
      #expect(reactor.currentState == [1])
      #expect(lifetimes.alive == 3)
    }
    #expect(lifetimes.alive == 0)
  }
}
