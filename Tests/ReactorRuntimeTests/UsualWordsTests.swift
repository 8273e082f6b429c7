import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// Tests that the names that code for ReactorKit and RxSwift commonly uses exist and work. The tests of each family of
/// operators cover the details.
@Suite struct UsualWordsTests {
  private func elements<Element: Sendable>(_ stream: Observable<Element>) -> [Element] {
    let seen = Record<Element>()
    _ = stream.subscribe(onNext: { seen.append($0) }, onError: { _ in }, onCompleted: {}, onDisposed: {})
    return seen.elements
  }

  private struct Oops: Error {}

  @Test func `the functions that create streams emit the expected elements`() {
    #expect(elements(.just(1)) == [1])
    #expect(elements(Observable<Int>.empty()) == [])
    #expect(elements(Observable<Int>.never()) == [])
    #expect(elements(Observable<Int>.error(Oops())) == [])
    #expect(elements(.of(1, 2, 3)) == [1, 2, 3])
    #expect(elements(.from([1, 2])) == [1, 2])
    #expect(
      elements(
        Observable<Int>.create { observer in
          observer.onNext(1)
          observer.onCompleted()
          return Disposables.create()
        }) == [1])
    #expect(elements(.deferred { .just(1) }) == [1])
    #expect(elements(.concat([.just(1), .just(2)])) == [1, 2])
    #expect(elements(.concat(.just(1), .just(2))) == [1, 2])
    #expect(elements(.merge(.just(1), .just(2))) == [1, 2])
    #expect(elements(.combineLatest(Observable.just(1), Observable.just(2)) { $0 + $1 }) == [3])
  }

  @Test func `the operators of one stream emit the expected elements`() {
    let numbers = Observable.of(1, 2, 2, 3)
    #expect(elements(numbers.map { $0 * 2 }) == [2, 4, 4, 6])
    #expect(elements(Observable.of("a", "bb").map(\.count)) == [1, 2])
    #expect(elements(numbers.compactMap { $0 > 1 ? $0 : nil }) == [2, 2, 3])
    #expect(elements(numbers.filter { $0 > 2 }) == [3])
    #expect(elements(numbers.flatMap { Observable.of($0, $0) }).count == 8)
    #expect(elements(numbers.flatMapLatest { Observable.just($0) }) == [1, 2, 2, 3])
    #expect(elements(numbers.scan(0) { $0 + $1 }) == [1, 3, 5, 8])
    #expect(elements(numbers.startWith(0)) == [0, 1, 2, 2, 3])
    #expect(elements(numbers.distinctUntilChanged()) == [1, 2, 3])
    #expect(elements(numbers.do(onNext: { _ in })) == [1, 2, 2, 3])
    #expect(elements(numbers.take(2)) == [1, 2])
    #expect(elements(numbers.take(while: { $0 < 3 })) == [1, 2, 2])
    #expect(elements(numbers.take(until: Observable<Void>.never())) == [1, 2, 2, 3])
    #expect(elements(numbers.skip(3)) == [3])
    #expect(elements(Observable<Int>.error(Oops()).catch { _ in .just(7) }) == [7])
    #expect(elements(Observable<Int>.error(Oops()).catchAndReturn(7)) == [7])
    #expect(elements(numbers.withLatestFrom(Observable.just("x"))) == ["x", "x", "x", "x"])
    #expect(elements(numbers.share(replay: 1, scope: .whileConnected)) == [1, 2, 2, 3])
    #expect(elements(numbers.debug("words")) == [1, 2, 2, 3])
    #expect(elements(numbers.asObservable()) == [1, 2, 2, 3])
  }

  @Test func `operators with timers run in virtual time`() {
    let scheduler = TestScheduler(initialClock: 0)
    let seen = Record<String>()
    let bag = DisposeBag()
    withVirtualTime(scheduler) {
      func note(_ name: String, _ stream: Observable<Int>) {
        stream.take(1).subscribe(onNext: { _ in seen.append("\(name) \(scheduler.clock)") }).disposed(by: bag)
      }
      note("delay", .just(1).delay(.seconds(1)))
      note("debounce", Observable.concat(.just(1), .never()).debounce(.seconds(2)))
      note("throttle", Observable.just(1).delay(.seconds(3)).throttle(.seconds(1)))
      note("interval", .interval(.seconds(4)))
      note("timer", .timer(.seconds(5)))
      note("timeout", Observable<Int>.never().timeout(.seconds(6)).catchAndReturn(0))
      note("observe(on:)", .just(1).observe(on: scheduler))
      note("subscribe(on:)", .just(1).subscribe(on: scheduler))
    }
    scheduler.start()
    #expect(Set(seen.elements.filter { $0.hasPrefix("observe") || $0.hasPrefix("subscribe") }).count == 2)
    #expect(
      seen.elements.filter { !$0.hasPrefix("observe") && !$0.hasPrefix("subscribe") } == [
        "delay 1", "debounce 2", "throttle 3", "interval 4", "timer 5", "timeout 6",
      ])
  }

  @Test func `subjects can be bound to each other`() throws {
    let relay = StateRelay(value: 0)
    let behavior = BehaviorSubject(value: 0)
    let publish = PublishSubject<Int>()
    let action = ActionSubject<Int>()
    let bag = DisposeBag()
    publish.bind(to: relay).disposed(by: bag)
    publish.bind(to: behavior, action).disposed(by: bag)
    let actions = Record<Int>()
    action.subscribe(onNext: { actions.append($0) }).disposed(by: bag)
    publish.onNext(1)
    #expect(relay.value == 1)
    #expect(try behavior.value() == 1)
    #expect(actions.elements == [1])
  }

  @Test func `a bag disposes its contents in order`() {
    let ended = Record<Int>()
    do {
      let bag = DisposeBag()
      Disposables.create { ended.append(1) }.disposed(by: bag)
      Disposables.create(Disposables.create { ended.append(2) }, Disposables.create()).disposed(by: bag)
      #expect(ended.elements == [])
    }
    #expect(ended.elements == [1, 2])
  }

  @Test func `the time of the main scheduler passes like any other`() {
    let scheduler: any SchedulerType = MainScheduler.instance
    let (before, begin) = (scheduler.now, ContinuousClock.now)
    while ContinuousClock.now - begin < .milliseconds(2) {}
    #expect(scheduler.now - before >= .milliseconds(1))
    #expect(scheduler.now - before <= ContinuousClock.now - begin + .milliseconds(1))
  }
}
