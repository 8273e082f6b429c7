import TestSupport
import Testing

@testable import ReactorCore
@testable import ReactorRuntime

/// Tests of the policy `.replayed`: two states, to each of which every mutation is applied.
@Suite struct ReplayedTests {
  private static func script(
    on placement: Placement = .caller,
    mutate: @escaping Script.Mutate = { _, action in .just(action) },
    reduce: @escaping Script.Reduce = { _, state, mutation in state.append(mutation) }
  ) -> Script {
    Script(on: placement, snapshots: .replayed, mutate: mutate, reduce: reduce)
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `every action is in the state once, in order`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let reactor = Self.script(
      on: stage.placement,
      mutate: { reactor, action in
        if action % 3 == 0 { reactor.send(1000 + action) }
        return .of(action, -action)
      })
    for action in 1...100 { reactor.send(action) }
    #expect(stage.finish())
    let seen = reactor.currentState.filter { (1...100).contains($0) }
    #expect(seen == Array(1...100))
    #expect(reactor.currentState.count == 2 * 133)
    #expect(reactor.counters.copiedStates == 1)
  }

  /// The log of the mutations destroys them in the middle of a change.
  @Test func `a mutation may cause another one when it is destroyed`() {
    struct Mutation: Sendable {
      var number: Int
      var atEnd: TurnOfEnd?
    }
    final class TurnOfEnd: Sendable {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
      deinit { body() }
    }
    final class Reacting: Reactor {
      let initialState: [Int] = []
      let runtime = Runtime<Int, Mutation, [Int]>(on: .caller, snapshots: .replayed)
      private let caused = PublishSubject<Mutation>()
      func mutate(action: Int) -> Observable<Mutation> {
        if action == 0 { return caused.asObservable() }
        let caused = caused
        let atEnd = TurnOfEnd { caused.onNext(Mutation(number: -action)) }
        return .just(Mutation(number: action, atEnd: atEnd))
      }
      func reduce(into state: inout [Int], mutation: Mutation) { state.append(mutation.number) }
    }
    let reactor = Reacting()
    reactor.send(0)
    for round in 0..<20 { reactor.send(contentsOf: (1...16).map { round * 16 + $0 }) }
    // Three states, so that the log must keep more.
    reactor.withCurrentState { _ in
      for action in 321...640 { reactor.send(action) }
      reactor.withCurrentState { _ in for action in 641...960 { reactor.send(action) } }
    }
    for action in 961...1000 { reactor.send(action) }
    let state = reactor.currentState
    #expect(state.filter { $0 > 0 } == Array(1...1000))
    // After the turn in whose change they were caused.
    #expect(Array(state.prefix(32)) == Array(1...32))
    #expect(Set(state[32..<48]) == Set((1...16).map { -$0 }))
    // The other mutations are still in the log.
    let caused = state.filter { $0 < 0 }
    #expect(caused.count >= 300)
    #expect(Set(caused).count == caused.count)
  }

  @Test
  func `a collection of a million elements is changed in place`() {
    final class Large: Reactor {
      typealias Action = Int
      struct State: Sendable {
        var numbers = Array(repeating: 0, count: 1_000_000)
      }
      var initialState: State { State() }
      let runtime = Runtime<Int, Int, State>(on: .caller, snapshots: .replayed)
      func reduce(into state: inout State, mutation: Int) { state.numbers[mutation] += 1 }
    }
    let reactor = Large()
    let address = { @Sendable in
      reactor.withCurrentState { state in
        state.numbers.withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) }
      }
    }
    var addresses: Set<Int> = []
    let bag = DisposeBag()
    let seen = Record<Int>()
    for action in 0..<100 {
      // From here on each mutation is published, and followed by one in the other state.
      if action == 50 {
        reactor.state.map { $0.numbers[60] }.distinctUntilChanged().subscribe(onNext: { seen.append($0) })
          .disposed(by: bag)
      }
      reactor.send(action)
      #expect(reactor.withCurrentState { $0.numbers[action] } == 1)
      if action > 1 { addresses.insert(address()) }
    }
    #expect(addresses.count == 2)
    #expect(seen.elements == [0, 1])
    #expect(reactor.counters.copiedStates == 1)
  }

  @Test
  func `a reader in its body does not stop the owner, and sees no change`() {
    let reactor = Self.script()
    reactor.send(0)
    for round in 1...20 {
      reactor.withCurrentState { state in
        let before = state.count
        for action in 0..<5 { reactor.send(10 * round + action) }
        #expect(state.count == before)
        #expect(reactor.withCurrentState { $0.count } == before + 5)
        #expect(reactor.counters.heldStates == 1)
      }
    }
    #expect(reactor.withCurrentState { $0.count } == 101)
  }

  @Test
  func `reduce reads the state before the turn`() {
    let seen = Record<Int>()
    let reactor = Self.script(
      mutate: { _, action in .of(action, action, action) },
      reduce: { reactor, state, mutation in
        // A function of its arguments must not use it, but it is a whole state.
        seen.append(reactor.currentState.count)
        state.append(mutation)
      })
    for action in 1...3 { reactor.send(action) }
    // The second and the third turn begin with the three mutations of the one before.
    #expect(seen.elements == [0, 0, 0, 3, 3, 3, 3, 3, 3, 6, 6, 6, 6, 6, 6])
  }

  @Test
  func `states of transform(state) are shown, and mutations are reduced once`() {
    final class Transforming: Reactor {
      typealias Action = Int
      let initialState: [Int] = []
      let runtime = Runtime<Int, Int, [Int]>(on: .caller, snapshots: .replayed)
      let reduced = Record<Int>()
      func reduce(into state: inout [Int], mutation: Int) {
        reduced.append(mutation)
        state.append(mutation)
      }
      func transform(state: Observable<[Int]>) -> Observable<[Int]> { state.map { $0 + [-1] } }
    }
    let reactor = Transforming()
    for action in 1...5 {
      reactor.send(action)
      #expect(reactor.currentState == Array(1...action) + [-1])
    }
    #expect(reactor.reduced.elements == Array(1...5))
  }

  @Test
  func `a reduce that returns the state is called once for each mutation`() {
    let reactor = CurrentStateTests.Returning(on: .caller, .replayed)
    for action in 1...20 { reactor.send(action) }
    #expect(reactor.currentState == Array(1...20))
    #expect(reactor.seen.elements.count == 20)
    #expect(reactor.counters.copiedStates == 0)
  }

  @Test
  func `a stub, and what comes after it, do not disturb the states`() {
    let reactor = Self.script()
    for action in 1...3 { reactor.send(action) }
    reactor.isStubEnabled = true
    reactor.stub.state.value = [7]
    reactor.send(4)
    #expect(reactor.currentState == [7])
    reactor.isStubEnabled = false
    for action in 5...8 { reactor.send(action) }
    #expect(reactor.currentState == [1, 2, 3, 5, 6, 7, 8])
  }

  @Test
  func `what mutations and states refer to is released with the reactor`() {
    final class Holding: Reactor {
      typealias Action = LifetimeTracked
      let initialState: [LifetimeTracked] = []
      let runtime = Runtime<LifetimeTracked, LifetimeTracked, [LifetimeTracked]>(
        on: .caller, snapshots: .replayed)
      func reduce(into state: inout [LifetimeTracked], mutation: LifetimeTracked) {
        state.append(mutation)
        if state.count > 4 { state.removeFirst() }
      }
    }
    let lifetimes = Lifetimes()
    do {
      let reactor = Holding()
      for number in 0..<100 {
        reactor.send(lifetimes.track(number))
        // Both states, which have four each, three of them the same ones.
        #expect(lifetimes.alive <= 5)
      }
      reactor.close()
      #expect(reactor.waitUntilEnded(before: .now + .seconds(patience)))
      #expect(reactor.currentState.map(\.value) == [96, 97, 98, 99])
    }
    #expect(lifetimes.alive == 0)
  }

  #if DEBUG
    /// A reactor whose `reduce` uses something else than its arguments in every `period`th call.
    final class Impure<Name>: Reactor {
      typealias Action = Int
      let initialState = 0
      let runtime = Runtime<Int, Int, Int>(on: .caller, snapshots: .replayed)
      let calls = Record<Int>()
      let period: Int
      init(period: Int) { self.period = period }
      func reduce(into state: inout Int, mutation: Int) {
        calls.append(mutation)
        state += calls.elements.count % period == 0 ? 1 : mutation
      }
    }

    @Test func `a reduce that is not a function causes a warning`() {
      enum Sometimes {}
      let hooked = HookedWarnings(about: Impure<Sometimes>.self)
      let reactor = Impure<Sometimes>(period: 3)
      for action in 10..<20 { reactor.send(action) }
      #expect(hooked.kinds == [.impureReduce])
      let warning = hooked.warnings.first
      #expect(warning?.description.contains("Problem: reduce of ") == true)
      #expect(warning?.likelyCause.contains("a clock, a random number") == true)
      #expect(warning?.remedy.contains("pass it on in the mutation") == true)
    }

    @Test func `a reduce that is a function causes no warning`() {
      enum Never {}
      let hooked = HookedWarnings(about: Impure<Never>.self)
      let reactor = Impure<Never>(period: .max)
      for action in 10..<200 { reactor.send(action) }
      #expect(hooked.kinds == [])
      #expect(reactor.calls.elements.count == 2 * 190 - 1)
    }

    @Test func `a state that is not equal to itself causes no warning`() {
      final class Nowhere: Reactor {
        typealias Action = Double
        let initialState = 0.0
        let runtime = Runtime<Double, Double, Double>(on: .caller, snapshots: .replayed)
        func reduce(into state: inout Double, mutation: Double) { state = mutation }
      }
      let hooked = HookedWarnings(about: Nowhere.self)
      let reactor = Nowhere()
      for _ in 0..<10 { reactor.send(.nan) }
      #expect(hooked.kinds == [])
    }

    @Test func `states are compared at the first replays, and then at every thousandth`() {
      var watch = ReplayWatch()
      let due = (1...4096).filter { _ in watch.countReplay() }
      #expect(due == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3072, 4096])
    }
  #endif
}
