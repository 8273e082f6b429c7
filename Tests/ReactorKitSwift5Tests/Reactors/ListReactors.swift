import ReactorKitCompatibility

// Reactors of lists, as apps contain them: see README.md.

/// What the reactors of this app have in common.
class BaseReactor {
  var disposeBag = DisposeBag()
}

class Page {
  var items: [String]
  var next: Int?

  init(items: [String], next: Int?) {
    self.items = items
    self.next = next
  }
}

/// A search in pages: a newer query cancels the older request, and pages are loaded once.
class SearchReactor: BaseReactor, Reactor {
  enum Action {
    case search(String)
    case loadMore
  }
  enum Mutation {
    case setQuery(String)
    case setLoading(Bool)
    case setPage(Page, isFirst: Bool)
  }
  struct State {
    var query = ""
    var items: [String] = []
    var next: Int?
    var isLoading = false
  }

  let initialState = State()
  private let load: (String, Int) -> Single<Page>

  init(load: @escaping (String, Int) -> Single<Page>) {
    self.load = load
    super.init()
  }

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .search(let query):
      return Observable.concat(
        .just(.setQuery(query)), .just(.setLoading(true)),
        load(query, 0).asObservable()
          .take(
            until: self.action.filter {
              if case .search = $0 { return true } else { return false }
            }
          )
          .map { Mutation.setPage($0, isFirst: true) }
          .catchAndReturn(.setPage(Page(items: [], next: nil), isFirst: true)),
        .just(.setLoading(false)))
    case .loadMore:
      guard !currentState.isLoading, let next = currentState.next else { return .empty() }
      return Observable.concat([
        .just(.setLoading(true)),
        load(currentState.query, next).map { Mutation.setPage($0, isFirst: false) }.asObservable(),
        .just(.setLoading(false)),
      ])
    }
  }

  func reduce(state: State, mutation: Mutation) -> State {
    var state = state
    switch mutation {
    case .setQuery(let query):
      state = State(query: query)
    case .setLoading(let isLoading):
      state.isLoading = isLoading
    case .setPage(let page, let isFirst):
      state.items = isFirst ? page.items : state.items + page.items
      state.next = page.next
    }
    return state
  }
}

struct Todo: Equatable {
  let id: Int
  var title: String
  var isDone = false
}

enum TodoEvent {
  case created(Todo)
  case updated(Todo)
  case deleted(id: Int)
}

/// The service of a task list: it tells everyone what has changed.
protocol TodoServiceType: AnyObject {
  var events: PublishSubject<TodoEvent> { get }
  func fetch() -> Observable<[Todo]>
  func create(_ title: String) -> Observable<Todo>
  func toggle(_ todo: Todo) -> Completable
}

class TodoService: TodoServiceType {
  let events = PublishSubject<TodoEvent>()
  private let todos = BehaviorRelay<[Todo]>(value: [Todo(id: 1, title: "milk")])

  func fetch() -> Observable<[Todo]> { .just(todos.value) }

  func create(_ title: String) -> Observable<Todo> {
    let todo = Todo(id: todos.value.count + 1, title: title)
    todos.accept(todos.value + [todo])
    return Observable.just(todo).do(onNext: { self.events.onNext(.created($0)) })
  }

  func toggle(_ todo: Todo) -> Completable {
    .create { completable in
      var changed = todo
      changed.isDone.toggle()
      self.events.onNext(.updated(changed))
      completable(.completed)
      return Disposables.create()
    }
  }
}

/// A list whose changes come from a service, through `transform(mutation:)`.
class TodoListReactor: Reactor {
  enum Action {
    case refresh
    case create(String)
    case toggle(Int)
  }
  enum Mutation {
    case setTodos([Todo])
    case insert(Todo)
    case update(Todo)
    case delete(Int)
  }
  struct State { var todos: [Todo] = [] }

  let initialState = State()
  private var service: TodoServiceType

  init(service: TodoServiceType) { self.service = service }

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .refresh: return service.fetch().map(Mutation.setTodos)
    case .create(let title): return service.create(title).flatMap { _ in Observable.empty() }
    case .toggle(let index): return service.toggle(currentState.todos[index]).andThen(.empty())
    }
  }

  func transform(mutation: Observable<Mutation>) -> Observable<Mutation> {
    let events = service.events.flatMap { event -> Observable<Mutation> in
      switch event {
      case .created(let todo): return .just(.insert(todo))
      case .updated(let todo): return .just(.update(todo))
      case .deleted(let id): return .just(.delete(id))
      }
    }
    return Observable.of(mutation, events).merge()
  }

  func reduce(state: State, mutation: Mutation) -> State {
    var state = state
    switch mutation {
    case .setTodos(let todos): state.todos = todos
    case .insert(let todo): state.todos.insert(todo, at: 0)
    case .update(let todo): state.todos = state.todos.map { $0.id == todo.id ? todo : $0 }
    case .delete(let id): state.todos.removeAll { $0.id == id }
    }
    return state
  }
}

/// A cell, which only shows something.
class TodoCellReactor: Reactor {
  typealias Action = NoAction
  let initialState: Todo
  init(todo: Todo) { initialState = todo }
}

/// Pictures that are loaded one by one and shown together.
class GalleryReactor: Reactor {
  enum Action { case load([Int]) }
  enum Mutation {
    case setImages([String])
    case setProgress(Int)
  }
  struct State {
    var images: [String] = []
    var progress = 0
  }

  let initialState = State()
  private let image: (Int) -> Single<String>

  init(image: @escaping (Int) -> Single<String>) { self.image = image }

  func mutate(action: Action) -> Observable<Mutation> {
    let ids =
      switch action {
      case .load(let ids): ids
      }
    let images = Observable.from(ids).concatMap { [weak self] in self?.image($0) ?? .never() }.share()
    return .merge(
      images.enumerated().map { .setProgress($0.index + 1) },
      images.toArray().map { .setImages($0) }.asObservable())
  }

  func reduce(state: State, mutation: Mutation) -> State {
    var state = state
    switch mutation {
    case .setImages(let images): state.images = images
    case .setProgress(let progress): state.progress = progress
    }
    return state
  }
}
