// swift-format-ignore-file: OneCasePerLine

import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

// The code of the article "Testing" and of the landing page of ReactorTesting. Keep all three in step.

private final class Articles: Reactor {
  enum Action: Sendable, Equatable { case refresh, toggleBookmark }
  enum Mutation: Sendable { case setLoading(Bool), setTitles([String]), toggleBookmark }
  struct State: Sendable, Equatable { var isLoading = false, isBookmarked = false, titles: [String] = [] }

  let initialState = State()
  let runtime: Runtime<Action, Mutation, State>
  private let titles: Observable<[String]>

  init(
    titles: Observable<[String]> = .just([]),
    onFailure: @escaping @Sendable (Failure) -> Void = Failure.printToStandardError
  ) {
    self.titles = titles
    runtime = Runtime(onFailure: onFailure)
  }

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .refresh:
      .concat(
        .just(.setLoading(true)),
        titles.delay(.seconds(10)).map { .setTitles($0) },
        .just(.setLoading(false)))
    case .toggleBookmark:
      .just(.toggleBookmark)
    }
  }

  func reduce(into state: inout State, mutation: Mutation) {
    switch mutation {
    case .setLoading(let flag): state.isLoading = flag
    case .setTitles(let titles): state.titles = titles
    case .toggleBookmark: state.isBookmarked.toggle()
    }
  }
}

private final class Screen: ReactorView {
  var disposeBag = DisposeBag()
  let pulls = PublishSubject<Void>()
  let isSpinning = StateRelay(value: false)

  func bind(reactor: Articles) {
    pulls.asObservable().map { Articles.Action.refresh }.bind(to: reactor.action).disposed(by: disposeBag)
    reactor.state.map(\.isLoading).bind(to: isSpinning).disposed(by: disposeBag)
  }
}

private struct Unreachable: Error {}

@Suite struct TestingSnippets {
  @Test func `a reactor on the caller placement is tested line by line`() {
    let reactor = Articles()
    reactor.action.onNext(.toggleBookmark)
    #expect(reactor.currentState.isBookmarked)
    reactor.action.onNext(.toggleBookmark)
    #expect(!reactor.currentState.isBookmarked)
  }

  @Test func `the states of a reactor are tested in virtual time`() {
    let scheduler = TestScheduler(initialClock: 0)
    let bag = DisposeBag()
    let states = withVirtualTime(scheduler) {
      let reactor = Articles(titles: .just(["news"]))
      scheduler
        .createHotObservable([.next(100, Articles.Action.refresh)])
        .subscribe(reactor.action)
        .disposed(by: bag)
      return scheduler.start(created: 0, subscribed: 0, disposed: 1000) { reactor.state.map(\.isLoading) }
    }
    #expect(states.events.map(\.value.element) == [false, true, true, false])
    #expect(states.events.map(\.time) == [0, 100, 110, 110])
  }

  @Test func `the times of a cold stream are relative to its subscription`() {
    let scheduler = TestScheduler(initialClock: 0)
    let responses = scheduler.createColdObservable([.next(10, ["news"]), .completed(20)])
    let observer = scheduler.start { responses }
    #expect(observer.difference(from: [.next(210, ["news"]), .completed(220)]) == nil)
    #expect(responses.subscriptions == [Subscription(200, 220)])
  }

  @Test func `a recorder waits for states from another thread`() async throws {
    let loop = try Loop()
    let counter = Adding(on: .loop(loop))
    let states = Recorder(counter.state)
    counter.action.onNext(2)
    counter.action.onNext(3)
    #expect(await states.wait(forCount: 3, timeout: .seconds(patience)))
    #expect(states.difference(from: [0, 2, 5]) == nil)
    #expect(await Task { loop.shutdown() }.value == ())
  }

  @Test func `a stepped loop processes actions when it is stepped`() throws {
    let loop = try SteppedLoop()
    let counter = Adding(on: loop.placement)
    counter.send(2)
    #expect(counter.currentState == 0)
    loop.step()
    #expect(counter.currentState == 2)
  }

  @Test func `a failure recorder records a failure`() {
    let failures = FailureRecorder()
    let reactor = Articles(titles: .error(Unreachable()), onFailure: failures.handler)
    reactor.action.onNext(.refresh)
    #expect(failures.failures.count == 1)
    #expect(failures.failures.first?.action as? Articles.Action == .refresh)
  }

  @Test func `a view sends its actions to a stub`() {
    let reactor = Articles()
    reactor.isStubEnabled = true
    let view = Screen()
    view.reactor = reactor
    view.pulls.onNext(())
    #expect(reactor.stub.actions.last == .refresh)
  }

  @Test func `a view shows the state of a stub`() {
    let reactor = Articles()
    reactor.isStubEnabled = true
    let view = Screen()
    view.reactor = reactor
    reactor.stub.state.value = Articles.State(isLoading: true)
    #expect(view.isSpinning.value)
  }
}

private final class Adding: Reactor {
  typealias Action = Int
  let initialState = 0
  let runtime: Runtime<Int, Int, Int>

  init(on placement: Placement) { runtime = Runtime(on: placement) }

  func reduce(into state: inout Int, mutation: Int) { state += mutation }
}
