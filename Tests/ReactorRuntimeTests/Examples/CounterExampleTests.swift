import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// ReactorKit's example Counter: a value that changes after a delay, a loading indicator until then, and an alert.
@Suite struct CounterExampleTests {
  final class CounterViewReactor: ReactorKitReactor {
    enum Action {
      case increase
      case decrease
    }

    enum Mutation {
      case increaseValue
      case decreaseValue
      case setLoading(Bool)
      case setAlertMessage(String)
    }

    struct State {
      var value: Int
      var isLoading: Bool
      @Pulse var alertMessage: String?
    }

    let initialState: State
    private let scheduler: SchedulerType

    init(scheduler: SchedulerType = MainScheduler.instance) {
      self.initialState = State(value: 0, isLoading: false)
      self.scheduler = scheduler
    }

    func mutate(action: Action) -> Observable<Mutation> {
      switch action {
      case .increase:
        return Observable.concat([
          Observable.just(Mutation.setLoading(true)),
          Observable.just(Mutation.increaseValue).delay(.milliseconds(500), scheduler: scheduler),
          Observable.just(Mutation.setLoading(false)),
          Observable.just(Mutation.setAlertMessage("increased!")),
        ])

      case .decrease:
        return Observable.concat([
          Observable.just(Mutation.setLoading(true)),
          Observable.just(Mutation.decreaseValue).delay(.milliseconds(500), scheduler: scheduler),
          Observable.just(Mutation.setLoading(false)),
          Observable.just(Mutation.setAlertMessage("decreased!")),
        ])
      }
    }

    func reduce(state: State, mutation: Mutation) -> State {
      var state = state
      switch mutation {
      case .increaseValue:
        state.value += 1

      case .decreaseValue:
        state.value -= 1

      case .setLoading(let isLoading):
        state.isLoading = isLoading

      case .setAlertMessage(let message):
        state.alertMessage = message
      }
      return state
    }
  }

  @Test func `a counter shows that it loads, counts, and shows an alert`() {
    let scheduler = TestScheduler(initialClock: 0, resolution: 0.1)
    let reactor = CounterViewReactor(scheduler: scheduler)
    let disposeBag = DisposeBag()
    scheduler
      .createHotObservable([.next(10, .increase), .next(20, .increase), .next(30, .decrease)])
      .subscribe(reactor.action)
      .disposed(by: disposeBag)
    let loading = scheduler.createObserver(Bool.self)
    reactor.state.map(\.isLoading).distinctUntilChanged().subscribe(loading).disposed(by: disposeBag)
    let values = scheduler.createObserver(Int.self)
    reactor.state.map(\.value).distinctUntilChanged().subscribe(values).disposed(by: disposeBag)
    let alerts = scheduler.createObserver(String.self)
    reactor.pulse(\.$alertMessage).compactMap { $0 }.subscribe(alerts).disposed(by: disposeBag)
    scheduler.start()
    #expect(
      loading.events == [
        .next(0, false), .next(10, true), .next(15, false), .next(20, true), .next(25, false),
        .next(30, true), .next(35, false),
      ])
    #expect(values.events == [.next(0, 0), .next(15, 1), .next(25, 2), .next(35, 1)])
    // The same text twice causes two alerts.
    #expect(
      alerts.events == [.next(15, "increased!"), .next(25, "increased!"), .next(35, "decreased!")])
  }

  @Test func `two taps at once count twice`() {
    let scheduler = TestScheduler(initialClock: 0, resolution: 0.1)
    let reactor = CounterViewReactor(scheduler: scheduler)
    reactor.action.onNext(.increase)
    reactor.action.onNext(.increase)
    #expect(reactor.currentState.isLoading)
    scheduler.start()
    #expect(reactor.currentState.value == 2)
    #expect(!reactor.currentState.isLoading)
    #expect(reactor.currentState.$alertMessage.valueUpdatedCount == 2)
  }

  /// The test from ReactorKit's README for a state that changes twice in one action.
  final class MyReactor: ReactorKitReactor {
    enum Action { case refresh }
    enum Mutation { case setLoading(Bool) }
    struct State { var isLoading = false }
    let initialState = State()

    func mutate(action: Action) -> Observable<Mutation> {
      .concat([.just(.setLoading(true)), .just(.setLoading(false))])
    }

    func reduce(state: State, mutation: Mutation) -> State {
      switch mutation {
      case .setLoading(let isLoading):
        return State(isLoading: isLoading)
      }
    }
  }

  @Test func `isLoading is true during a refresh only`() {
    // given
    let scheduler = TestScheduler(initialClock: 0)
    let reactor = MyReactor()
    let disposeBag = DisposeBag()

    // when
    scheduler
      .createHotObservable([
        .next(100, .refresh)  // send .refresh at 100 scheduler time
      ])
      .subscribe(reactor.action)
      .disposed(by: disposeBag)

    // then
    let response = scheduler.start(created: 0, subscribed: 0, disposed: 1000) {
      reactor.state.map(\.isLoading)
    }
    #expect(
      response.events.map(\.value.element) == [
        false,  // initial state
        true,  // just after .refresh
        false,  // after refreshing
      ])
  }
}
