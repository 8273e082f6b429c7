import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests of `withCurrentState`, which passes the state of `currentState` without a copy.
@Suite struct WithCurrentStateTests {
  @Test(arguments: [SnapshotPolicy.copied, .onDemand, .replayed])
  func `withCurrentState passes the same state as currentState`(_ snapshots: SnapshotPolicy) throws {
    let reactor = Script(on: .caller, snapshots: snapshots)
    // Before the first action, this is initialState.
    #expect(reactor.withCurrentState { $0.count } == 0)
    for index in 1...50 {
      reactor.send(index)
      #expect(reactor.withCurrentState { $0.last } == index)
    }
    let seen = Record<Int>()
    #expect(Threads.run(1) { _ in seen.append(reactor.withCurrentState { $0.count }) })
    #expect(seen.elements == [50])
  }

  @Test(arguments: [SnapshotPolicy.copied, .onDemand, .replayed])
  func `an error of the body is rethrown, and the read is ended`(_ snapshots: SnapshotPolicy) throws {
    struct Refusal: Error, Equatable { let count: Int }
    let reactor = Script(on: .caller, snapshots: snapshots)
    for index in 1...20 {
      reactor.send(index)
      #expect(throws: Refusal(count: index)) {
        try reactor.withCurrentState { (state) throws(Refusal) in throw Refusal(count: state.count) }
      }
    }
    #expect(reactor.currentState.count == 20)
  }

  @Test
  func `actions that the body sends do not change the state that it reads`() throws {
    let reactor = Script(on: .caller, snapshots: .copied)
    reactor.send(0)
    for round in 1...20 {
      reactor.withCurrentState { state in
        reactor.send(round)
        #expect(state.count == round)
        #expect(reactor.currentState.count == round + 1)
        #expect(reactor.withCurrentState { $0.count } == round + 1)
      }
    }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `inside a turn the owner reads its own state`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let inMutate = Record<Int>()
    let inReduce = Record<Bool>()
    let reactor = Script(
      on: stage.placement, snapshots: .copied,
      mutate: { reactor, action in
        inMutate.append(reactor.withCurrentState { $0.count })
        return .of(action, action)
      },
      reduce: { reactor, state, mutation in
        let count = state.count
        inReduce.append(reactor.withCurrentState { $0.count <= count && $0.count % 2 == 0 })
        state.append(mutation)
      })
    for action in 1...3 { reactor.send(action) }
    #expect(stage.finish())
    #expect(inMutate.elements == [0, 2, 4])
    #expect(inReduce.elements == Array(repeating: true, count: 6))
  }

  /// A reactor whose transforms merge in `mutations` and `states`.
  final class Merging: Reactor {
    typealias Action = Int
    let initialState: [Int] = [0]
    let runtime = Runtime<Int, Int, [Int]>(on: .caller)
    let mutations = PublishSubject<Int>()
    let states = PublishSubject<[Int]>()
    let mergesStates: Bool
    let inMutate: @Sendable (Merging, Int) -> Void
    init(mergesStates: Bool, inMutate: @escaping @Sendable (Merging, Int) -> Void) {
      self.mergesStates = mergesStates
      self.inMutate = inMutate
    }
    func mutate(action: Int) -> Observable<Int> {
      inMutate(self, action)
      return .just(action)
    }
    func reduce(into state: inout [Int], mutation: Int) { state.append(mutation) }
    func transform(mutation: Observable<Int>) -> Observable<Int> {
      .merge(mutation, mutations.asObservable())
    }
    func transform(state: Observable<[Int]>) -> Observable<[Int]> {
      mergesStates ? .merge(state, states.asObservable()) : state
    }
  }

  @Test(arguments: [false, true])
  func `an element that is emitted inside the body is processed after the body`(_ isState: Bool) throws {
    let seen = Record<[Int]>()
    let reactor = Merging(mergesStates: isState) { reactor, action in
      // This is the second action of a turn, when the owner changes a slot in place.
      if action == 1 { return reactor.send(2) }
      reactor.withCurrentState { state in
        if isState { reactor.states.onNext([8]) } else { reactor.mutations.onNext(8) }
        seen.append(copy state)
        // Without optimisation the compiler passes a copy, so read the state itself as well.
        seen.append(reactor.currentState)
      }
    }
    reactor.send(1)
    #expect(seen.elements == [[0, 1], [0, 1]])
    // The elements are in the order in which the merged stream emitted them.
    #expect(reactor.currentState == (isState ? [0, 1, 2] : [0, 1, 8, 2]))
  }

  @Test
  func `withCurrentState passes the state of an enabled stub`() throws {
    let reactor = Script(on: .caller)
    reactor.isStubEnabled = true
    reactor.stub.state.value = [4]
    #expect(reactor.withCurrentState { $0 } == [4])
  }
}
