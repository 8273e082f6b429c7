import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// What is called by a reactor's owner never waits for room elsewhere, whatever it is.
@Suite struct SendsInsideTests {
  /// Runs `body` with a reactor that has no room and makes none, and expects it to return.
  private func withFull<C: Core>(_: C.Type, _ body: @escaping @Sendable (Script<C>) -> Void) {
    let (isInside, mayGoOn) = (Gate(), Gate())
    let full = Script<C>.held(on: .caller, capacity: 1, isInside: isInside, mayGoOn: mayGoOn)
    let isDone = Threads.start { full.send(0) }
    #expect(isInside.wait())
    #expect((try? full.trySend(1)) != nil)
    #expect(Threads.start { body(full) }.wait(seconds: 10))
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(Threads.yield { full.currentState == [0, 1, 2] })
  }

  @Test(arguments: CoreUnderTest.allCases)
  func aTransformsSubscription(_ core: CoreUnderTest) {
    func body<C: Core>(_: C.Type) {
      withFull(C.self) { full in
        let reactor = Streamed<C>(mutation: { mutations in
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
    body(core.type)
  }

  @Test(arguments: CoreUnderTest.allCases)
  func anObserverOfAction(_ core: CoreUnderTest) {
    func body<C: Core>(_: C.Type) {
      withFull(C.self) { full in
        let reactor = Streamed<C>()
        let subscription = reactor.action.subscribe(onNext: { _ in full.send(2) })
        reactor.action.onNext(1)
        subscription.dispose()
      }
    }
    body(core.type)
  }

  @Test(arguments: CoreUnderTest.allCases)
  func anObserverThatComesTooLate(_ core: CoreUnderTest) {
    func body<C: Core>(_: C.Type) {
      withFull(C.self) { full in
        let reactor = Streamed<C>()
        reactor.close()
        reactor.state.subscribe(onNext: { _ in full.send(2) }).dispose()
      }
    }
    body(core.type)
  }

  @Test(arguments: CoreUnderTest.allCases)
  func aDisposalAtTheEnd(_ core: CoreUnderTest) {
    func body<C: Core>(_: C.Type) {
      withFull(C.self) { full in
        let reactor = Streamed<C>(mutate: { _, _ in .create { _ in Disposables.create { full.send(2) } } })
        reactor.send(1)
        reactor.close()
      }
    }
    body(core.type)
  }
}
