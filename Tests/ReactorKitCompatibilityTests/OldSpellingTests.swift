import Dispatch
import ReactorKitCompatibility
import TestSupport
import Testing

/// Spellings of RxSwift 5, and streams of known elements with a scheduler.
@Suite struct OldSpellingTests {
  /// A requirement is not deprecated, so its witness, which uses what is deprecated, can be called without a warning.
  private protocol Spelling {
    func streams(_ source: Observable<Int>) -> [Observable<Int>]
    func timed() -> [Observable<Int>]
    @MainActor func show(in view: View)
    func stub(_ reactor: some Reactor, _ isEnabled: Bool)
    func isStubbed(_ reactor: some Reactor) -> Bool
  }

  private struct Failed: Error {}

  @MainActor fileprivate final class View {
    var log: [String] = []
  }

  private struct OldSpelling: Spelling {
    @available(*, deprecated)
    func streams(_ source: Observable<Int>) -> [Observable<Int>] {
      let failing = Observable<Int>.error(Failed())
      let single = Single<Int>.error(Failed())
      return [
        failing.catchError { _ in .just(1) }, failing.catchErrorJustReturn(2),
        source.takeUntil(Observable<Int>.never()), source.takeUntil(.inclusive) { $0 == 2 },
        source.takeWhile { $0 < 2 }, source.skipUntil(Observable<Int>.never()), source.skipWhile { $0 < 2 },
        source.observeOn(CurrentThreadScheduler.instance),
        source.subscribeOn(CurrentThreadScheduler.instance),
        failing.retryWhen { $0.flatMap { Observable<Int>.error($0) } }.catchAndReturn(3),
        single.catchErrorJustReturn(4).asObservable(), single.catchError { _ in .just(5) }.asObservable(),
        single.asMaybe().catchErrorJustReturn(6).observeOn(CurrentThreadScheduler.instance)
          .subscribeOn(CurrentThreadScheduler.instance).asObservable(),
        failing.retryWhen { (errors: Observable<Failed>) in
          errors.flatMap { Observable<Int>.error($0) }
        }.catchAndReturn(8),
        single.retryWhen { $0.flatMap { Observable<Int>.error($0) } }.catchAndReturn(9).asObservable(),
        single.retryWhen { (errors: Observable<Failed>) in
          errors.flatMap { Observable<Int>.error($0) }
        }.catchAndReturn(10).asObservable(),
        .create { observer in
          single.subscribe(onSuccess: { _ in }, onError: { _ in observer.onNext(7) })
        },
      ]
    }

    @available(*, deprecated)
    func timed() -> [Observable<Int>] {
      let soon = DispatchTimeInterval.milliseconds(1)
      let one = Observable.just(1)
      return [
        one.delay(soon), one.delaySubscription(soon), one.debounce(soon), one.throttle(soon),
        Observable.never().timeout(soon).catchAndReturn(1),
        Observable<Int>.never().take(for: soon).concat(one),
        Observable<Int>.interval(soon).take(1).map { $0 + 1 }, Observable<Int>.timer(soon).map { $0 + 1 },
        Observable<Int>.timer(.microseconds(1), period: .nanoseconds(1000)).skip(soon).take(1).map { _ in 1 },
        Single.just(1).delay(soon).timeout(DispatchTimeInterval.seconds(60)).asObservable(),
        Single<Int>.timer(soon).map { $0 + 1 }.asObservable(),
        Observable.never().timeout(soon, other: one), Observable<Int>.never().take(soon).concat(one),
        Observable<Int>.never().take(.milliseconds(1)).concat(one),
        Single.never().timeout(soon, other: .just(1)).asObservable(),
        Single.just(1).delaySubscription(soon).asObservable(),
      ]
    }

    // The closures touch what is on the main actor: that they compile is a part of the test.
    @available(*, deprecated)
    @MainActor func show(in view: View) {
      Observable.just(1).observeOn(MainScheduler.asyncInstance).subscribe(onNext: {
        view.log.append("\($0)")
      })
      Single<Int>.error(Failed()).observeOn(MainScheduler.asyncInstance).subscribe(
        onSuccess: { view.log.append("\($0)") }, onError: { _ in view.log.append("failed") })
      Single<Int>.error(Failed()).observeOn(MainScheduler.asyncInstance).catchErrorJustReturn(2)
        .observeOn(MainScheduler.asyncInstance).subscribe(onSuccess: { view.log.append("\($0)") })
    }

    @available(*, deprecated)
    func stub(_ reactor: some Reactor, _ isEnabled: Bool) { reactor.stub.isEnabled = isEnabled }

    @available(*, deprecated)
    func isStubbed(_ reactor: some Reactor) -> Bool { reactor.stub.isEnabled }
  }

  private let spelling: any Spelling = OldSpelling()

  @Test func `the old spellings do what the new ones do`() {
    let elements = spelling.streams(.of(1, 2, 3)).map { stream in
      let seen = Record<Int>()
      stream.subscribe(onNext: { seen.append($0) }).dispose()
      return seen.elements
    }
    #expect(
      elements == [
        [1], [2], [1, 2, 3], [1, 2], [1], [], [2, 3], [1, 2, 3], [1, 2, 3], [3], [4], [5], [6], [8], [9],
        [10], [7],
      ])
  }

  @Test @MainActor func `closures after observeOn with the main scheduler are on the main actor`() async {
    let view = View()
    spelling.show(in: view)
    #expect(view.log == [])
    #expect(await eventually { view.log.count == 3 })
    #expect(view.log.sorted() == ["1", "2", "failed"])
  }

  @Test func `intervals of Dispatch are durations`() async throws {
    for (number, stream) in spelling.timed().enumerated() {
      var seen: [Int] = []
      for try await element in stream.throwingValues { seen.append(element) }
      #expect(seen == [1], "the stream at \(number)")
    }
  }

  final class Stubbed: Reactor {
    enum Action: Sendable { case go }
    let initialState = 0
    func reduce(state: Int, mutation: Action) -> Int { state + 1 }
  }

  @Test func `a stub is enabled and disabled by itself, and does not retain its reactor`() {
    let reactor = Stubbed()
    #expect(!spelling.isStubbed(reactor))
    spelling.stub(reactor, true)
    #expect(reactor.isStubEnabled && spelling.isStubbed(reactor))
    reactor.action.onNext(.go)
    #expect(reactor.stub.actions.count == 1 && reactor.currentState == 0)
    spelling.stub(reactor, false)
    #expect(!reactor.isStubEnabled && !spelling.isStubbed(reactor))
    reactor.action.onNext(.go)
    #expect(reactor.currentState == 1)
    weak var gone: Stubbed?
    let stub: Stub<Stubbed>
    do {
      let brief = Stubbed()
      gone = brief
      stub = brief.stub
    }
    #expect(gone == nil)
    withExtendedLifetime(stub) {}
  }

  @Test func `known elements are delivered by the scheduler that they are given`() {
    let scheduler = HeldScheduler()
    let streams: [Observable<Int>] = [
      .just(1, scheduler: scheduler), .of(1, 2, scheduler: scheduler), .from([1, 2], scheduler: scheduler),
      .from(1...2, scheduler: scheduler), .from(optional: 1, scheduler: scheduler),
      .from(optional: nil, scheduler: scheduler), Single.just(3, scheduler: scheduler).asObservable(),
      Maybe.just(4, scheduler: scheduler).asObservable(),
    ]
    let seen = streams.map { _ in Record<Int>() }
    let subscriptions = zip(streams, seen).map { stream, record in
      stream.subscribe(onNext: { record.append($0) })
    }
    #expect(seen.map(\.elements) == [[], [], [], [], [], [], [], []])
    scheduler.run()
    #expect(seen.map(\.elements) == [[1], [1, 2], [1, 2], [1, 2], [1], [], [3], [4]])
    for subscription in subscriptions { subscription.dispose() }
  }

  /// Keeps its actions until the test runs them.
  private final class HeldScheduler: ImmediateSchedulerType {
    private let held = Record<@Sendable () -> Void>()

    func schedule(_ action: @escaping @Sendable () -> Void) -> any Disposable {
      held.append(action)
      return Disposables.create()
    }

    func run() { for action in held.elements { action() } }
  }
}
