import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

/// Tests that the elements of one stream keep their order and are not lost, whether the owner or another thread emits
/// them.
@Suite struct EmissionOrderTests {
  @Test
  func `the state that was transformed last is the current one`() {
    let external = PublishSubject<Int>()
    let (isMutating, mayGoOn) = (Gate(), Gate())
    let reactor = Streamed(
      mutate: { _, action in
        isMutating.open()
        #expect(mayGoOn.wait())
        return .just(action)
      },
      state: { state in
        Observable.combineLatest(state, external.startWith(0)) { state, factor in state + [factor] }
      })
    _ = reactor.state
    #expect(reactor.currentState == [0])
    let sent = Threads.start { reactor.send(1) }
    #expect(isMutating.wait())
    // This transforms the earlier state. The result must not replace the state of the running action.
    external.onNext(100)
    mayGoOn.open()
    #expect(sent.wait())
    #expect(reactor.currentState == [1, 100])
  }

  @Test
  func `mutations of one stream keep their order inside a turn`() {
    let source = PublishSubject<Int>()
    let reactor = Streamed(mutate: { _, action in
      switch action {
      case 1: source.asObservable()
      default:
        .concat(
          .just(action),
          .create { observer in
            source.onNext(21)
            observer.onCompleted()
            return Disposables.create()
          })
      }
    })
    reactor.send(1)
    let subscription = reactor.state.subscribe(onNext: { if $0.last == 2 { source.onNext(20) } })
    reactor.send(2)
    #expect(reactor.currentState == [2, 20, 21])
    subscription.dispose()
  }

  @Test
  func `mutations of one stream keep their order between threads`() {
    let source = PublishSubject<Int>()
    let (isMutating, mayGoOn) = (Gate(), Gate())
    let reactor = Streamed(mutate: { _, action in
      if action == 1 { return source.asObservable() }
      isMutating.open()
      #expect(mayGoOn.wait())
      source.onNext(11)
      return .just(action)
    })
    reactor.send(1)
    let sent = Threads.start { reactor.send(2) }
    #expect(isMutating.wait())
    source.onNext(10)
    mayGoOn.open()
    #expect(sent.wait())
    #expect(reactor.currentState.filter { $0 != 2 } == [10, 11])
  }

  @Test
  func `a stream that ends with the next action loses no earlier mutation`() {
    let source = PublishSubject<Int>()
    let (isMutating, mayGoOn) = (Gate(), Gate())
    let reactor = Streamed(mutate: { reactor, action in
      switch action {
      case 1:
        return .merge(source.asObservable(), reactor.action.filter { $0 == 3 }.take(1).map { _ in 11 })
      case 2:
        isMutating.open()
        #expect(mayGoOn.wait())
        return .empty()
      default: return .empty()
      }
    })
    reactor.send(1)
    let sent = Threads.start { reactor.send(2) }
    #expect(isMutating.wait())
    reactor.send(3)
    source.onNext(10)
    source.onCompleted()
    mayGoOn.open()
    #expect(sent.wait())
    #expect(reactor.currentState == [10, 11])
  }

  @Test
  func `actions keep the order in which transform(action:) emits them`() {
    let external = PublishSubject<Int>()
    let (isMutating, mayGoOn) = (Gate(), Gate())
    let mutated = Record<Int>()
    let reactor = Streamed(
      mutate: { _, action in
        mutated.append(action)
        if action == 1 {
          isMutating.open()
          #expect(mayGoOn.wait())
        }
        return .just(action)
      },
      // It replaces the actions by their numbers: 1, 2, 3, …
      action: { action in .merge(action, external.asObservable()).scan(0) { count, _ in count + 1 } })
    _ = reactor.state
    let sent = Threads.start { reactor.send(100) }
    #expect(isMutating.wait())
    reactor.send(100)
    external.onNext(100)
    mayGoOn.open()
    #expect(sent.wait())
    #expect(mutated.elements == [1, 2, 3])
    #expect(reactor.currentState == [1, 2, 3])
  }

  @Test
  func `the actions that transform(action:) makes of one are mutated before the next one is announced`() {
    let external = PublishSubject<Int>()
    let order = Record<String>()
    let reactor = Streamed(
      mutate: { reactor, action in
        order.append("mutate \(action)")
        if action == 1 {
          reactor.send(10)
          reactor.send(20)
        }
        return .just(action)
      },
      action: { .merge($0.flatMap { Observable.of($0, $0 + 1) }, external.asObservable()) })
    let observation = reactor.action.subscribe(onNext: { order.append("action \($0)") })
    let expected = [
      "action 1", "mutate 1", "mutate 2", "action 10", "mutate 10", "mutate 11", "action 20", "mutate 20",
      "mutate 21",
    ]
    reactor.send(1)
    #expect(order.elements == expected)
    // It waits for the ownership, and nothing waits for it afterwards.
    external.onNext(5)
    reactor.send(1)
    #expect(order.elements == expected + ["mutate 5"] + expected)
    observation.dispose()
  }

  @Test
  func `mutations keep the order in which transform(mutation:) emits them`() {
    let external = PublishSubject<Int>()
    let (isMutating, mayGoOn) = (Gate(), Gate())
    let reactor = Streamed(
      mutate: { _, action in
        isMutating.open()
        #expect(mayGoOn.wait())
        return .just(action)
      },
      mutation: { mutation in .merge(mutation, external.asObservable()).scan(0) { count, _ in count + 1 } })
    _ = reactor.state
    let sent = Threads.start { reactor.send(100) }
    #expect(isMutating.wait())
    external.onNext(100)
    mayGoOn.open()
    #expect(sent.wait())
    #expect(reactor.currentState == [1, 2])
  }

  @Test
  func `an observer is not called while it handles its first state`() {
    let source = PublishSubject<Int>()
    let reactor = Streamed(mutate: { _, _ in source.asObservable() })
    reactor.send(1)
    let depth = Atomic(0)
    let deepest = Atomic(0)
    let seen = Record<[Int]>()
    let subscription = reactor.state.subscribe(onNext: { state in
      let now = depth.wrappingAdd(1, ordering: .relaxed).newValue
      deepest.max(now, ordering: .relaxed)
      seen.append(state)
      if state.isEmpty { source.onNext(7) }
      depth.wrappingSubtract(1, ordering: .relaxed)
    })
    #expect(deepest.load(ordering: .relaxed) == 1)
    #expect(seen.elements == [[], [7]])
    subscription.dispose()
  }
}
