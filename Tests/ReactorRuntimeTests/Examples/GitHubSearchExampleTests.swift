import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// ReactorKit's example GitHubSearch: a newer query cancels the older request, pages are appended, and failures give
/// empty results.
@Suite struct GitHubSearchExampleTests {
  typealias Page = (repos: [String], nextPage: Int?)
  struct RateLimit: Error {}

  final class GitHubSearchViewReactor: ReactorKitReactor {
    enum Action {
      case updateQuery(String?)
      case loadNextPage
    }

    enum Mutation {
      case setQuery(String?)
      case setRepos([String], nextPage: Int?)
      case appendRepos([String], nextPage: Int?)
      case setLoadingNextPage(Bool)
    }

    struct State {
      var query: String?
      var repos: [String] = []
      var nextPage: Int?
      var isLoadingNextPage: Bool = false
    }

    let initialState = State()
    private let request: @Sendable (String, Int) -> Observable<Page>

    init(request: @escaping @Sendable (String, Int) -> Observable<Page>) { self.request = request }

    func mutate(action: Action) -> Observable<Mutation> {
      switch action {
      case .updateQuery(let query):
        return Observable.concat([
          Observable.just(Mutation.setQuery(query)),

          self.search(query: query, page: 1)
            // cancel previous request when the new `.updateQuery` action is fired
            .take(until: self.action.filter(Action.isUpdateQueryAction))
            .map { Mutation.setRepos($0.repos, nextPage: $0.nextPage) },
        ])

      case .loadNextPage:
        guard !self.currentState.isLoadingNextPage else { return Observable.empty() }
        guard let page = self.currentState.nextPage else { return Observable.empty() }
        return Observable.concat([
          Observable.just(Mutation.setLoadingNextPage(true)),

          self.search(query: self.currentState.query, page: page)
            .take(until: self.action.filter(Action.isUpdateQueryAction))
            .map { Mutation.appendRepos($0.repos, nextPage: $0.nextPage) },

          Observable.just(Mutation.setLoadingNextPage(false)),
        ])
      }
    }

    func reduce(state: State, mutation: Mutation) -> State {
      var newState = state
      switch mutation {
      case .setQuery(let query):
        newState.query = query

      case .setRepos(let repos, let nextPage):
        newState.repos = repos
        newState.nextPage = nextPage

      case .appendRepos(let repos, let nextPage):
        newState.repos.append(contentsOf: repos)
        newState.nextPage = nextPage

      case .setLoadingNextPage(let isLoadingNextPage):
        newState.isLoadingNextPage = isLoadingNextPage
      }
      return newState
    }

    private func search(query: String?, page: Int) -> Observable<Page> {
      guard let query, !query.isEmpty else { return .just(([], nil)) }
      return request(query, page).catchAndReturn(([], nil))
    }
  }

  /// A service that takes 30 ticks, has two pages of "slow" and "fast", and fails for "limit".
  private func service(
    _ scheduler: TestScheduler, _ asked: Record<String>
  ) -> @Sendable (String, Int) -> Observable<Page> {
    { query, page in
      asked.append("\(query) \(page)")
      if query == "limit" { return .error(RateLimit()) }
      return Observable.just((["\(query)/\(page)"], page < 2 ? page + 1 : nil))
        .delay(.seconds(30), scheduler: scheduler)
    }
  }

  @Test func `a newer query cancels the older request`() {
    let scheduler = TestScheduler(initialClock: 0)
    let asked = Record<String>()
    let reactor = GitHubSearchViewReactor(request: service(scheduler, asked))
    let disposeBag = DisposeBag()
    scheduler
      .createHotObservable([
        .next(100, .updateQuery("slow")), .next(120, .updateQuery("fast")), .next(200, .updateQuery("limit")),
        .next(210, .updateQuery(nil)),
      ])
      .bind(to: reactor.action)
      .disposed(by: disposeBag)
    let repos = scheduler.start(created: 0, subscribed: 0, disposed: 1000) {
      reactor.state.map(\.repos).distinctUntilChanged()
    }
    #expect(repos.events == [.next(0, []), .next(150, ["fast/1"]), .next(200, [])])
    #expect(asked.elements == ["slow 1", "fast 1", "limit 1"])
  }

  @Test func `pages are appended, one request at a time, until there are no more`() {
    let scheduler = TestScheduler(initialClock: 0)
    let asked = Record<String>()
    let reactor = GitHubSearchViewReactor(request: service(scheduler, asked))
    let disposeBag = DisposeBag()
    let actions: [(TestTime, GitHubSearchViewReactor.Action)] = [
      (100, .loadNextPage), (110, .updateQuery("fast")), (150, .loadNextPage), (160, .loadNextPage),
      (200, .loadNextPage),
    ]
    scheduler
      .createHotObservable(actions.map { .next($0, $1) })
      .bind(to: reactor.action)
      .disposed(by: disposeBag)
    let observer = scheduler.createObserver(Bool.self)
    reactor.state.map(\.isLoadingNextPage).distinctUntilChanged().subscribe(observer).disposed(by: disposeBag)
    scheduler.start()
    #expect(reactor.currentState.repos == ["fast/1", "fast/2"])
    #expect(asked.elements == ["fast 1", "fast 2"])
    #expect(observer.events == [.next(0, false), .next(150, true), .next(180, false)])
  }

  @Test func `a query that cancels the loading of a page resets the loading state`() {
    let scheduler = TestScheduler(initialClock: 0)
    let reactor = GitHubSearchViewReactor(request: service(scheduler, Record()))
    for action: GitHubSearchViewReactor.Action in [.updateQuery("fast"), .loadNextPage, .updateQuery("slow")]
    {
      reactor.action.onNext(action)
      if case .updateQuery("fast") = action { scheduler.advanceBy(50) }
    }
    scheduler.start()
    #expect(reactor.currentState.repos == ["slow/1"])
    #expect(!reactor.currentState.isLoadingNextPage)
  }
}

extension GitHubSearchExampleTests.GitHubSearchViewReactor.Action {
  static func isUpdateQueryAction(_ action: Self) -> Bool {
    if case .updateQuery = action {
      return true
    } else {
      return false
    }
  }
}

/// A search with a debounce in its transform of actions.
@Suite struct TypeaheadExampleTests {
  final class Typeahead: ReactorKitReactor {
    typealias Action = String
    typealias Mutation = String
    let initialState: [String] = []
    private let scheduler: TestScheduler
    let asked = Record<String>()

    init(scheduler: TestScheduler) { self.scheduler = scheduler }

    func transform(action: Observable<String>) -> Observable<String> {
      action
        .debounce(.seconds(10), scheduler: scheduler)
        .distinctUntilChanged()
        .flatMapLatest { [scheduler] text in
          Observable.of(text + "?", text + "!").delay(.seconds(5), scheduler: scheduler)
        }
    }

    func mutate(action: String) -> Observable<String> {
      asked.append(action)
      return .just(action)
    }

    func reduce(state: [String], mutation: String) -> [String] { state + [mutation] }
  }

  @Test func `of quick keystrokes only the last causes a request, and the latest result wins`() {
    let scheduler = TestScheduler(initialClock: 0)
    let reactor = Typeahead(scheduler: scheduler)
    let disposeBag = DisposeBag()
    let texts: [(TestTime, String)] = [
      (100, "a"), (105, "ab"), (120, "ab"), (140, "abc"), (153, "abcd"), (155, "abc"), (170, "abcde"),
    ]
    scheduler.createHotObservable(texts.map { .next($0, $1) }).bind(to: reactor.action).disposed(
      by: disposeBag)
    let states = scheduler.createObserver([String].self)
    reactor.state.subscribe(states).disposed(by: disposeBag)
    scheduler.start()
    #expect(reactor.currentState == ["ab?", "ab!", "abc?", "abc!", "abcde?", "abcde!"])
    #expect(reactor.asked.elements == reactor.currentState)
    #expect(states.events.map(\.time) == [0, 120, 120, 155, 155, 185, 185])
  }
}
