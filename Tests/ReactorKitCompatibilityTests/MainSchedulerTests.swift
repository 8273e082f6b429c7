import ReactorKitCompatibility
import TestSupport
import Testing

/// Code for ReactorKit that keeps what `observe(on: MainScheduler.instance)` returns in a variable.
@Suite struct MainSchedulerTests {
  final class LoginReactor: Reactor {
    enum Action: Sendable { case login, refresh }
    enum Mutation: Sendable, Equatable {
      case loading(Bool)
      case set(String)
    }
    struct State: Sendable { var isLoading = false, title = "" }

    let initialState = State()

    func mutate(action: Action) -> Observable<Mutation> {
      switch action {
      case .login:
        let request = Observable.just("user").map(Mutation.set).observe(on: MainScheduler.instance)
        return .concat([.just(.loading(true)), request, .empty(), .just(.loading(false))])
      case .refresh:
        let request = Single.just("news").map(Mutation.set).observe(on: MainScheduler.instance)
        return .concat(.just(.loading(true)), request, .just(.loading(false)))
      }
    }

    func reduce(state: State, mutation: Mutation) -> State {
      var state = state
      switch mutation {
      case .loading(let isLoading): state.isLoading = isLoading
      case .set(let title): state.title = title
      }
      return state
    }
  }

  @MainActor final class View {
    let title = BehaviorRelay(value: "none")
    let states = Record<String>()
    var text = ""
    private let bag = DisposeBag()

    func bind(_ reactor: LoginReactor) {
      let state = reactor.state.observe(on: MainScheduler.instance)
      state.map(\.title).bind(to: title).disposed(by: bag)
      state.map { "\($0.title) \($0.isLoading)" }.distinctUntilChanged().bind(onNext: { [states] in
        states.append($0)
      }).disposed(by: bag)
      state.subscribe(onNext: { [weak self] in self?.text = $0.title }).disposed(by: bag)
    }
  }

  @Test @MainActor func `what is kept in a variable is a part of a list, and has operators`() async {
    let reactor = LoginReactor()
    let view = View()
    view.bind(reactor)
    reactor.action.onNext(.login)
    #expect(await eventually { view.states.elements.last == "user false" })
    reactor.action.onNext(.refresh)
    #expect(await eventually { view.text == "news" && view.states.elements.last == "news false" })
    #expect(
      view.states.elements == [
        " false", " true", "user true", "user false", "user true", "news true", "news false",
      ])
    #expect(view.title.value == "news")
  }

  // As a reactor's `transform(mutation:)` and `mutate` have them: that they compile is a part of the test.

  private func transform(
    mutation: Observable<LoginReactor.Mutation>, user: Observable<String>
  ) -> Observable<LoginReactor.Mutation> {
    return Observable.merge(
      mutation, user.map(LoginReactor.Mutation.set).observe(on: MainScheduler.instance))
  }

  private func joined(_ a: Observable<Int>, _ b: Observable<Int>, _ c: Single<Int>) -> Observable<Int> {
    return .concat(a, b.observe(on: MainScheduler.instance), c.observe(on: MainScheduler.asyncInstance))
  }

  @Test @MainActor func `what is moved to the main queue is an argument where observables are expected`()
    async
  {
    let mutations = Record<LoginReactor.Mutation>()
    transform(mutation: .just(.loading(true)), user: .just("user")).subscribe(onNext: {
      mutations.append($0)
    })
    #expect(await eventually { mutations.elements.count == 2 })
    #expect(mutations.elements.contains(.loading(true)) && mutations.elements.contains(.set("user")))
    let numbers = Record<Int>()
    joined(.just(1), .just(2), .just(3)).subscribe(onNext: { numbers.append($0) })
    #expect(await eventually { numbers.elements == [1, 2, 3] })
  }

  @Test @MainActor func `streams of several types are merged`() async {
    let main = Observable.just(2).observe(on: MainScheduler.instance)
    let seen = Record<Int>()
    Observable.merge([.just(1), main]).subscribe(onNext: { seen.append($0) }).dispose()
    Observable.merge(Observable.just(3), Single.just(4)).subscribe(onNext: { seen.append($0) }).dispose()
    #expect(Set(seen.elements).isSuperset(of: [1, 3, 4]))
    #expect(events(of: Observable<Int>.concat([.error(TestFailure()), main])) == ["error(failure)"])
  }
}
