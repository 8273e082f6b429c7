import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// What a transform has made of a stream goes away with the reactor.
@Suite struct TransformLifetimeTests {
  @Test
  func `of streams that hold the one they were made of`() {
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
