import ReactorRuntime
import TestSupport
import Testing

/// The section "View testing" of ReactorKit's README: a view, a reactor, and its stub.
@Suite struct ViewExampleTests {
  final class MyReactor: ReactorKitReactor {
    enum Action: Equatable { case refresh }
    typealias Mutation = Bool
    struct State { var isLoading = false }
    let initialState = State()

    func mutate(action: Action) -> Observable<Bool> { .concat(.just(true), .never()) }
    func reduce(state: State, mutation: Bool) -> State { State(isLoading: mutation) }
  }

  final class MyView: ReactorView {
    final class ActivityIndicator: Sendable { let isAnimating = StateRelay(value: false) }

    var disposeBag = DisposeBag()
    let refreshControl = PublishSubject<Void>()
    let activityIndicator = ActivityIndicator()

    func bind(reactor: MyReactor) {
      refreshControl.map { _ in Reactor.Action.refresh }
        .bind(to: reactor.action)
        .disposed(by: disposeBag)
      reactor.state.map(\.isLoading)
        .distinctUntilChanged()
        .bind(to: activityIndicator.isAnimating)
        .disposed(by: disposeBag)
    }
  }

  @Test func `a view sends refresh to a stub`() {
    // 1. prepare a stub reactor
    let reactor = MyReactor()
    reactor.isStubEnabled = true

    // 2. prepare a view with a stub reactor
    let view = MyView()
    view.reactor = reactor

    // 3. send an user interaction programmatically
    view.refreshControl.onNext(())

    // 4. assert actions
    #expect(reactor.stub.actions.last == .refresh)
    #expect(reactor.currentState.isLoading == false)
  }

  @Test func `a view shows the loading state of a stub`() {
    // 1. prepare a stub reactor
    let reactor = MyReactor()
    reactor.isStubEnabled = true

    // 2. prepare a view with a stub reactor
    let view = MyView()
    view.reactor = reactor

    // 3. set a stub state
    reactor.stub.state.value = MyReactor.State(isLoading: true)

    // 4. assert view properties
    #expect(view.activityIndicator.isAnimating.value == true)
  }

  @Test func `a view works with a real reactor until it gets another one`() {
    let view = MyView()
    let (first, second) = (MyReactor(), MyReactor())
    view.reactor = first
    view.refreshControl.onNext(())
    #expect(view.activityIndicator.isAnimating.value)
    view.reactor = second
    #expect(!view.activityIndicator.isAnimating.value)
    view.reactor = nil
    view.refreshControl.onNext(())
    #expect(!second.currentState.isLoading)
    #expect(!view.activityIndicator.isAnimating.value)
  }

  @Test func `a reactor is tested with its actions and its currentState`() {
    let reactor = MyReactor()
    #expect(reactor.currentState.isLoading == false)
    reactor.action.onNext(.refresh)
    #expect(reactor.currentState.isLoading == true)
  }
}
