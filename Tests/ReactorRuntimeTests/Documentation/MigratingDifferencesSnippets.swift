import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

// The code of the article "Migrating from ReactorKit" about what differs. Keep both in step.

@Suite struct MigratingDifferencesSnippets {
  /// Counts with ReactorKit's reduce, and sends itself an action while it processes another.
  private final class Steps: ReactorKitReactor {
    typealias Action = Int
    let initialState: [Int] = []

    func mutate(action: Int) -> Observable<Int> {
      if action == 1 { self.action.onNext(100) }
      return .of(action, action + 1, action + 2)
    }

    func reduce(state: [Int], mutation: Int) -> [Int] { state + [mutation] }
  }

  @Test func `the running action ends before the next begins`() {
    let steps = Steps()
    steps.action.onNext(1)
    #expect(steps.currentState == [1, 2, 3, 100, 101, 102])
  }

  private final class Merging: ReactorKitReactor {
    typealias Action = Void
    typealias Mutation = String
    let initialState: [String] = []

    func mutate(action: Void) -> Observable<String> { .merge(.of("a1", "a2"), .of("a3", "a4")) }

    func reduce(state: [String], mutation: String) -> [String] { state + [mutation] }
  }

  @Test func `streams of several elements take turns`() {
    let reactor = Merging()
    reactor.action.onNext(())
    #expect(reactor.currentState == ["a1", "a3", "a2", "a4"])
  }

  private final class Watching: ReactorKitReactor {
    typealias Action = Int
    let initialState = 0
    let seen = Record<Int>()
    let bag = DisposeBag()

    func transform(action: Observable<Int>) -> Observable<Int> {
      state.subscribe(onNext: { [seen] in seen.append($0) }).disposed(by: bag)
      return action
    }

    func reduce(into state: inout Int, mutation: Int) { state += mutation }
  }

  @Test func `a transform may subscribe to the state`() {
    let reactor = Watching()
    reactor.action.onNext(5)
    #expect(reactor.seen.elements == [0, 5])
  }

  private final class Ended: Reactor {
    typealias Action = Int
    let initialState = 0
    let runtime: Runtime<Int, Int, Int>

    init(onFailure: @escaping @Sendable (Failure) -> Void) { runtime = Runtime(onFailure: onFailure) }

    func transform(action: Observable<Int>) -> Observable<Int> { action.take(1) }

    func reduce(into state: inout Int, mutation: Int) { state += mutation }
  }

  @MainActor private final class Label {
    var text = ""
    private let bag = DisposeBag()

    func bind(_ reactor: Steps) {
      reactor.state
        .map { "\($0.count) steps" }
        .observe(on: MainScheduler.instance)
        // `self` is on the main actor, and so is the closure.
        .subscribe(onNext: { [weak self] in self?.text = $0 })
        .disposed(by: bag)
    }
  }

  @Test @MainActor func `a view on the main actor is changed by closures on the main actor`() async {
    let label = Label()
    let steps = Steps()
    label.bind(steps)
    let isSent = Threads.start { steps.action.onNext(1) }
    #expect(await eventually { label.text == "6 steps" })
    #expect(isSent.wait())
    let texts = Record<String>()
    _ = Observable.just("bound").observe(on: MainScheduler.instance)
      .bind(with: label) { label, text in texts.append(label.text + text) }
    #expect(await eventually { texts.elements == ["6 stepsbound"] })
  }

  @Test func `a transform that ends closes the reactor and is reported`() {
    let failures = FailureRecorder()
    let reactor = Ended(onFailure: failures.handler)
    let isOver = Record<Bool>()
    reactor.state.subscribe(onCompleted: { isOver.append(true) })
    reactor.action.onNext(5)
    #expect(isOver.elements == [true])
    reactor.action.onNext(6)
    #expect(reactor.isClosed)
    #expect(reactor.currentState == 5)
    #expect(Recorder(reactor.state).elements == [5])
    #expect(failures.failures.count == 2)
    #expect(failures.failures.last?.sendError == .closed)
  }
}
