import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Code that a reactor's owner calls never waits for room elsewhere.
@Suite struct SendsInsideTests {
  /// Runs `body` with a reactor that has no room and makes none, and expects `body` to return.
  private func withFull(_ body: @escaping @Sendable (Script) -> Void) {
    let (isInside, mayGoOn) = (Gate(), Gate())
    let full = Script.held(on: .caller, capacity: 1, isInside: isInside, mayGoOn: mayGoOn)
    let isDone = Threads.start { full.send(0) }
    #expect(isInside.wait())
    #expect((try? full.trySend(1)) != nil)
    #expect(Threads.start { body(full) }.wait(seconds: 10))
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(Threads.yield { full.currentState == [0, 1, 2] })
  }

  @Test
  func `a send from the subscription of transform does not wait`() {
    withFull { full in
      let reactor = Streamed(mutation: { mutations in
        .merge(
          mutations,
          .deferred {
            full.send(2)
            return .never()
          })
      })
      _ = reactor.state
    }
  }

  @Test
  func `a send from an observer of action does not wait`() {
    withFull { full in
      let reactor = Streamed()
      let subscription = reactor.action.subscribe(onNext: { _ in full.send(2) })
      reactor.action.onNext(1)
      subscription.dispose()
    }
  }

  @Test
  func `a send from an observer that subscribes too late does not wait`() {
    withFull { full in
      let reactor = Streamed()
      reactor.close()
      reactor.state.subscribe(onNext: { _ in full.send(2) }).dispose()
    }
  }

  @Test
  func `a send from a disposal at the end does not wait`() {
    withFull { full in
      let reactor = Streamed(mutate: { _, _ in .create { _ in Disposables.create { full.send(2) } } })
      reactor.send(1)
      reactor.close()
    }
  }
}
