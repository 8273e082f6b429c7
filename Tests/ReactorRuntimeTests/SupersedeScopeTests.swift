import ReactorCore
import TestSupport
import Testing

@testable import ReactorRuntime

/// What `take(until: action…)` supersedes: the elements that have passed it and have not taken effect when
/// the action is announced, and nothing else.
@Suite struct SupersedeScopeTests {
  /// A request, action 1. Another thread brings its answers, and stops inside of `map`.
  private final class Request: Sendable {
    let answers = PublishSubject<Int>()
    let (isOnItsWay, mayGoOn) = (Gate(), Gate())

    func stream(until end: some ObservableType & Sendable) -> Observable<Int> {
      answers.take(until: end).map { [isOnItsWay, mayGoOn] answer in
        isOnItsWay.open()
        #expect(mayGoOn.wait())
        return answer
      }
    }
  }

  /// As if a `flatMapLatest` around the stream had switched meanwhile.
  @Test
  func `the signal is observed while an element passes, though the stream is disposed of meanwhile`() {
    let (scope, isDisposed) = (SupersedeScope(), Record<Void>())
    let stream = scope.hold(Disposables.create { isDisposed.append(()) })
    let wasDisposed = Record<Bool>()
    let observer = scope.wrap(
      AnyObserver<Int> { _ in
        stream.dispose()
        wasDisposed.append(!isDisposed.elements.isEmpty)
      })
    observer.on(.next(1))
    #expect(wasDisposed.elements == [false])
    #expect(isDisposed.elements.count == 1)
  }

  @Test
  func `an answer that another thread is bringing is superseded`() {
    let request = Request()
    let reactor = Streamed(mutate: { reactor, action in
      action == 1 ? request.stream(until: reactor.action.filter { $0 == 2 }) : .just(200)
    })
    reactor.send(1)
    let isBrought = Threads.start { request.answers.onNext(100) }
    #expect(request.isOnItsWay.wait())
    reactor.send(2)
    #expect(reactor.currentState == [200])
    request.mayGoOn.open()
    #expect(isBrought.wait())
    #expect(reactor.currentState == [200])
  }

  /// In a subscription, so that the elements of `of` take their turn when the answer has passed and its stream has ended.
  @Test
  func `answers that take turns with other streams are superseded though their stream has ended`() {
    let answers = PublishSubject<Int>()
    let (isBusy, mayGoOn) = (Gate(), Gate())
    let reactor = Streamed(mutate: { reactor, action in
      switch action {
      case 1:
        return answers.take(until: reactor.action.filter { $0 == 2 }).flatMap { _ in Observable.of(100, 101) }
      case 3:
        isBusy.open()
        _ = mayGoOn.wait()
        return .empty()
      default: return .just(200)
      }
    })
    reactor.send(1)
    let isOver = Threads.start { reactor.send(3) }
    #expect(isBusy.wait())
    // Waits behind action 3, and the answers behind it.
    reactor.send(2)
    Streamed(mutate: { _, _ in
      .create { observer in
        answers.onNext(1)
        answers.onCompleted()
        observer.onCompleted()
        return Disposables.create()
      }
    }).send(0)
    mayGoOn.open()
    #expect(isOver.wait())
    #expect(reactor.currentState == [200])
  }

  @Test
  func `an answer of a later stage is superseded too`() {
    let (request, first) = (Request(), PublishSubject<Int>())
    let reactor = Streamed(mutate: { reactor, action in
      if action != 1 { return .just(200) }
      return .concat([first.take(1), request.stream(until: reactor.action.filter { $0 == 2 })])
    })
    reactor.send(1)
    #expect(Threads.start { first.onNext(1) }.wait())
    #expect(reactor.currentState == [1])
    let isBrought = Threads.start { request.answers.onNext(100) }
    #expect(request.isOnItsWay.wait())
    reactor.send(2)
    request.mayGoOn.open()
    #expect(isBrought.wait())
    #expect(reactor.currentState == [1, 200])
  }

  @Test
  func `an end that is not an action supersedes nothing`() {
    let (request, end) = (Request(), PublishSubject<Int>())
    let reactor = Streamed(mutate: { _, action in action == 1 ? request.stream(until: end) : .just(200) }
    )
    reactor.send(1)
    let isBrought = Threads.start { request.answers.onNext(100) }
    #expect(request.isOnItsWay.wait())
    end.onNext(0)
    reactor.send(2)
    request.mayGoOn.open()
    #expect(isBrought.wait())
    #expect(reactor.currentState == [200, 100])
  }

  @Test
  func `an element that gets into another stream is not superseded there`() {
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
    // While another thread is the owner, both mutations wait in the mailbox, behind action 2.
    let isOwner = Threads.start { reactor.send(5) }
    #expect(isMutating.wait())
    reactor.send(2)
    answers.onNext(100)
    mayMutate.open()
    #expect(isOwner.wait())
    #expect(reactor.currentState == [5, 200, 101])
  }

  /// Returns the states of a reactor after `whileBusy`, which runs while action 5 is inside of `mutate`. For
  /// action 1, `mutate` returns `request`.
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
  func `an answer that still waits when its request has completed is superseded too`() {
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
  func `an action is no longer observed when the answer that has waited is reduced`() throws {
    let answers = PublishSubject<Int>()
    var observed: Streamed?
    let states = states(
      of: { answers.take(1).take(until: $0.action.filter { $0 == 2 }) },
      whileBusy: { reactor in
        #expect(reactor.runtime.extraStages.contains(.observedAction))
        observed = reactor
        answers.onNext(100)
      })
    #expect(states == [5, 100])
    let reactor = try #require(observed)
    #expect(!reactor.runtime.extraStages.contains(.observedAction))
  }

  @Test
  func `an action supersedes what another signal has ended before`() {
    let (request, end) = (Request(), PublishSubject<Int>())
    let reactor = Streamed(mutate: { reactor, action in
      if action != 1 { return .just(200) }
      return request.stream(until: Observable.merge(end.asObservable(), reactor.action.filter { $0 == 2 }))
    })
    reactor.send(1)
    let isBrought = Threads.start { request.answers.onNext(100) }
    #expect(request.isOnItsWay.wait())
    end.onNext(0)
    reactor.send(2)
    request.mayGoOn.open()
    #expect(isBrought.wait())
    #expect(reactor.currentState == [200])
  }

  @Test(arguments: [false, true])
  func `an action that is sent from inside of a scope is not superseded`(
    _ isByAction: Bool
  ) {
    let events = PublishSubject<Int>()
    let reactor = Streamed(mutate: { reactor, action in
      if action != 7 { return .just(200) }
      reactor.send(2)
      // It is sent while an observer receives its first state, so it waits, behind action 2.
      return reactor.state.map { _ in 70 }.take(1)
    })
    events.take(until: reactor.action.filter { $0 == 2 }).subscribe(onNext: { _ in
      if isByAction { reactor.action.onNext(7) } else { reactor.send(7) }
    })
    events.onNext(0)
    #expect(reactor.currentState == [200, 70])
  }
}
