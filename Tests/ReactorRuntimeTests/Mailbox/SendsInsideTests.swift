import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// What is called by a reactor's owner never waits for room elsewhere, whatever it is.
@Suite struct SendsInsideTests {
  /// Runs `body` with a reactor that has no room and makes none, and expects it to return.
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
  func `a transforms subscription`() {
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
  func `an observer of action`() {
    withFull { full in
      let reactor = Streamed()
      let subscription = reactor.action.subscribe(onNext: { _ in full.send(2) })
      reactor.action.onNext(1)
      subscription.dispose()
    }
  }

  @Test
  func `an observer that comes too late`() {
    withFull { full in
      let reactor = Streamed()
      reactor.close()
      reactor.state.subscribe(onNext: { _ in full.send(2) }).dispose()
    }
  }

  @Test
  func `a disposal at the end`() {
    withFull { full in
      let reactor = Streamed(mutate: { _, _ in .create { _ in Disposables.create { full.send(2) } } })
      reactor.send(1)
      reactor.close()
    }
  }
}
