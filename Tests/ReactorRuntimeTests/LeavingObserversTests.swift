import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests of observers of which many come and go.
@Suite struct LeavingObserversTests {
  @Test func `many observers leave one after the other in a time that grows with their number`() {
    let grown = growth(from: 1000) { count in
      let reactor = Streamed()
      var subscriptions = (0..<count).map { _ in reactor.state.subscribe(onNext: { _ in }) }
      var random = SplitMix64(seed: 1)
      subscriptions.shuffle(using: &random)
      for subscription in subscriptions { subscription.dispose() }
    }
    #expect(grown < 9)
  }

  @Test
  func `observers that leave during an emission are released behind it, and the others go on in their order`()
  {
    let reactor = Streamed()
    let lifetimes = Lifetimes()
    let seen = Record<Int>()
    let bag = Record<any Disposable>()
    var subscriptions: [any Disposable] = []
    for index in 0..<100 {
      let states = index % 3 == 0 ? reactor.state.take(2) : reactor.state
      subscriptions.append(
        states.subscribe(onNext: { [tracked = lifetimes.track()] state in
          withExtendedLifetime(tracked) { if !state.isEmpty { seen.append(index) } }
          // Some are disposed of by the one before them.
          if index % 3 == 1, !state.isEmpty { bag.elements[index + 1].dispose() }
        }))
    }
    for subscription in subscriptions { bag.append(subscription) }
    #expect(lifetimes.alive == 100)
    reactor.send(1)
    #expect(seen.elements == (0..<100).filter { $0 % 3 != 2 })
    #expect(lifetimes.alive == 33)
    reactor.send(2)
    #expect(seen.elements.suffix(33) == (0..<100).filter { $0 % 3 == 1 }[...])
    for subscription in subscriptions { subscription.dispose() }
    #expect(lifetimes.alive == 0)
  }

  /// As a client that asks for the state once, beside many that stay.
  @Test func `an observer that takes one state does not look at the others`() {
    let grown = growth(from: 1000) { count in
      let reactor = Streamed()
      let subscriptions = (0..<count).map { _ in reactor.state.subscribe(onNext: { _ in }) }
      for _ in 0..<count { _ = reactor.state.take(1).subscribe(onNext: { _ in }) }
      withExtendedLifetime(subscriptions) {}
    }
    #expect(grown < 9)
  }

  @Test func `observers that two threads dispose of during sends are released`() {
    for _ in 0..<50 {
      let reactor = Streamed()
      let lifetimes = Lifetimes()
      let subscriptions = (0..<64).map { _ in
        reactor.state.subscribe(onNext: { [tracked = lifetimes.track()] _ in withExtendedLifetime(tracked) {}
        })
      }
      let (start, halves) = (Gate(), [subscriptions.prefix(32), subscriptions.suffix(32)])
      let threads = halves.map { half in
        Threads.start {
          #expect(start.wait())
          for subscription in half { subscription.dispose() }
        }
      }
      start.open()
      for action in 0..<20 { reactor.send(action) }
      for thread in threads { #expect(thread.wait()) }
      reactor.send(-1)
      #expect(Threads.yield { lifetimes.alive == 0 })
    }
  }

  /// The step of the first observer, which was removed without it, must not hide the one whose step is refused.
  @Test func `an observer is released though its step is refused and an earlier step comes late`() {
    let reactor = Streamed(on: .caller, capacity: 4)
    let lifetimes = Lifetimes()
    let (entered, mayGoOn) = ([Gate(), Gate()], [Gate(), Gate()])
    let blocking = reactor.state.subscribe(onNext: { state in
      guard case 1...2 = state.count else { return }
      entered[state.count - 1].open()
      #expect(mayGoOn[state.count - 1].wait())
    })
    let leaving = (0..<3).map { _ in
      reactor.state.subscribe(onNext: { [tracked = lifetimes.track()] _ in withExtendedLifetime(tracked) {} })
    }
    let isDone = Threads.start { reactor.send(1) }
    #expect(entered[0].wait())
    #expect(throws: Never.self) { try reactor.trySend(2) }
    leaving[0].dispose()
    leaving[1].dispose()
    mayGoOn[0].open()
    #expect(entered[1].wait())
    #expect(lifetimes.alive == 1)
    while (try? reactor.trySend(3)) != nil {}
    leaving[2].dispose()
    mayGoOn[1].open()
    #expect(isDone.wait())
    #expect(lifetimes.alive == 0)
    blocking.dispose()
  }
}
