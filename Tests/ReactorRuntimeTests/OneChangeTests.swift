import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Sends to an idle reactor on ``Placement/caller`` whose turns make one change, and what may come between.
@Suite struct OneChangeTests {
  /// A state that is copied, with closures for what comes between.
  private final class Sums: Reactor {
    struct State: Sendable, Equatable {
      var count = 0
      var sum = 0
    }

    let initialState = State()
    let runtime = Runtime<Int, Int, State>(on: .caller)
    let onMutate: @Sendable (Sums, Int) -> Observable<Int>
    let onReduce: @Sendable (Sums, Int) -> Void

    init(
      mutate: @escaping @Sendable (Sums, Int) -> Observable<Int> = { _, action in .just(action) },
      reduce: @escaping @Sendable (Sums, Int) -> Void = { _, _ in }
    ) {
      (onMutate, onReduce) = (mutate, reduce)
    }

    func mutate(action: Int) -> Observable<Int> { onMutate(self, action) }

    func reduce(into state: inout State, mutation: Int) {
      state.count += 1
      state.sum += mutation
      onReduce(self, mutation)
    }
  }

  /// A state that is changed where it is read.
  private final class TurnEnds: TurnObserving {
    let initialState: [Int] = []
    let runtime = Runtime<Int, Int, [Int]>(on: .caller)
    let ends = Record<[Int]>()

    func reduce(into state: inout [Int], mutation: Int) { state.append(mutation) }
    func turnEnded(_ state: borrowing [Int]) { ends.append(copy state) }
  }

  /// The same of a state that is copied.
  private final class SmallTurnEnds: TurnObserving {
    let initialState = 0
    let runtime = Runtime<Int, Int, Int>(on: .caller)
    let ends = Record<[Int]>()

    func reduce(into state: inout Int, mutation: Int) { state += mutation }
    func turnEnded(_ state: borrowing Int) { ends.append([copy state, currentState]) }
  }

  @Test
  func `reduce reads the state before the turn if it is copied`() {
    let seen = Record<Int>()
    let reactor = Sums(reduce: { reactor, _ in seen.append(reactor.currentState.count) })
    for action in 1...6 { reactor.send(action) }
    #expect(seen.elements == [0, 1, 2, 3, 4, 5])
    #expect(reactor.currentState == Sums.State(count: 6, sum: 21))
  }

  /// A state that is reduced by value, and copied.
  private final class ByValue: ReactorKitReactor {
    let initialState = 0
    let runtime = Runtime<Int, Int, Int>(on: .caller)
    let seen = Record<Int>()

    func reduce(state: Int, mutation: Int) -> Int {
      seen.append(currentState)
      return state + mutation
    }
  }

  @Test
  func `reduce by value reads the state before it too`() {
    let reactor = ByValue()
    for action in 1...5 { reactor.send(action) }
    #expect(reactor.seen.elements == [0, 1, 3, 6, 10])
    #expect(reactor.currentState == 15)
  }

  @Test
  func `reading its own state inside of reduce in place stops the program in a later send too`() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let reactor = Script(
        on: .caller,
        reduce: { reactor, state, mutation in
          state.append(mutation == 3 ? reactor.currentState.count : mutation)
        })
      for action in 1...3 { reactor.send(action) }
    }
    #expect(stop?.standardErrorContent.says("reads the state of its own reactor") == true)
  }

  @Test
  func `an event inside of mutate changes the state before the mutation of that action`() {
    let elements = PublishSubject<Int>()
    let reactor = Sums(mutate: { _, action in
      if action == 0 { return elements.asObservable() }
      elements.onNext(action * 100)
      return .just(action)
    })
    let seen = Record<Int>()
    let lists = Script(
      on: .caller,
      mutate: { _, action in
        if action == 0 { return elements.asObservable() }
        elements.onNext(action * 100)
        return .just(action)
      })
    for action in 0...4 {
      reactor.send(action)
      seen.append(reactor.currentState.sum)
    }
    #expect(seen.elements == [0, 101, 303, 606, 1010])
    #expect(reactor.currentState.count == 8)
    for action in 0...4 { lists.send(action) }
    #expect(lists.currentState == [100, 1, 200, 2, 300, 3, 400, 4])
  }

  @Test
  func `mutate that subscribes to the state gets the states from then on`() {
    let states = Record<Int>()
    let bag = DisposeBag()
    let reactor = Sums(mutate: { reactor, action in
      if action == 3 { reactor.state.map(\.count).subscribe { states.append($0) }.disposed(by: bag) }
      return .just(action)
    })
    for action in 1...5 { reactor.send(action) }
    #expect(states.elements == [2, 3, 4, 5])
    #expect(reactor.currentState == Sums.State(count: 5, sum: 15))
  }

  @Test
  func `a state that is read is not changed`() {
    let reactor = Sums()
    for action in 1...4 { reactor.send(action) }
    reactor.withCurrentState { state in
      for step in 1...4 {
        reactor.send(0)
        #expect(reactor.currentState.count == 4 + step)
        #expect(state.count == 4)
      }
    }
    #expect(reactor.currentState == Sums.State(count: 8, sum: 10))
  }

  @Test
  func `reduce that sends to its own reactor gets that action after this one`() {
    let reactor = Sums(reduce: { reactor, mutation in if mutation > 0 { reactor.send(mutation - 1) } })
    reactor.send(0)
    for action in [3, 2, 3] { reactor.send(action) }
    #expect(reactor.currentState == Sums.State(count: 1 + 4 + 3 + 4, sum: 6 + 3 + 6))
    let lists = Script(
      on: .caller,
      reduce: { reactor, state, mutation in
        state.append(mutation)
        if mutation > 0 { reactor.send(mutation - 1) }
      })
    for action in [0, 2, 1] { lists.send(action) }
    #expect(lists.currentState == [0, 2, 1, 0, 1, 0])
  }

  @Test
  func `the end of each turn sees its state`() {
    let (reactor, small) = (TurnEnds(), SmallTurnEnds())
    for action in 1...4 {
      reactor.send(action)
      small.send(action)
      #expect(small.currentState == (1...action).reduce(0, +))
    }
    #expect(reactor.ends.elements == [[1], [1, 2], [1, 2, 3], [1, 2, 3, 4]])
    #expect(small.ends.elements == [[1, 1], [3, 3], [6, 6], [10, 10]])
  }

  /// Does something when the last mutation with it is destroyed.
  private final class Farewell: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    deinit { body() }
  }

  private struct Parting: Sendable {
    var number: Int
    var farewell: Farewell?
  }

  private final class Partings<State: Sendable>: Reactor {
    let initialState: State
    let runtime = Runtime<Int, Parting, State>(on: .caller)
    let onMutate: @Sendable (Partings, Int) -> Observable<Parting>
    let add: @Sendable (inout State, Int) -> Void

    init(
      _ initial: State, add: @escaping @Sendable (inout State, Int) -> Void,
      mutate: @escaping @Sendable (Partings, Int) -> Observable<Parting>
    ) {
      (initialState, self.add, onMutate) = (initial, add, mutate)
    }

    func mutate(action: Int) -> Observable<Parting> { onMutate(self, action) }
    func reduce(into state: inout State, mutation: Parting) { add(&state, mutation.number) }
  }

  /// Actions with references that are the mutations, and a state that is copied.
  private final class Named: Reactor {
    struct Entry: Sendable {
      var name: String
      var number: Int
    }

    let initialState = 0
    let runtime = Runtime<Entry, Entry, Int>(on: .caller)
    let seen = Record<String>()

    func reduce(into state: inout Int, mutation: Entry) {
      state += mutation.number
      seen.append("\(mutation.name) \(currentState)")
    }
  }

  @Test
  func `an action with references that is the mutation changes a copied state`() {
    let reactor = Named()
    for number in 1...4 { reactor.send(.init(name: "a name that is long enough \(number)", number: number)) }
    let sums = [0, 1, 3, 6]
    #expect(reactor.seen.elements == (0..<4).map { "a name that is long enough \($0 + 1) \(sums[$0])" })
    #expect(reactor.currentState == 10)
    reactor.withCurrentState { state in
      for number in 1...3 { reactor.send(.init(name: "read", number: number)) }
      #expect(state == 10)
    }
    #expect(reactor.currentState == 16)
  }

  /// A wider state, reduced by value.
  private final class Wide: ReactorKitReactor {
    let initialState = (0, 0, 0, 0, 0, 0, 0)
    let runtime = Runtime<Int, Int, (Int, Int, Int, Int, Int, Int, Int)>(on: .caller)
    let seen = Record<Int>()

    func reduce(state: State, mutation: Int) -> State {
      var state = state
      state.6 += mutation
      seen.append(currentState.6)
      state.0 += 1
      return state
    }
  }

  @Test
  func `reduce by value changes a wider state`() {
    let reactor = Wide()
    for action in 1...5 { reactor.send(action) }
    #expect(reactor.seen.elements == [0, 1, 3, 6, 10])
    #expect((reactor.currentState.0, reactor.currentState.6) == (5, 15))
  }

  @Test
  func `mutate that closes its reactor is still reduced`() async {
    for discards in [false, true] {
      let reactor = Sums(mutate: { reactor, action in
        if action == 4 { reactor.close(discards ? .discard : .drain) }
        return .just(action)
      })
      for action in 1...3 { reactor.send(action) }
      reactor.send(4)
      #expect(reactor.currentState == Sums.State(count: 4, sum: 10))
      #expect(throws: SendError.closed) { try reactor.trySend(5) }
      await reactor.waitUntilEnded()
      #expect(reactor.currentState.sum == 10)
    }
  }

  @Test
  func `what the end of a mutation emits is reduced and shown in its turn`() {
    checkEnds(0, { $0 += $1 }, { $0 })
    checkEnds([], { $0.append($1) }, { $0.reduce(0, +) })
  }

  private func checkEnds<State: Sendable>(
    _ initial: State, _ add: @escaping @Sendable (inout State, Int) -> Void,
    _ sum: @escaping @Sendable (State) -> Int
  ) {
    let elements = PublishSubject<Parting>()
    let seen = Record<Int>()
    let reactor = Partings(initial, add: add) { reactor, action in
      if action == 0 { return elements.asObservable() }
      return .just(
        Parting(
          number: action,
          farewell: Farewell { [weak reactor] in
            if let reactor { seen.append(sum(reactor.currentState)) }
            elements.onNext(Parting(number: 100))
            if let reactor { seen.append(sum(reactor.currentState)) }
          }))
    }
    reactor.send(0)
    var expected = 0
    for action in 1...5 {
      reactor.send(action)
      #expect(seen.elements.suffix(2) == [expected + action, expected + action + 100])
      expected += action + 100
      #expect(sum(reactor.currentState) == expected)
      // As another thread sees it.
      let shown = Record<Int>()
      DedicatedThread(named: "reader") { shown.append(sum(reactor.currentState)) }.join()
      #expect(shown.elements == [expected])
    }
  }

  @Test
  func `mutations of any number follow each other`() {
    let reactor = Sums(mutate: { _, action in
      switch action % 4 {
      case 0: .empty()
      case 1: .just(action)
      case 2: .of(action, action)
      default: .of(action, action).startWith(action)
      }
    })
    for action in 0..<12 { reactor.send(action) }
    #expect(reactor.currentState == Sums.State(count: 18, sum: 15 + 2 * 18 + 3 * 21))
    #expect(reactor.runtime.counters.processed == 12)
  }
}
