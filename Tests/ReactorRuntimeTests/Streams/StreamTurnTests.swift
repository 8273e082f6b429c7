import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

/// Tests that streams of several elements take turns where an operator subscribes to several, as in RxSwift.
@Suite struct StreamTurnTests {
  @Test(arguments: OrderCase.all)
  func `a stream delivers its events in RxSwift's order`(_ order: OrderCase) {
    #expect(order.pipe.events.joined(separator: " ") == order.events)
  }

  /// Where two elements come from that are known at once.
  enum Joined: CaseIterable, Sendable {
    case bound, merged, behindAnother, several

    /// Emits "a" and "b", outside of any queue, and returns what an operator makes of them that takes turns.
    func emit() -> [String] {
      let (relay, other, seen) = (PublishRelay<String>(), PublishSubject<String>(), Record<String>())
      let joined = Observable.just("b").startWith("a")
      let source: Observable<String> =
        switch self {
        case .bound: relay.asObservable()
        case .merged: relay.flatMap { _ in joined }
        case .behindAnother: other.concat(joined)
        case .several: relay.flatMap { _ in Observable.concat(.just("a"), .empty(), .just("b")) }
        }
      source.flatMap { Observable.of($0 + "1", $0 + "2") }.subscribe(onNext: { seen.append($0) })
      switch self {
      case .bound: joined.bind(to: relay)
      case .merged, .several: relay.accept("")
      case .behindAnother: other.onCompleted()
      }
      return seen.elements
    }
  }

  @Test(arguments: Joined.allCases)
  func `what operators make of elements that concat or startWith joins takes turns`(_ joined: Joined) {
    #expect(joined.emit() == ["a1", "b1", "a2", "b2"])
  }

  /// What surrounds the stream that `mutate` returns.
  enum Surroundings: CaseIterable, Sendable {
    case nothing, observer, transformedAction, transformedMutation, transformedState
  }

  @Test(arguments: OrderCase.all, Surroundings.allCases)
  func `a reactor reduces the elements of such a stream in RxSwift's order`(
    _ order: OrderCase, _ surroundings: Surroundings
  ) {
    let play = Play(on: .caller) {
      $0.mutate = { _, _ in order.pipe.stream }
      switch surroundings {
      case .nothing, .observer: break
      case .transformedAction: $0.transformAction = { $1.map { $0 } }
      case .transformedMutation: $0.transformMutation = { $1.map { $0 } }
      case .transformedState: $0.transformState = { $1.map { $0 } }
      }
    }
    let subscription = surroundings == .observer ? play.state.subscribe(onNext: { _ in }) : nil
    play.send(["go"])
    let elements = order.events.split(separator: " ").map(String.init)
    #expect(play.currentState == elements.filter { $0 != "completed" && $0 != "error" })
    subscription?.dispose()
  }

  @Test func `the elements of a known stream take turns with what a transform makes of them`() {
    let play = Play(on: .caller) {
      $0.mutate = { _, action in .of(action + "1", action + "2") }
      $0.transformMutation = { _, mutation in mutation.flatMap { Observable.of($0 + "x", $0 + "y", $0 + "z") }
      }
    }
    play.send(["a", "b"])
    // As RxSwift's flatMap of these streams. But the second action begins when the first one has ended.
    #expect(
      play.currentState == [
        "a1x", "a1y", "a2x", "a1z", "a2y", "a2z", "b1x", "b1y", "b2x", "b1z", "b2y", "b2z",
      ])
  }

  @Test func `the actions that a transform makes of one are processed before the next one`() {
    let play = Play(on: .caller) {
      $0.transformAction = { _, action in action.flatMap { Observable.of($0 + "1", $0 + "2") } }
      $0.mutate = { play, action in
        if action == "a1" { play.send(["b"]) }
        return .merge(.of(action + "x", action + "y"), .just(action + "z"))
      }
    }
    play.send(["a"])
    #expect(
      play.currentState == [
        "a1z", "a1x", "a1y", "a2z", "a2x", "a2y", "b1z", "b1x", "b1y", "b2z", "b2x", "b2y",
      ])
  }

  @Test func `what transforms emit in turns comes when all of them are connected`() {
    let play = Play(on: .caller) {
      $0.transformAction = { _, action in action.startWith("a") }
      $0.transformMutation = { _, mutation in .merge(.of("m1", "m2"), mutation) }
    }
    _ = play.state
    #expect(play.currentState == ["a", "m1", "m2"])
  }

  @Test func `a turn of another reactor ends before its send returns`() {
    let inner = Play(on: .caller) { $0.mutate = { _, action in .merge(.of(action, "2"), .of("3", "4")) } }
    let seen = Record<String>()
    // While the outer streams take turns on this thread.
    let outer = Observable.merge(.of("a", "b"), .of("c"))
      .do(onNext: { element in
        inner.send([element])
        seen.append("\(element): \(inner.currentState.count)")
      })
    let play = Play(on: .caller) { $0.mutate = { _, _ in outer } }
    play.send(["go"])
    #expect(play.currentState == ["a", "c", "b"])
    #expect(seen.elements == ["a: 4", "c: 8", "b: 12"])
    #expect(inner.currentState.prefix(8) == ["a", "3", "2", "4", "c", "3", "2", "4"])
  }

  @Test func `a stream on another thread does not wait for the turns of this one`() {
    let seen = Record<String>()
    let stream = Observable.merge(.of("a", "b"), .of("c", "d"))
      .do(onNext: { element in
        let isDone = Threads.start {
          _ = Observable.merge(.of("1", "2"), .of("3")).subscribe(onNext: { seen.append(element + $0) })
        }
        #expect(isDone.wait())
      })
    _ = stream.subscribe(onNext: { seen.append($0) })
    #expect(
      seen.elements == [
        "a1", "a3", "a2", "a", "c1", "c3", "c2", "c", "b1", "b3", "b2", "b", "d1", "d3", "d2", "d",
      ])
  }

  @Test func `a subscription during a turn takes its turns behind the others`() {
    let seen = Record<String>()
    _ = Observable.merge(.of("a", "b"), .of("c", "d")).subscribe(onNext: { element in
      seen.append(element)
      if element == "a" { _ = Observable.of("1", "2").subscribe(onNext: { seen.append($0) }) }
    })
    #expect(seen.elements == ["a", "c", "1", "b", "d", "2"])
  }

  @Test func `a stream that is disposed of between two turns emits nothing more, and is released`() {
    let lifetimes = Lifetimes()
    let seen = Record<Int>()
    let disposable = SerialDisposable()
    let other = PublishSubject<Int>()
    let first = Observable.of(1, 2).do(onNext: { [kept = lifetimes.track()] _ in _ = kept })
    _ = Observable.merge(
      other.asObservable(),
      .create { observer in
        disposable.disposable = first.subscribe(observer)
        return Disposables.create()
      }, .of(3, 4).do(onNext: { if $0 == 3 { disposable.dispose() } })
    ).subscribe(onNext: { seen.append($0) })
    #expect(seen.elements == [1, 3, 4])
    withExtendedLifetime(first) { #expect(lifetimes.alive == 1) }
  }

  @Test func `an event that an observer brings to a subject comes after the running delivery`() {
    let subject = PublishSubject<String>()
    let record = Record<String>()
    let subscription = subject.flatMapLatest { Observable.of($0 + "1", $0 + "2") }
      .subscribe(onNext: { element in
        record.append(element)
        if element == "a1" { subject.onNext("b") }
      })
    subject.onNext("a")
    #expect(record.elements == ["a1", "a2", "b1", "b2"])
    subscription.dispose()
  }

  @Test func `long streams take turns without a deep stack`() {
    let count = 100_000
    let sum = Record<Int>()
    let ones = Observable.from(Array(repeating: 1, count: count))
    _ = Observable.merge(ones, ones.flatMap { Observable.of($0, $0) }).reduce(0, accumulator: +)
      .subscribe(onNext: { sum.append($0) })
    #expect(sum.elements == [3 * count])
  }

  @Test func `a stream that begins anew for ever gives others their turns`() {
    let endless = Observable.concat([.of("a"), .error(TestFailure())]).retry()
    let other = Observable.of("b", "c", "d")
    let seen = Record<String>()
    _ = Observable.merge(endless, other).take(7).subscribe(onNext: { seen.append($0) })
    #expect(seen.elements == ["a", "b", "c", "a", "d", "a", "a"])
  }

  @Test func `an action of the scheduler of the current thread runs behind the turns that wait`() {
    let seen = Record<String>()
    _ = Observable.merge(.of("a", "b"), .of("c", "d")).subscribe(onNext: { element in
      seen.append(element)
      if element == "a" { _ = CurrentThreadScheduler.instance.schedule { seen.append("action") } }
    })
    #expect(seen.elements == ["a", "c", "action", "b", "d"])
  }

  @Test func `an observer of a subject is called with what is replayed as it is called later`() {
    let (subject, relay) = (BehaviorSubject(value: 0), StateRelay(value: 0))
    let replay = ReplaySubject<Int>.create(bufferSize: 1)
    replay.onNext(0)
    let cases: [(String, Observable<Int>, @Sendable (Int) -> Void)] = [
      ("BehaviorSubject", subject.asObservable(), subject.onNext),
      ("StateRelay", relay.asObservable(), relay.accept),
      ("ReplaySubject", replay.asObservable(), replay.onNext),
    ]
    for (name, stream, send) in cases {
      let seen = Record<String>()
      let subscription = stream.subscribe(onNext: { element in
        _ = Observable.of("a", "b").subscribe(onNext: { seen.append("\(element)\($0)") })
        seen.append("\(element) end")
      })
      send(1)
      // As in RxSwift: a subject's elements do not take turns with those of others.
      #expect(seen.elements == ["0a", "0b", "0 end", "1a", "1b", "1 end"], "\(name)")
      subscription.dispose()
    }
  }
}
