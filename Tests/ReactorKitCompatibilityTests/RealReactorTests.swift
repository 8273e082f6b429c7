import ReactorKitCompatibility
import TestSupport
import Testing

/// Reactors of the kinds that apps contain. Their states are those that ReactorKit gives with RxSwift.
@Suite struct RealReactorTests {
  private let bag = DisposeBag()

  /// Records what `text` returns for each state, from the first one on.
  private func record<R: Reactor>(
    _ reactor: R, _ text: @escaping @Sendable (R.State) -> String
  ) -> Record<String> {
    let states = Record<String>()
    reactor.state.map(text).subscribe(onNext: { states.append($0) }).disposed(by: bag)
    return states
  }

  @Test func `search: a newer query cancels the older request, and pages are appended`() {
    let answers = (0..<3).map { _ in PublishSubject<Page>() }
    let asked = Record<String>()
    let reactor = SearchReactor { query, page in
      asked.append("\(query) \(page)")
      return answers[asked.elements.count - 1].asSingle()
    }
    let states = record(reactor) { "\($0.query) \($0.items.joined()) \($0.isLoading)" }
    func answer(_ number: Int, _ items: [String], next: Int?) {
      answers[number].onNext(Page(items: items, next: next))
      answers[number].onCompleted()
    }
    reactor.action.onNext(.search("a"))
    reactor.action.onNext(.search("b"))
    answer(0, ["old"], next: nil)
    answer(1, ["1", "2"], next: 7)
    reactor.action.onNext(.loadMore)
    reactor.action.onNext(.loadMore)
    answer(2, ["3"], next: nil)
    reactor.action.onNext(.loadMore)
    #expect(asked.elements == ["a 0", "b 0", "b 7"])
    #expect(
      states.elements == [
        "  false", "a  false", "a  true", "a  false", "b  false", "b  true", "b 12 true", "b 12 false",
        "b 12 true", "b 123 true", "b 123 false",
      ])
  }

  @Test func `task list: what the service tells reaches the state before the action's own mutations`() {
    let service = TodoService()
    let reactor = TodoListReactor(service: service)
    let states = record(reactor) { state in
      state.todos.map { $0.title + ($0.isDone ? "!" : "") }.joined(separator: " ")
    }
    reactor.action.onNext(.refresh)
    reactor.action.onNext(.create("bread"))
    reactor.action.onNext(.toggle(1))
    service.events.onNext(.deleted(id: 2))
    #expect(states.elements == ["", "milk", "bread milk", "bread milk!", "milk!"])
  }

  @Test func `cell: a reactor without actions shows its state`() {
    let cell = TodoCellReactor(todo: Todo(id: 3, title: "tea"))
    #expect(record(cell) { $0.title }.elements == ["tea"])
    #expect(cell.currentState == Todo(id: 3, title: "tea"))
  }

  @Test func `gallery: pictures are loaded in order, and shown together`() {
    let pictures = (0..<2).map { _ in PublishSubject<String>() }
    let reactor = GalleryReactor { pictures[$0].asSingle() }
    let states = record(reactor) { "\($0.progress) \($0.images.joined())" }
    reactor.action.onNext(.load([0, 1]))
    pictures[1].onNext("early, before its turn")
    for (number, picture) in pictures.enumerated() {
      picture.onNext("p\(number)")
      picture.onCompleted()
    }
    #expect(states.elements == ["0 ", "1 ", "2 ", "2 p0p1"])
  }

  @Test func `login: the answer is a single, and its failure is a state`() {
    let reactor = LoginReactor { name, password in
      .create { single in
        single(password == "right" ? .success("user \(name)") : .failure(LoginError.wrongPassword))
        return Disposables.create()
      }
    }
    let states = record(reactor) { "\($0.isLoading) \($0.user ?? "-") \($0.error ?? "-")" }
    let alerts = Record<String>()
    reactor.pulse(\.$error).filterNil().subscribe(onNext: { alerts.append($0) }).disposed(by: bag)
    reactor.action.onNext(.setName("ann"))
    for password in ["wrong", "wrong", "right"] { reactor.action.onNext(.login(password: password)) }
    #expect(
      states.elements == [
        "false - -", "false - -", "true - -", "true - wrongPassword", "false - wrongPassword",
        "true - wrongPassword", "true - wrongPassword", "false - wrongPassword", "true - wrongPassword",
        "true user ann wrongPassword", "false user ann wrongPassword",
      ])
    #expect(alerts.elements == ["wrongPassword", "wrongPassword"])
  }

  @Test func `flow: the steps of a relay are in the order of the actions`() {
    let reactor = FlowReactor()
    let steps = Record<Step>()
    reactor.steps.subscribe(onNext: { steps.append($0) }).disposed(by: bag)
    Observable.of(.pick(3), .close).bind(to: reactor.action).disposed(by: bag)
    #expect(steps.elements == [.profile(id: 3), .done])
  }

  @Test func `profile: the state is transformed, and saving is a completable`() {
    let mayStore = BehaviorRelay(value: false)
    let stored = Record<String>()
    let reactor = ProfileReactor { name in
      .deferred {
        stored.append(name)
        return mayStore.value ? .empty() : .error(LoginError.wrongPassword)
      }
    }
    let states = record(reactor) { "\($0.isValid) \($0.note)" }
    reactor.action.onNext(.save)
    reactor.action.onNext(.setName("bob"))
    reactor.action.onNext(.setAge("x"))
    reactor.action.onNext(.setAge("7"))
    reactor.action.onNext(.save)
    mayStore.accept(true)
    reactor.action.onNext(.save)
    #expect(stored.elements == ["bob", "bob"])
    #expect(
      states.elements == [
        "false ", "false failed", "false failed", "false failed", "true failed", "true failed", "true saved",
      ])
  }

  @Test func `settings: screens see what others change`() {
    let settings = Settings()
    let screens = (0..<2).map { _ in SettingsReactor(settings: settings) }
    let states = screens.map { record($0) { $0.theme } }
    screens[0].action.onNext(.toggleTheme)
    screens[1].action.onNext(.toggleTheme)
    // The subject of the actions does not keep its reactor alive.
    withExtendedLifetime(screens) {}
    #expect(states.map(\.elements) == [["light", "dark", "light"], ["light", "dark", "light"]])
  }

  @Test func `dashboard: two requests make one state`() {
    let (user, count) = (PublishSubject<String>(), PublishSubject<Int>())
    let reactor = DashboardReactor(user: user.asSingle(), count: count.asSingle())
    let states = record(reactor) { "\($0.isRefreshing) \($0.text ?? "-")" }
    reactor.action.onNext(.refresh)
    count.onNext(3)
    count.onCompleted()
    user.onNext("eve")
    user.onCompleted()
    #expect(states.elements == ["false -", "true -", "true eve: 3", "false eve: 3"])
    let failing = DashboardReactor(user: .error(LoginError.wrongPassword), count: .never())
    let others = record(failing) { "\($0.isRefreshing)" }
    failing.action.onNext(.refresh)
    #expect(others.elements == ["false", "true", "false"])
  }

  @Test func `stopwatch: ticks end with the action that stops them`() {
    let clock = PublishSubject<Void>()
    let reactor = StopwatchReactor(clock: clock.asObservable())
    let states = record(reactor) { "\($0.isRunning) \($0.ticks)" }
    clock.onNext(())
    reactor.action.onNext(.start)
    clock.onNext(())
    clock.onNext(())
    reactor.action.onNext(.stop)
    clock.onNext(())
    reactor.action.onNext(.start)
    clock.onNext(())
    #expect(states.elements == ["false 0", "true 0", "true 1", "true 2", "false 2", "true 2", "true 3"])
  }

  @Test func `chat: messages are sent one by one, and a lost connection is made again`() {
    let lines = (0..<2).map { _ in PublishSubject<String>() }
    let attempts = Record<Int>()
    let reconnect = PublishRelay<Void>()
    let deliveries = Record<Single<String>.SingleObserver>()
    let reactor = ChatReactor(
      connection: .deferred {
        attempts.append(1)
        return lines[attempts.elements.count - 1].asObservable()
      }, reconnect: reconnect.asObservable(),
      deliver: { text in
        Single.create { single in
          deliveries.append(single)
          return Disposables.create()
        }.map { (answer: String) in text + answer }
      })
    let states = record(reactor) { $0.joined(separator: " ") }
    reactor.action.onNext(.connect)
    lines[0].onNext("hi")
    lines[0].onError(LoginError.wrongPassword)
    reactor.action.onNext(.send("a"))
    reactor.action.onNext(.send("b"))
    #expect(deliveries.elements.count == 1)
    deliveries.elements[0](.success("+"))
    deliveries.elements[1](.failure(LoginError.wrongPassword))
    reconnect.accept(())
    lines[1].onNext("again")
    #expect(states.elements == ["", "hi", "hi a+", "hi a+ (not sent)", "hi a+ (not sent) again"])
  }

  @Test func `cart: a price that changes and quantities make totals`() {
    let price = BehaviorSubject(value: 10)
    let reactor = CartReactor(price: price.asObservable())
    let states = record(reactor) { "\($0.total)" }
    let alerts = Record<String>()
    reactor.pulse(\.$alert).compactMap { $0 }.subscribe(onNext: { alerts.append($0) }).disposed(by: bag)
    reactor.action.onNext(.add(2))
    price.onNext(10)
    price.onNext(20)
    reactor.action.onNext(.checkout)
    reactor.action.onNext(.checkout)
    #expect(states.elements == ["0", "20", "40", "40", "40"])
    #expect(alerts.elements == ["pay 40", "pay 40"])
  }

  @Test func `upload: two files at a time, until all are finished or it is cancelled`() {
    let transfers = ["a": PublishSubject<Int>(), "b": PublishSubject<Int>(), "c": PublishSubject<Int>()]
    let reactor = UploadReactor { transfers[$0]!.asObservable() }
    let states = record(reactor) { state in
      state.progress.sorted { $0.key < $1.key }.map { "\($0.key)\($0.value)" }.joined()
        + (state.isFinished ? "." : "")
    }
    reactor.action.onNext(.upload(["a", "b", "c"]))
    transfers["c"]?.onNext(1)
    transfers["b"]?.onNext(50)
    transfers["b"]?.onCompleted()
    transfers["c"]?.onNext(2)
    reactor.action.onNext(.cancel)
    transfers["a"]?.onNext(99)
    #expect(states.elements == ["", "b50", "b50c2", "b50c2."])
  }
}
