import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests of a reactor that is closed because one of its transforms or its loop has ended.
@Suite struct ClosedReactorTests {
  private struct Broken: Error {}

  @Test
  func `mutations after the end of a transform are reported`() {
    let failures = Record<Failure>()
    let reactor = Streamed(
      failures: failures, mutate: { _, action in .of(action, action + 1, action + 2) },
      mutation: { $0.take(1) })
    reactor.send(1)
    #expect(reactor.currentState == [1])
    #expect(reactor.isClosed)
    // The two mutations that could not be reduced. The end itself is a further failure without a SendError.
    #expect(failures.elements.compactMap(\.sendError) == [.closed, .closed])
  }

  @Test
  func `an action whose observer ends a transform is reported on either way of sending`() {
    for weakly in [false, true] {
      let failures = Record<Failure>()
      let external = PublishSubject<Int>()
      let mutated = Record<Int>()
      let reactor = Streamed(
        failures: failures,
        mutate: { _, action in
          mutated.append(action)
          return .just(action)
        },
        mutation: { .merge($0, external.asObservable()) })
      let subscription = reactor.action.subscribe(onNext: { _ in external.onError(Broken()) })
      if weakly { reactor.action.onNext(1) } else { reactor.send(1) }
      #expect(mutated.elements.isEmpty)
      #expect(failures.elements.compactMap(\.sendError) == [.closed])
      #expect(reactor.currentState.isEmpty)
      subscription.dispose()
    }
  }

  @Test
  func `a closed reactor releases a disposed observer`() {
    let lifetimes = Lifetimes()
    let reactor = Streamed()
    let subscription = reactor.state.subscribe(onNext: { [tracked = lifetimes.track()] _ in _ = tracked })
    reactor.close()
    #expect(reactor.isClosed)
    #expect(lifetimes.alive == 1)
    subscription.dispose()
    #expect(lifetimes.alive == 0)
  }

  @Test
  func `a reactor whose loop has ended releases a disposed observer`() throws {
    let lifetimes = Lifetimes()
    let loop = try Loop()
    let reactor = Streamed(on: .loop(loop))
    let isThere = Gate()
    let subscription = reactor.state.subscribe(onNext: { [tracked = lifetimes.track()] _ in
      _ = tracked
      isThere.open()
    })
    #expect(isThere.wait())
    #expect(Threads.start { loop.shutdown() }.wait())
    subscription.dispose()
    #expect(lifetimes.alive == 0)
    let late = Record<[Int]>()
    let lateSubscription = reactor.state.subscribe(onNext: { [tracked = lifetimes.track()] in
      _ = tracked
      late.append($0)
    })
    #expect(late.elements == [[]])
    lateSubscription.dispose()
    #expect(lifetimes.alive == 0)
  }

  @Test
  func `actions that a late observer sends are reported`() {
    let failures = Record<Failure>()
    let external = PublishSubject<Int>()
    let reactor = Streamed(failures: failures, mutation: { .merge($0, external.asObservable()) })
    _ = reactor.state
    external.onError(Broken())
    let subscription = reactor.state.subscribe(onNext: { _ in
      reactor.send(1)
      reactor.action.onNext(2)
    })
    #expect(failures.elements.compactMap(\.sendError) == [.closed, .closed])
    subscription.dispose()
  }

  @Test
  func `a closed reactor on a running loop releases a disposed observer`() throws {
    let lifetimes = Lifetimes()
    let external = PublishSubject<Int>()
    let loop = try Loop()
    let reactor = Streamed(on: .loop(loop), mutation: { .merge($0, external.asObservable()) })
    let isThere = Gate()
    let subscription = reactor.state.subscribe(onNext: { [tracked = lifetimes.track()] _ in
      _ = tracked
      isThere.open()
    })
    #expect(isThere.wait())
    external.onError(Broken())
    subscription.dispose()
    // The loop may still retain the reactor's items for a moment.
    #expect(
      Threads.yield {
        reactor.state.subscribe(onNext: { _ in }).dispose()
        return lifetimes.alive == 0
      })
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test
  func `an observer that subscribes while a loop ends gets the last state`() throws {
    let (isMutating, mayGoOn) = (Gate(), Gate())
    let loop = try Loop()
    let reactor = Streamed(
      on: .loop(loop),
      mutate: { _, action in
        isMutating.open()
        #expect(mayGoOn.wait())
        return .just(action)
      })
    reactor.send(1)
    reactor.send(2)
    #expect(isMutating.wait())
    let ended = Threads.start { loop.shutdown() }
    #expect(Threads.yield { reactor.isClosed })
    let seen = Record<[Int]>()
    let subscription = reactor.state.subscribe(onNext: { seen.append($0) })
    mayGoOn.open()
    #expect(ended.wait())
    #expect(reactor.currentState == [1, 2])
    #expect(seen.elements.last == [1, 2])
    subscription.dispose()
  }
}
