import ReactorKitCompatibility
import TestSupport
import Testing

/// The objects of a reactor: its action, its state and its stub.
@Suite struct ObjectTests {
  final class Tally: Reactor {
    typealias Action = Int
    let initialState = 0

    func reduce(state: Int, mutation: Int) -> Int { state + mutation }
  }

  @Test func `an action subject sends to its observers until they are disposed of, and then releases them`() {
    let lifetimes = Lifetimes()
    let subject = ActionSubject<Int>()
    let seen = Record<String>()
    let subscriptions = ["a", "b"].map { name in
      subject.subscribe(onNext: { [kept = lifetimes.track()] action in
        seen.append("\(name)\(action)")
        _ = kept
      })
    }
    subject.onNext(1)
    subscriptions[1].dispose()
    #expect(lifetimes.alive == 1)
    subject.onNext(2)
    subscriptions[0].dispose()
    #expect(lifetimes.alive == 0)
    subject.onNext(3)
    #expect(seen.elements == ["a1", "b1", "a2"])
  }

  @Test func `threads that ask a new reactor for its state at the same time get one stream`() {
    for _ in 0..<50 {
      let reactor = Tally()
      let states = Record<Observable<Int>>()
      #expect(Threads.run(4) { _ in states.append(reactor.state) })
      #expect(states.elements.count == 4)
      #expect(states.elements.allSatisfy { $0 === reactor.state })
    }
  }

  @Test func `while the stub is enabled, its action and its state are the reactor's`() {
    let reactor = Tally()
    let (action, state) = (reactor.action, reactor.state)
    reactor.isStubEnabled = true
    #expect(reactor.action === reactor.stub.action)
    #expect(reactor.state === reactor.stub.state.asObservable())
    reactor.isStubEnabled = false
    #expect(reactor.action === action)
    #expect(reactor.state === state)
  }
}
