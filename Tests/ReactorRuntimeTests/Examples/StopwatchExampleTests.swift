import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// Streams that an action ends, in virtual time.
@Suite struct StopwatchExampleTests {
  final class StopwatchReactor: ReactorKitReactor {
    enum Action {
      case start
      case stop
    }

    typealias Mutation = Int
    typealias State = Int

    private let scheduler: SchedulerType
    let initialState = 0

    init(scheduler: SchedulerType) {
      self.scheduler = scheduler
    }

    func mutate(action: Action) -> Observable<Mutation> {
      switch action {
      case .start:
        let stopAction = self.action.filter { $0 == .stop }
        return Observable<Int>.interval(.seconds(1), scheduler: scheduler)
          .map { _ in 1 }
          .take(until: stopAction)

      case .stop:
        return .empty()
      }
    }

    func reduce(state: State, mutation: Mutation) -> State { state + mutation }
  }

  @Test func `a stop cancels the timer`() {
    let scheduler = TestScheduler(initialClock: 0)
    let reactor = StopwatchReactor(scheduler: scheduler)
    let disposeBag = DisposeBag()
    scheduler
      .createHotObservable([.next(1, .start), .next(5, .stop), .next(6, .start), .next(9, .stop)])
      .subscribe(reactor.action)
      .disposed(by: disposeBag)
    let response = scheduler.start(created: 0, subscribed: 0, disposed: 1000) { reactor.state }
    // At 5 and at 9 the stop runs first, because it was scheduled first.
    #expect(
      response.events == [
        .next(0, 0), .next(2, 1), .next(3, 2), .next(4, 3), .next(7, 4), .next(8, 5),
      ])
  }

  @Test func `two starts run two timers, and one stop ends both`() {
    let scheduler = TestScheduler(initialClock: 0)
    let reactor = StopwatchReactor(scheduler: scheduler)
    reactor.action.onNext(.start)
    reactor.action.onNext(.start)
    scheduler.advanceTo(3)
    #expect(reactor.currentState == 6)
    reactor.action.onNext(.stop)
    scheduler.start()
    #expect(reactor.currentState == 6)
    #expect(scheduler.clock == 3)
  }
}
