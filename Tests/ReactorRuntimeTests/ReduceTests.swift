import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests of the methods that a reactor implements, from an action to the state.
@Suite struct ReduceTests {
  /// A reactor with ReactorKit's form of reduce, which returns the state.
  final class Returning: ReactorKitReactor {
    enum Action { case increase, decrease }
    enum Mutation { case add(Int) }
    struct State: Equatable { var value = 10 }
    let initialState = State()
    let runtime: Runtime<Action, Mutation, State>
    init(on placement: Placement) { runtime = Runtime(on: placement) }
    func mutate(action: Action) -> Observable<Mutation> {
      switch action {
      case .increase: .just(.add(1))
      case .decrease: .of(.add(-2), .add(1))
      }
    }
    func reduce(state: State, mutation: Mutation) -> State {
      var state = state
      if case .add(let amount) = mutation { state.value += amount }
      return state
    }
  }

  /// A reactor without `mutate`, whose actions are mutations.
  final class Plain: Reactor {
    typealias Action = Int
    let initialState = 5
    let runtime: Runtime<Int, Int, Int>
    init(on placement: Placement) { runtime = Runtime(on: placement) }
    func reduce(into state: inout Int, mutation: Int) { state += mutation }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a reduce that returns the state is applied to each action`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let reactor = Returning(on: stage.placement)
    for _ in 0..<5 { reactor.send(.increase) }
    reactor.send(.decrease)
    #expect(stage.finish())
    #expect(reactor.currentState == .init(value: 14))
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `without mutate, actions of the mutation type are reduced`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let reactor = Plain(on: stage.placement)
    for index in 1...10 { reactor.send(index) }
    #expect(stage.finish())
    #expect(reactor.currentState == 60)
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `mutations of every kind of known stream are reduced in order`(_ placement: PlacementUnderTest) throws
  {
    let stage = try Stage(placement)
    let reactor = Script(
      on: stage.placement,
      mutate: { _, action in
        switch action {
        case 0: .empty()
        case 1: .just(1)
        case 2: .of(2, 3)
        case 3: .of(4, 5, 6)
        case 4: .of(7, 8, 9, 10)
        case 5: .of(11, 12, 13, 14, 15)
        case 6: .from([16, 17])
        default: .from([])
        }
      })
    for action in 0...7 { reactor.send(action) }
    #expect(stage.finish())
    #expect(reactor.currentState == Array(1...17))
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `initialState is read when the reactor starts, and once`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let reactor = Lazy(on: stage.placement)
    #expect(reactor.reads.elements == [])
    // currentState alone does not start the reactor. It returns the state with which the reactor would start.
    #expect(reactor.currentState == 7)
    #expect(reactor.currentState == 7)
    let before = reactor.reads.elements.count
    for _ in 0..<10 { reactor.send(1) }
    #expect(stage.finish())
    #expect(reactor.currentState == 17)
    #expect(reactor.reads.elements.count == before + 1)
  }

  final class Lazy: Reactor {
    typealias Action = Int
    let reads = Record<Int>()
    let runtime: Runtime<Int, Int, Int>
    init(on placement: Placement) { runtime = Runtime(on: placement) }
    var initialState: Int {
      reads.append(1)
      return 7
    }
    func reduce(into state: inout Int, mutation: Int) { state += mutation }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `concurrent first sends start the reactor once`(_ placement: PlacementUnderTest) throws {
    for _ in 0..<20 {
      let stage = try Stage(placement)
      let reactor = Lazy(on: stage.placement)
      #expect(Threads.run(8) { _ in reactor.send(1) })
      #expect(stage.finish())
      #expect(reactor.currentState == 15)
      #expect(reactor.reads.elements.count == 1)
    }
  }
}
