import ReactorKitCompatibility

// Reactors of forms and of flows.

enum LoginError: Error { case wrongPassword }

/// Finds what others have registered: the kind of wrapper that apps use for their services.
@propertyWrapper
struct Injected<Service> {
  var wrappedValue: Service
}

/// A login, whose answer is a single.
class LoginReactor: Reactor {
  enum Action {
    case setName(String)
    case login(password: String)
  }
  enum Mutation {
    case setName(String)
    case setLoading(Bool)
    case setUser(String)
    case setError(String)
  }
  struct State {
    var name = ""
    var isLoading = false
    var user: String?
    @Pulse var error: String?
  }

  let initialState = State()
  @Injected private var api: (String, String) -> Single<String>

  init(api: @escaping (String, String) -> Single<String>) { _api = Injected(wrappedValue: api) }

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .setName(let name):
      return .just(.setName(name))
    case .login(let password):
      let request = api(currentState.name, password)
        .map(Mutation.setUser)
        .catch { .just(.setError("\($0)")) }
        .asObservable()
      return Observable.concat([.just(.setLoading(true)), request, .just(.setLoading(false))])
    }
  }

  func reduce(state: State, mutation: Mutation) -> State {
    var state = state
    switch mutation {
    case .setName(let name): state.name = name
    case .setLoading(let isLoading): state.isLoading = isLoading
    case .setUser(let user): state.user = user
    case .setError(let error): state.error = error
    }
    return state
  }
}

enum Step: Equatable {
  case profile(id: Int)
  case done
}

/// A screen of a flow: it says by a relay where to go next.
class FlowReactor: Reactor {
  enum Action {
    case pick(Int)
    case close
  }
  typealias Mutation = NoMutation
  struct State {}

  let initialState = State()
  let steps = PublishRelay<Step>()

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .pick(let id): steps.accept(.profile(id: id))
    case .close: steps.accept(.done)
    }
    return .empty()
  }
}

/// A form that is valid or not, and that is saved by a completable.
class ProfileReactor: Reactor {
  enum Action {
    case setName(String)
    case setAge(String)
    case save
  }
  enum Mutation {
    case setName(String)
    case setAge(Int?)
    case saved
    case failed
  }
  struct State {
    var name = ""
    var age: Int?
    var isValid = false
    var note = ""
  }

  let initialState = State()
  private let store: (String) -> Completable

  init(store: @escaping (String) -> Completable) { self.store = store }

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .setName(let name): return .just(.setName(name))
    case .setAge(let text): return Observable.just(text).map { .setAge(Int($0)) }
    case .save:
      guard currentState.isValid else { return .just(.failed) }
      return store(currentState.name).andThen(.just(.saved)).catchAndReturn(.failed)
    }
  }

  func transform(state: Observable<State>) -> Observable<State> {
    state.map { state in
      var state = state
      state.isValid = !state.name.isEmpty && state.age != nil
      return state
    }
  }

  func reduce(state: State, mutation: Mutation) -> State {
    var state = state
    switch mutation {
    case .setName(let name): state.name = name
    case .setAge(let age): state.age = age
    case .saved: state.note = "saved"
    case .failed: state.note = "failed"
    }
    return state
  }
}

/// Settings of the whole app, which any screen may change.
class Settings {
  static let names = ["light", "dark"]
  let theme = BehaviorRelay(value: "light")
}

class SettingsReactor: Reactor {
  enum Action { case toggleTheme }
  enum Mutation { case setTheme(String) }
  struct State { var theme: String }

  let initialState: State
  private let settings: Settings

  init(settings: Settings) {
    self.settings = settings
    initialState = State(theme: settings.theme.value)
  }

  func mutate(action: Action) -> Observable<Mutation> {
    settings.theme.take(1)
      .do(onNext: { [weak self] in self?.settings.theme.accept($0 == "light" ? "dark" : "light") })
      .flatMap { _ in Observable<Mutation>.empty() }
  }

  func transform(mutation: Observable<Mutation>) -> Observable<Mutation> {
    .merge(mutation, settings.theme.skip(1).map(Mutation.setTheme))
  }

  func reduce(state: State, mutation: Mutation) -> State {
    switch mutation {
    case .setTheme(let theme): State(theme: theme)
    }
  }
}

/// Two requests at the same time, for one screen.
class DashboardReactor: Reactor {
  enum Action { case refresh }
  enum Mutation {
    case setRefreshing(Bool)
    case set(user: String, count: Int)
  }
  struct State {
    var isRefreshing = false
    var text: String?
  }

  let initialState = State()
  private let user: Single<String>
  private let count: Single<Int>

  init(user: Single<String>, count: Single<Int>) {
    self.user = user
    self.count = count
  }

  func mutate(action: Action) -> Observable<Mutation> {
    Single.zip(user, count) { Mutation.set(user: $0, count: $1) }
      .asObservable()
      .startWith(.setRefreshing(true))
      .concat(Observable.just(.setRefreshing(false)))
      .catchAndReturn(.setRefreshing(false))
  }

  func reduce(state: State, mutation: Mutation) -> State {
    var state = state
    switch mutation {
    case .setRefreshing(let isRefreshing): state.isRefreshing = isRefreshing
    case .set(let user, let count): state.text = "\(user): \(count)"
    }
    return state
  }
}
