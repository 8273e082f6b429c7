import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// An action has a queue of its own for the elements of streams: what it causes is reduced before the next one begins, however and from
/// wherever it was sent.
@Suite struct OwnQueueTests {
  enum Way: CaseIterable, Sendable {
    case send, trySend, deadline, contents, action

    func send<R: Reactor>(_ action: R.Action, to reactor: R) {
      switch self {
      case .send: reactor.send(action)
      case .trySend: #expect(throws: Never.self) { try reactor.trySend(action) }
      case .deadline:
        #expect(throws: Never.self) { try reactor.send(action, before: .now + .seconds(60)) }
      case .contents: reactor.send(contentsOf: [action])
      case .action: reactor.action.onNext(action)
      }
    }
  }

  enum Place: CaseIterable, Sendable {
    case topLevel, stream, observerOfState

    /// Calls `body` with 1 and then with 2.
    func callTwice(_ body: @escaping @Sendable (Int) -> Void) {
      let bag = DisposeBag()
      switch self {
      case .topLevel: for action in 1...2 { body(action) }
      case .stream: Observable.of(1, 2).subscribe(onNext: body).disposed(by: bag)
      case .observerOfState:
        let other = Script(on: .caller)
        other.state.subscribe(onNext: { state in if let last = state.last { body(last) } }).disposed(by: bag)
        for action in 1...2 { other.send(action) }
      }
    }
  }

  /// An action causes events of a stream, and each of these three mutations.
  private final class Merging: Reactor {
    typealias Action = Int
    typealias Mutation = String
    typealias State = Int

    let initialState = 0
    let log = Record<String>()
    private let events = PublishSubject<Int>()
    let runtime: Runtime<Int, String, Int>

    init(_ snapshots: SnapshotPolicy) { runtime = Runtime(snapshots: snapshots) }

    func transform(mutation: Observable<String>) -> Observable<String> {
      .merge(mutation, events.flatMap { Observable.of("\($0)a", "\($0)b", "\($0)c") })
    }

    func mutate(action: Int) -> Observable<String> {
      log.append("\(action)")
      events.onNext(action)
      return .empty()
    }

    func reduce(into state: inout Int, mutation: String) {
      log.append(mutation)
      state += 1
    }
  }

  @Test(arguments: Way.allCases, Place.allCases)
  func `what an action makes streams emit is reduced before the next action begins`(
    _ way: Way, _ place: Place
  ) {
    for snapshots in [SnapshotPolicy.copied, .onDemand] {
      for isObserved in [false, true] {
        let reactor = Merging(snapshots)
        let bag = DisposeBag()
        if isObserved { reactor.action.subscribe(onNext: { _ in }).disposed(by: bag) }
        place.callTwice { way.send($0, to: reactor) }
        #expect(
          reactor.log.elements == ["1", "1a", "1b", "1c", "2", "2a", "2b", "2c"],
          "\(snapshots), action \(isObserved ? "" : "not ")observed")
      }
    }
  }

  @Test(arguments: Way.allCases, Place.allCases)
  func `a stream that mutate subscribes to emits all its elements before mutate goes on`(
    _ way: Way, _ place: Place
  ) {
    for snapshots in [SnapshotPolicy.copied, .onDemand, .replayed] {
      for isObserved in [false, true] {
        let reactor = Script(
          on: .caller, snapshots: snapshots,
          mutate: { _, action in
            let elements = Record<Int>()
            let subscription = Observable.from([1, 2, 3, 4, 5, 6]).subscribe(onNext: { elements.append($0) })
            subscription.dispose()
            return .just(action * elements.elements.reduce(0, +))
          })
        let bag = DisposeBag()
        if isObserved { reactor.action.subscribe(onNext: { _ in }).disposed(by: bag) }
        place.callTwice { way.send($0, to: reactor) }
        #expect(
          reactor.currentState == [21, 42], "\(snapshots), action \(isObserved ? "" : "not ")observed")
      }
    }
  }
}
