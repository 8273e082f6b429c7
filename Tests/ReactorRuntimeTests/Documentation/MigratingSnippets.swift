// swift-format-ignore-file: OneCasePerLine, UseLetInEveryBoundCaseVariable

import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

// The code of the article "Migrating from ReactorKit", section by section. Keep both in step.
// What it says about differences is in MigratingDifferencesSnippets.

// MARK: Reactor, mutate(), reduce(), transform()

private enum UserAPI {
  static func isFollowing(_ userID: Int) -> Observable<Bool> { .just(userID == 7) }
  static func follow() -> Observable<Bool> { .just(true) }
}

private final class ProfileViewReactor: ReactorKitReactor {
  enum Action: Sendable {
    case refreshFollowingStatus(Int)
    case follow(Int)
  }

  enum Mutation: Sendable {
    case setFollowing(Bool)
  }

  struct State: Sendable {
    var isFollowing: Bool = false
  }

  let initialState: State = State()

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case let .refreshFollowingStatus(userID):
      return UserAPI.isFollowing(userID)
        .map { (isFollowing: Bool) -> Mutation in
          return Mutation.setFollowing(isFollowing)
        }

    case .follow:
      return UserAPI.follow()
        .map { _ -> Mutation in
          return Mutation.setFollowing(true)
        }
    }
  }

  func reduce(state: State, mutation: Mutation) -> State {
    var state = state
    switch mutation {
    case let .setFollowing(isFollowing):
      state.isFollowing = isFollowing
      return state
    }
  }

  func transform(action: Observable<Action>) -> Observable<Action> {
    return action.debug("action")
  }
}

// MARK: mutate() with singles and relays

private final class LoginReactor: ReactorKitReactor {
  typealias User = String

  enum Step { case done }

  struct API: Sendable {
    func login(_ name: String, _ password: String) -> Single<User> {
      password == "right" ? .just(name) : .error(RxError.noElements)
    }
  }

  enum Action {
    case login(password: String)
    case close
  }

  enum Mutation {
    case setLoading(Bool)
    case setUser(User)
    case setError(String)
  }

  struct State {
    var name = "ann"
    var isLoading = false
    var user: User?
    var error: String?
  }

  let initialState = State()
  let api = API()
  let steps = PublishRelay<Step>()

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .login(let password):
      let request = api.login(currentState.name, password)  // Single<User>
        .map(Mutation.setUser)
        .catch { .just(.setError("\($0)")) }
        .asObservable()
      return Observable.concat([.just(.setLoading(true)), request, .just(.setLoading(false))])

    case .close:
      steps.accept(.done)  // PublishRelay<Step>
      return .empty()
    }
  }

  func reduce(state: State, mutation: Mutation) -> State {
    var state = state
    switch mutation {
    case .setLoading(let isLoading): state.isLoading = isLoading
    case .setUser(let user): state.user = user
    case .setError(let error): state.error = error
    }
    return state
  }
}

// MARK: View

private final class ProfileView: ReactorView {
  var disposeBag = DisposeBag()
  let taps = PublishSubject<Void>()
  let isSelected = StateRelay(value: false)

  func bind(reactor: ProfileViewReactor) {
    // action (View -> Reactor)
    taps.asObservable().map { Reactor.Action.refreshFollowingStatus(7) }
      .bind(to: reactor.action)
      .disposed(by: self.disposeBag)

    // state (Reactor -> View)
    reactor.state.map { $0.isFollowing }
      .bind(to: isSelected)
      .disposed(by: self.disposeBag)
  }
}

private final class DeferredProfileView: DeferredReactorView {
  var disposeBag = DisposeBag()
  private(set) var isBound = false

  func open() {
    // … prepare what the binding needs …
    performBinding()
  }

  func bind(reactor: ProfileViewReactor) {
    // this is called after the view has called performBinding()
    isBound = true
  }
}

// MARK: Global states

private struct User: Sendable, Equatable { var name: String }

private final class Greeter: ReactorKitReactor {
  typealias Action = Never
  enum Mutation: Sendable { case setUser(User) }
  struct State: Sendable { var user: User? }

  let initialState = State()
  private let currentUser: BehaviorSubject<User>

  init(_ currentUser: BehaviorSubject<User>) { self.currentUser = currentUser }

  func transform(mutation: Observable<Mutation>) -> Observable<Mutation> {
    return Observable.merge(mutation, currentUser.map(Mutation.setUser))
  }

  func reduce(state: State, mutation: Mutation) -> State {
    var state = state
    switch mutation {
    case let .setUser(user): state.user = user
    }
    return state
  }
}

// MARK: View communication

private final class MessageInputView: Sendable {
  let text = StateRelay(value: "")
  let taps = PublishSubject<Void>()

  var sendButtonTap: Observable<String> { taps.withLatestFrom(text) }
}

private final class ChatReactor: ReactorKitReactor {
  enum Action: Sendable { case send(String) }
  struct State: Sendable { var messages: [String] = [] }
  let initialState = State()

  func reduce(into state: inout State, mutation: Action) {
    switch mutation {
    case .send(let message): state.messages.append(message)
    }
  }
}

// MARK: Threading

private final class List: ReactorKitReactor {
  enum Action: Sendable { case load }
  enum Mutation: Sendable { case setItems([String]) }
  struct State: Sendable { var items: [String] = [] }
  let initialState = State()
  private let fetch: @Sendable () async throws -> [String]

  init(_ fetch: @escaping @Sendable () async throws -> [String]) { self.fetch = fetch }

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .load:
      return Observable.task(fetch)
        .map(Mutation.setItems)
    }
  }

  func reduce(state: State, mutation: Mutation) -> State {
    var state = state
    switch mutation {
    case let .setItems(items): state.items = items
    }
    return state
  }
}

// MARK: Pulse

// The compiler infers that these types are Sendable, because they are not public.
private final class MyReactor: ReactorKitReactor {
  enum Action { case alert(String), doSomeAction }
  enum Mutation { case setAlertMessage(String), nothing }

  struct State {
    @Pulse var alertMessage: String?
  }

  let initialState = State()

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case let .alert(message):
      return Observable.just(Mutation.setAlertMessage(message))
    case .doSomeAction:
      return .just(.nothing)
    }
  }

  func reduce(state: State, mutation: Mutation) -> State {
    var newState = state
    switch mutation {
    case let .setAlertMessage(alertMessage):
      newState.alertMessage = alertMessage
    case .nothing:
      break
    }
    return newState
  }
}

@Suite struct MigratingSnippets {
  @Test func `the reactor of ReactorKit's README runs unchanged once its types are Sendable`() {
    let reactor = ProfileViewReactor()
    reactor.action.onNext(.refreshFollowingStatus(7))
    #expect(reactor.currentState.isFollowing)
    reactor.action.onNext(.refreshFollowingStatus(8))
    #expect(!reactor.currentState.isFollowing)
    reactor.action.onNext(.follow(8))
    #expect(reactor.currentState.isFollowing)
  }

  @Test func `a view is bound when its reactor is set`() {
    let profileView = ProfileView()
    profileView.reactor = ProfileViewReactor()  // inject reactor
    profileView.taps.onNext(())
    #expect(profileView.isSelected.value)
  }

  @Test func `a view that defers its binding is bound as documented`() {
    let view = DeferredProfileView()
    view.reactor = ProfileViewReactor()  // will not execute bind(reactor:) immediately
    #expect(!view.isBound)
    view.open()
    #expect(view.isBound)
  }

  @Test func `a global state becomes mutations`() {
    let currentUser = BehaviorSubject(value: User(name: "Ann"))
    let greeter = Greeter(currentUser)
    let states = Recorder(greeter.state.map { $0.user?.name })
    currentUser.onNext(User(name: "Bob"))
    #expect(states.elements == ["Ann", "Bob"])
  }

  @Test func `a view sends to the reactor of another view`() {
    let messageInputView = MessageInputView()
    let reactor = ChatReactor()
    let bag = DisposeBag()
    messageInputView.sendButtonTap
      .map(ChatReactor.Action.send)
      .bind(to: reactor.action)
      .disposed(by: bag)
    messageInputView.text.accept("hello")
    messageInputView.taps.onNext(())
    #expect(reactor.currentState.messages == ["hello"])
  }

  @Test func `a mutation from another thread needs no scheduler`() async {
    let list = List { ["a", "b"] }
    let items = Recorder(list.state.map(\.items))
    list.action.onNext(.load)
    #expect(await items.wait(forCount: 2, timeout: .seconds(patience)))
    #expect(items.difference(from: [[], ["a", "b"]]) == nil)
  }

  @Test func `a pulse emits each assignment`() {
    var messagePulse: Pulse<String?> = Pulse(wrappedValue: "Hello tokijh")
    let oldMessagePulse: Pulse<String?> = messagePulse
    messagePulse.value = "Hello tokijh"  // add valueUpdatedCount +1
    #expect(oldMessagePulse.valueUpdatedCount != messagePulse.valueUpdatedCount)
    #expect(oldMessagePulse.value == messagePulse.value)

    let shown = Record<String>()
    let disposeBag = DisposeBag()
    let reactor = MyReactor()
    reactor.pulse(\.$alertMessage)
      .compactMap { $0 }  // filter nil
      .subscribe(onNext: { (message: String) in shown.append(message) })
      .disposed(by: disposeBag)
    reactor.action.onNext(.alert("Hello"))  // shown
    reactor.action.onNext(.alert("Hello"))  // shown
    reactor.action.onNext(.doSomeAction)  // not shown
    reactor.action.onNext(.alert("Hello"))  // shown
    reactor.action.onNext(.alert("tokijh"))  // shown
    reactor.action.onNext(.doSomeAction)  // not shown
    #expect(shown.elements == ["Hello", "Hello", "Hello", "tokijh"])
  }

  @Test func `a request is a single, and a relay says where to go next`() {
    let reactor = LoginReactor()
    let states = Recorder(reactor.state.map { "\($0.isLoading) \($0.user ?? $0.error ?? "-")" })
    let steps = Recorder(reactor.steps)
    reactor.action.onNext(.login(password: "wrong"))
    reactor.action.onNext(.login(password: "right"))
    reactor.action.onNext(.close)
    let error = "\(RxError.noElements)"
    #expect(
      states.elements == [
        "false -", "true -", "true \(error)", "false \(error)", "true \(error)", "true ann", "false ann",
      ])
    #expect(steps.elements == [.done])
  }
}
