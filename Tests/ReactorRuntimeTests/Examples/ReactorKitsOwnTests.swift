import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// ReactorKit's own tests, as far as no other suite covers them, with reactors that store no runtime.
@Suite struct ReactorKitsOwnTests {
  final class Stations: ReactorKitReactor {
    typealias Action = [String]
    typealias Mutation = [String]
    typealias State = [String]
    let initialState = State()

    func transform(action: Observable<Action>) -> Observable<Action> { action.map { $0 + ["action'"] } }
    func mutate(action: Action) -> Observable<Mutation> { .just(action + ["mutation"]) }
    func transform(mutation: Observable<Mutation>) -> Observable<Mutation> {
      mutation.map { $0 + ["mutation'"] }
    }
    func reduce(state: State, mutation: Mutation) -> State { state + mutation + ["reduce"] }
    func transform(state: Observable<State>) -> Observable<State> { state.map { $0 + ["state'"] } }
  }

  static let way = ["action", "action'", "mutation", "mutation'", "reduce", "state'"]

  @Test func `the methods are called in order, each with the result of the previous one`() {
    let reactor = Stations()
    let scheduler = TestScheduler(initialClock: 0)
    let disposeBag = DisposeBag()
    scheduler.createHotObservable([.next(100, ["action"])]).subscribe(reactor.action).disposed(by: disposeBag)
    let response = scheduler.start(created: 0, subscribed: 0, disposed: 1000) { reactor.state }
    #expect(response.events == [.next(0, ["state'"]), .next(100, Self.way)])
  }

  @Test(arguments: [true, false])
  func `currentState is correct whether state or action is accessed first`(touchesState: Bool) {
    let reactor = Stations()
    if touchesState { _ = reactor.state }
    reactor.action.onNext(["action"])
    #expect(reactor.currentState == Self.way)
  }

  /// A reactor whose actions and mutations are Void.
  final class Voids: ReactorKitReactor {
    typealias Action = Void
    typealias Mutation = Void
    typealias State = Int
    struct Failed: Error {}
    let initialState = 0
    private let ending: Observable<Void>
    let runtime: Runtime<Void, Void, Int>

    init(ending: Observable<Void> = .empty(), _ failures: FailureRecorder = FailureRecorder()) {
      self.ending = ending
      runtime = Runtime(onFailure: failures.handler)
    }

    func mutate(action: Void) -> Observable<Void> {
      currentState == 2 ? Observable.concat(.just(action), ending) : .just(action)
    }

    func reduce(state: State, mutation: Mutation) -> State { state + 1 }
  }

  @Test(arguments: [Event<Void>.error(Voids.Failed()), .completed])
  func `a stream bound to action may end without affecting others`(end: Event<Void>) {
    let reactor = Voids()
    let scheduler = TestScheduler(initialClock: 0)
    let disposeBag = DisposeBag()
    let end = Recorded(time: 300, value: end)
    for times in [[100, 200], [150, 250], [400, 500]] {
      let bound = times[0] < 300 ? times.map { .next($0, ()) } + [end] : times.map { .next($0, ()) }
      scheduler.createHotObservable(bound).subscribe(reactor.action).disposed(by: disposeBag)
    }
    let response = scheduler.start(created: 0, subscribed: 0, disposed: 1000) { reactor.state }
    let times = [0, 100, 150, 200, 250, 400, 500]
    #expect(response.events == times.enumerated().map { .next($1, $0) })
  }

  @Test(arguments: [Observable<Void>.error(Voids.Failed()), .empty()])
  func `a stream of mutate may end without affecting later actions`(ending: Observable<Void>) {
    let failures = FailureRecorder()
    let reactor = Voids(ending: ending, failures)
    let states = Recorder(reactor.state)
    for _ in 0..<5 { reactor.action.onNext(()) }
    #expect(states.difference(from: [0, 1, 2, 3, 4, 5]) == nil)
    #expect(failures.failures.count <= 1)
  }

  final class Characters: ReactorKitReactor {
    enum Action { case append([String]) }
    enum Mutation { case setCharacters([String]) }
    struct State { var characters: [String] = [] }
    let initialState = State()

    func mutate(action: Action) -> Observable<Mutation> {
      switch action {
      case .append(let characters):
        let sources: [Observable<Mutation>] = characters.map { character in
          Observable<Mutation>.create { [weak self] observer in
            if let self = self {
              observer.onNext(Mutation.setCharacters(self.currentState.characters + [character]))
            }
            observer.onCompleted()
            return Disposables.create()
          }
        }
        return Observable.concat(sources)
      }
    }

    func reduce(state: State, mutation: Mutation) -> State {
      switch mutation {
      case .setCharacters(let characters): return State(characters: characters)
      }
    }
  }

  @Test func `a mutation is reduced before the next stream starts`() {
    let reactor = Characters()
    reactor.action.onNext(.append(["a", "b"]))
    reactor.action.onNext(.append(["c"]))
    reactor.action.onNext(.append(["d", "e", "f"]))
    #expect(reactor.currentState.characters == ["a", "b", "c", "d", "e", "f"])
  }

  // MARK: Generic classes, and uninhabited types

  class Parent<T>: ReactorKitReactor, @unchecked Sendable {
    // Unchecked, because the class is not final. It has only constants of Sendable types.
    enum Action { case foo }
    typealias Mutation = Void
    typealias State = Int
    let initialState: State = 0

    func mutate(action: Action) -> Observable<Mutation> { .just(Void()) }
    func reduce(state: State, mutation: Mutation) -> State { state + 1 }
  }

  final class Child: Parent<String>, @unchecked Sendable {
    // Unchecked, like its superclass, and without further properties.
    override func reduce(state: State, mutation: Mutation) -> State { state + 10 }
  }

  @Test func `a subclass of a generic reactor may override its methods`() {
    let (parent, child) = (Parent<Int>(), Child())
    let action = child.action
    _ = child.state
    #expect(child.action === action)
    #expect(child.currentState == 0)
    for _ in 0..<3 {
      parent.action.onNext(.foo)
      child.action.onNext(.foo)
    }
    #expect(parent.currentState == 3)
    #expect(child.currentState == 30)
  }

  class Empty<T>: ReactorKitReactor, @unchecked Sendable {
    // Unchecked, because the class is not final. It has only constants of Sendable types.
    enum Action {}
    typealias Mutation = Void
    typealias State = Void
    let initialState: State = State()
  }

  final class EmptyChild: Empty<String>, @unchecked Sendable {}

  @Test func `a reactor with uninhabited actions can be used`() {
    let reactor = EmptyChild()
    let states = Recorder(reactor.state)
    #expect(states.elements.count == 1)
    #expect(reactor.action === reactor.action)
  }

  // MARK: Re-entrancy

  final class Routes: ReactorKitReactor {
    enum Action {
      case dismiss
      case present(String)
    }
    enum Mutation { case setRoute(String?) }
    struct State { var route: String? }
    let initialState = State(route: "initial")

    func mutate(action: Action) -> Observable<Mutation> {
      switch action {
      case .dismiss: return .just(.setRoute(nil))
      case .present(let route): return .just(.setRoute(route))
      }
    }

    func reduce(state: State, mutation: Mutation) -> State {
      switch mutation {
      case .setRoute(let route): return State(route: route)
      }
    }
  }

  @Test func `a presentation requested during a dismissal is shown in the end`() {
    let reactor = Routes()
    let routes = Recorder(reactor.state.map(\.route))
    let disposeBag = DisposeBag()
    reactor.state
      .filter { $0.route == nil }
      .take(1)
      .map { _ in .present("next") }
      .bind(to: reactor.action)
      .disposed(by: disposeBag)
    reactor.action.onNext(.dismiss)
    #expect(reactor.currentState.route == "next")
    #expect(routes.difference(from: ["initial", nil, "next"]) == nil)
  }

  @Test func `a separate action subject emits elements and ignores stop events`() {
    let subject = ActionSubject<Int>()
    let scheduler = TestScheduler(initialClock: 0)
    let disposeBag = DisposeBag()
    for end: Recorded<Event<Int>> in [.completed(200), .error(200, Voids.Failed())] {
      scheduler
        .createHotObservable([.next(100, 1), end])
        .subscribe(subject)
        .disposed(by: disposeBag)
    }
    scheduler.createHotObservable([.next(300, 3)]).subscribe(subject).disposed(by: disposeBag)
    let response = scheduler.start(created: 0, subscribed: 0, disposed: 1000) { subject.asObservable() }
    #expect(response.events == [.next(100, 1), .next(100, 1), .next(300, 3)])
  }

  @Test func `relays can be combined, and emit no stop event when they are freed`() {
    var first = StateRelay(value: 1)
    let second = StateRelay(value: 2)
    let sums = Recorder(Observable.combineLatest(first.asObservable(), second.asObservable()) { $0 + $1 })
    first.value = 5
    second.accept(9)
    first = StateRelay(value: 100)
    #expect(sums.difference(fromEvents: [.next(3), .next(7), .next(14)]) == nil)
    sums.dispose()
    second.value = 0
    #expect(sums.elements == [3, 7, 14])
    #expect(first.value == 100)
  }

  @Test func `a reactor is freed, and its attached objects soon after`() {
    weak var reactor: Stations?
    weak var action: ActionSubject<Stations.Action>?
    do {
      let made = Stations()
      (reactor, action) = (made, made.action)
      made.state.subscribe(onNext: { _ in })
      made.action.onNext(["a"])
    }
    #expect(reactor == nil)
    #expect(Threads.yield { action == nil })
  }
}
