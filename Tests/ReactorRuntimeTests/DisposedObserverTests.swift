import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests that an observer that is disposed of is released, although the mailbox has refused the step that releases it, and
/// although nothing is sent afterwards.
@Suite struct DisposedObserverTests {
  private static let soon = 10

  /// A reactor with observers, whose owner is inside of `mutate`, and whose mutations are none.
  private struct Watched {
    let reactor: Streamed
    let lifetimes = Lifetimes()
    let subscriptions: [any Disposable]
    let isDone: Gate
    private let mayGoOn = Gate()

    init(on placement: Placement, capacity: Int = 64) throws {
      let isInside = Gate()
      let reactor = Streamed(
        on: placement, capacity: capacity,
        mutate: { [mayGoOn] _, _ in
          isInside.open()
          #expect(mayGoOn.wait())
          return .empty()
        })
      let isThere = Gate(count: 2)
      let states = (0..<2).map { [lifetimes] _ in
        reactor.state.subscribe(onNext: { [tracked = lifetimes.track()] _ in
          withExtendedLifetime(tracked) { isThere.open() }
        })
      }
      let actions = reactor.action.subscribe(onNext: { [tracked = lifetimes.track()] _ in
        withExtendedLifetime(tracked) {}
      })
      self.reactor = reactor
      subscriptions = states + [actions]
      try #require(isThere.wait())
      isDone = Threads.start { reactor.send(1) }
      try #require(isInside.wait())
    }

    func dispose() { for subscription in subscriptions { subscription.dispose() } }

    /// Lets the owner go on.
    func finishTurn() -> Bool {
      mayGoOn.open()
      return isDone.wait()
    }

    var isReleased: Bool { Threads.yield(seconds: soon) { lifetimes.alive == 0 } }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `an observer that is disposed of in the last turn of a closed reactor is released`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let watched = try Watched(on: stage.placement)
    watched.reactor.close()
    watched.dispose()
    #expect(watched.finishTurn())
    #expect(watched.reactor.waitUntilEnded(before: .now + .seconds(Self.soon)))
    #expect(watched.isReleased)
    #expect(stage.finish())
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `an observer that is disposed of while the mailbox is full is released`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let watched = try Watched(on: stage.placement, capacity: 2)
    while (try? watched.reactor.trySend(2)) != nil {}
    watched.dispose()
    #expect(watched.finishTurn())
    #expect(watched.isReleased)
    #expect(stage.finish())
  }

  @Test
  func `what a transform of the states no longer observes is released while the mailbox is full`() {
    let (isInside, mayGoOn, lifetimes) = (Gate(), Gate(), Lifetimes())
    let stop = PublishSubject<Void>()
    let reactor = Streamed(
      capacity: 2,
      mutate: { _, action in
        if action == 1 {
          isInside.open()
          #expect(mayGoOn.wait())
        }
        return .empty()
      },
      state: { states in
        let tracked = lifetimes.track()
        let observed = states.map { state in withExtendedLifetime(tracked) { state } }.take(until: stop)
        return .merge(observed, .never())
      })
    reactor.send(0)
    #expect(lifetimes.alive == 1)
    let isDone = Threads.start { reactor.send(1) }
    #expect(isInside.wait())
    while (try? reactor.trySend(2)) != nil {}
    stop.onNext(())
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(Threads.yield(seconds: Self.soon) { lifetimes.alive == 0 })
    withExtendedLifetime(reactor) {}
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `an observer that is disposed of in the last turn of a discarded reactor is released`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let watched = try Watched(on: stage.placement)
    for _ in 0..<4 { watched.reactor.send(2) }
    watched.subscriptions[0].dispose()
    watched.reactor.close(.discard)
    watched.dispose()
    #expect(watched.finishTurn())
    #expect(watched.reactor.waitUntilEnded(before: .now + .seconds(Self.soon)))
    #expect(watched.isReleased)
    #expect(stage.finish())
  }

  @Test
  func `an observer that is disposed of while its loop ends is released`() throws {
    let loop = try Loop()
    let watched = try Watched(on: .loop(loop))
    loop.beginClosing()
    watched.reactor.close()
    watched.dispose()
    #expect(watched.finishTurn())
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(watched.isReleased)
  }

  /// Another reactor on the same loop disposes, and has sent as much before as it may.
  @Test
  func `an observer that is disposed of at the limit of re-entrant actions is released`() throws {
    let loop = try Loop()
    let lifetimes = Lifetimes()
    let reactor = Streamed(on: .loop(loop), reentrantCapacity: 1, mutate: { _, _ in .empty() })
    let isThere = Gate()
    let subscription = reactor.state.subscribe(onNext: { [tracked = lifetimes.track()] _ in
      withExtendedLifetime(tracked) { isThere.open() }
    })
    #expect(isThere.wait())
    let other = Streamed(
      on: .loop(loop),
      mutate: { _, _ in
        for action in 0..<3 { try? reactor.trySend(action) }
        subscription.dispose()
        return .empty()
      })
    other.send(1)
    #expect(Threads.yield(seconds: Self.soon) { lifetimes.alive == 0 })
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  /// What an observer captures may send when it is released: such an action must not wait for the next one.
  @Test(arguments: PlacementUnderTest.allCases)
  func `an action that the release of an observer sends is processed`(_ placement: PlacementUnderTest) throws
  {
    final class Sending: Sendable {
      let send: @Sendable () -> Void
      init(_ send: @escaping @Sendable () -> Void) { self.send = send }
      deinit { send() }
    }
    let stage = try Stage(placement)
    let (isInside, mayGoOn, isThere, isSent) = (Gate(), Gate(), Gate(), Gate())
    let reactor = Streamed(
      on: stage.placement, capacity: 2,
      mutate: { _, action in
        if action == 9 { isSent.open() }
        isInside.open()
        #expect(mayGoOn.wait())
        return .empty()
      })
    let subscription = reactor.state.subscribe(onNext: { [sending = Sending { reactor.send(9) }] _ in
      withExtendedLifetime(sending) { isThere.open() }
    })
    #expect(isThere.wait())
    let isDone = Threads.start { reactor.send(1) }
    #expect(isInside.wait())
    while (try? reactor.trySend(2)) != nil {}
    subscription.dispose()
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(isSent.wait(seconds: Self.soon))
    #expect(stage.finish())
  }
}
