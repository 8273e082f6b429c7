import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests of `take(until: action…)`. The next action discards the elements that have passed through it and are not yet
/// reduced, and nothing else.
@Suite struct SupersedeTests {
  /// The request of action 1. Another thread emits its responses, and stops inside of `map`.
  private final class Request: Sendable {
    let answers = PublishSubject<Int>()
    let (isInside, mayGoOn) = (Gate(), Gate())

    func stream(until end: some ObservableType & Sendable) -> Observable<Int> {
      answers.take(until: end).map { [isInside, mayGoOn] answer in
        isInside.open()
        #expect(mayGoOn.wait())
        return answer
      }
    }
  }

  @Test
  func `a response that another thread is just emitting is discarded`() {
    let request = Request()
    let reactor = Streamed(mutate: { reactor, action in
      action == 1 ? request.stream(until: reactor.action.filter { $0 == 2 }) : .just(200)
    })
    reactor.send(1)
    let isEmitted = Threads.start { request.answers.onNext(100) }
    #expect(request.isInside.wait())
    reactor.send(2)
    #expect(reactor.currentState == [200])
    request.mayGoOn.open()
    #expect(isEmitted.wait())
    #expect(reactor.currentState == [200])
  }

  @Test
  func `a response of a later stream of the request is discarded`() {
    let (request, first) = (Request(), PublishSubject<Int>())
    let reactor = Streamed(mutate: { reactor, action in
      if action != 1 { return .just(200) }
      return .concat([first.take(1), request.stream(until: reactor.action.filter { $0 == 2 })])
    })
    reactor.send(1)
    #expect(Threads.start { first.onNext(1) }.wait())
    #expect(reactor.currentState == [1])
    let isEmitted = Threads.start { request.answers.onNext(100) }
    #expect(request.isInside.wait())
    reactor.send(2)
    request.mayGoOn.open()
    #expect(isEmitted.wait())
    #expect(reactor.currentState == [1, 200])
  }

  @Test
  func `a signal that is not an action discards nothing`() {
    let (request, end) = (Request(), PublishSubject<Int>())
    let reactor = Streamed(mutate: { _, action in action == 1 ? request.stream(until: end) : .just(200) }
    )
    reactor.send(1)
    let isEmitted = Threads.start { request.answers.onNext(100) }
    #expect(request.isInside.wait())
    end.onNext(0)
    reactor.send(2)
    request.mayGoOn.open()
    #expect(isEmitted.wait())
    #expect(reactor.currentState == [200, 100])
  }

  @Test
  func `an element that passes into another stream on the way is kept there`() {
    let (answers, other) = (PublishSubject<Int>(), PublishSubject<Int>())
    let (isMutating, mayMutate) = (Gate(), Gate())
    let reactor = Streamed(mutate: { reactor, action in
      switch action {
      case 0: return other.asObservable()
      case 1:
        return answers.take(until: reactor.action.filter { $0 == 2 }).map { answer in
          other.onNext(answer + 1)
          return answer
        }
      case 5:
        isMutating.open()
        #expect(mayMutate.wait())
        return .just(5)
      default: return .just(200)
      }
    })
    reactor.send(0)
    reactor.send(1)
    // Another thread is the owner, so both mutations wait in the mailbox behind action 2.
    let isOwner = Threads.start { reactor.send(5) }
    #expect(isMutating.wait())
    reactor.send(2)
    answers.onNext(100)
    mayMutate.open()
    #expect(isOwner.wait())
    #expect(reactor.currentState == [5, 200, 101])
  }

  /// Returns the state of a reactor after `whileBusy`, which runs while action 5 is inside of `mutate`. For action 1,
  /// `mutate` returns `request`.
  private func states(
    of request: @escaping @Sendable (Streamed) -> Observable<Int>, whileBusy: (Streamed) -> Void
  ) -> [Int] {
    let (isMutating, mayMutate) = (Gate(), Gate())
    let reactor = Streamed(mutate: { reactor, action in
      if action == 1 { return request(reactor) }
      if action != 5 { return .just(200) }
      isMutating.open()
      #expect(mayMutate.wait())
      return .just(5)
    })
    reactor.send(1)
    let isOwner = Threads.start { reactor.send(5) }
    #expect(isMutating.wait())
    whileBusy(reactor)
    mayMutate.open()
    #expect(isOwner.wait())
    return reactor.currentState
  }

  @Test
  func `a response that waits in the mailbox is discarded even if its request has completed`() {
    let answers = PublishSubject<Int>()
    let supersede: (Streamed) -> Void = { reactor in
      reactor.send(2)
      answers.onNext(100)
    }
    let completed = states(
      of: { answers.take(1).take(until: $0.action.filter { $0 == 2 }) }, whileBusy: supersede)
    #expect(completed == [5, 200])
    let leftOff = states(
      of: { answers.take(until: $0.action.filter { $0 == 2 }).take(1) }, whileBusy: supersede)
    #expect(leftOff == [5, 200])
  }

  @Test
  func `an action discards a response whose request another signal has already ended`() {
    let (request, end) = (Request(), PublishSubject<Int>())
    let reactor = Streamed(mutate: { reactor, action in
      if action != 1 { return .just(200) }
      return request.stream(until: Observable.merge(end.asObservable(), reactor.action.filter { $0 == 2 }))
    })
    reactor.send(1)
    let isEmitted = Threads.start { request.answers.onNext(100) }
    #expect(request.isInside.wait())
    end.onNext(0)
    reactor.send(2)
    request.mayGoOn.open()
    #expect(isEmitted.wait())
    #expect(reactor.currentState == [200])
  }

  @Test(arguments: [false, true])
  func `actions that are sent through take(until:) are kept`(_ isByAction: Bool) {
    let events = PublishSubject<Int>()
    let reactor = Streamed(mutate: { reactor, action in
      if action != 7 { return .just(200) }
      reactor.send(2)
      // This mutation is emitted inside of an observer's first state, so it waits behind action 2.
      return reactor.state.map { _ in 70 }.take(1)
    })
    events.take(until: reactor.action.filter { $0 == 2 }).subscribe(onNext: { _ in
      if isByAction { reactor.action.onNext(7) } else { reactor.send(7) }
    })
    events.onNext(0)
    #expect(reactor.currentState == [200, 70])
  }
}
