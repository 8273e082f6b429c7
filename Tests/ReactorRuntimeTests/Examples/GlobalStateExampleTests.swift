import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// Global states, and reactors that send to each other, as in ReactorKit's README.
@Suite struct GlobalStateExampleTests {
  struct User: Sendable, Equatable { var name: String }

  final class Service: Sendable {
    let currentUser = BehaviorSubject<User?>(value: nil)
  }

  final class GreetingReactor: ReactorKitReactor {
    enum Action { case rename(String) }
    enum Mutation { case setUser(User?) }
    struct State { var greetings: [String] = [] }
    let initialState = State()
    private let service: Service

    init(service: Service) { self.service = service }

    func transform(mutation: Observable<Mutation>) -> Observable<Mutation> {
      Observable.merge(mutation, service.currentUser.map(Mutation.setUser))
    }

    func mutate(action: Action) -> Observable<Mutation> {
      switch action {
      case .rename(let name):
        // Becomes a mutation of this reactor and of every other.
        service.currentUser.onNext(User(name: name))
        return .empty()
      }
    }

    func reduce(state: State, mutation: Mutation) -> State {
      var state = state
      switch mutation {
      case .setUser(let user): state.greetings.append("hello \(user?.name ?? "you")")
      }
      return state
    }
  }

  @Test func `a global state becomes a mutation of every reactor`() {
    let service = Service()
    let (first, second) = (GreetingReactor(service: service), GreetingReactor(service: service))
    for reactor in [first, second] {
      _ = reactor.state
      #expect(reactor.currentState.greetings == ["hello you"])
    }
    service.currentUser.onNext(User(name: "ann"))
    first.action.onNext(.rename("bob"))
    for reactor in [first, second] {
      #expect(reactor.currentState.greetings == ["hello you", "hello ann", "hello bob"])
    }
  }

  @Test func `the end of a global state does not affect the reactors`() {
    let service = Service()
    let reactor = GreetingReactor(service: service)
    _ = reactor.state
    service.currentUser.onCompleted()
    #expect(!reactor.isClosed)
    reactor.action.onNext(.rename("not heard"))
    #expect(reactor.currentState.greetings == ["hello you"])
  }

  /// Sends each number, decremented by one, to the next reactor.
  final class Relay: ReactorKitReactor {
    typealias Action = Int
    typealias Mutation = Int
    let initialState: [Int] = []
    let next = PublishSubject<Int>()

    func mutate(action: Int) -> Observable<Int> { .just(action) }

    func reduce(state: [Int], mutation: Int) -> [Int] { state + [mutation] }

    func transform(mutation: Observable<Int>) -> Observable<Int> {
      mutation.do(onNext: { [next] number in if number > 0 { next.onNext(number - 1) } })
    }
  }

  @Test func `reactors in a ring that send to each other from several threads do not deadlock`() {
    let count = 5
    let relays = (0..<count).map { _ in Relay() }
    let disposeBag = DisposeBag()
    for (relay, next) in zip(relays, relays[1...] + relays[..<1]) {
      relay.next.bind(to: next.action).disposed(by: disposeBag)
    }
    #expect(Threads.run(4) { thread in for _ in 0..<25 { relays[thread].action.onNext(20) } })
    #expect(Threads.yield { relays.map(\.currentState.count).reduce(0, +) == 4 * 25 * 21 })
  }
}
