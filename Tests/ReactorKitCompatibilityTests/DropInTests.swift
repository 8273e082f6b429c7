import ReactorKitCompatibility
import TestSupport
import Testing

/// Reactors as they are written for ReactorKit.
@Suite struct DropInTests {
  final class Profile: Reactor {
    enum Action {
      case follow(Int)
      case unfollow
    }
    enum Mutation {
      case setFollowing(Bool)
      case count(Int)
    }
    struct State {
      var isFollowing = false
      var followers = 0
    }

    let initialState = State()

    func mutate(action: Action) -> Observable<Mutation> {
      switch action {
      case .follow(let count):
        return Observable.concat([.just(.setFollowing(true)), .just(.count(count))])
      case .unfollow:
        return .just(.setFollowing(false))
      }
    }

    func reduce(state: State, mutation: Mutation) -> State {
      var newState = state
      switch mutation {
      case .setFollowing(let isFollowing): newState.isFollowing = isFollowing
      case .count(let count): newState.followers += count
      }
      return newState
    }
  }

  @Test func `a reactor needs no runtime and no other protocol`() {
    let reactor = Profile()
    reactor.action.onNext(.follow(3))
    #expect(reactor.currentState.isFollowing)
    #expect(reactor.currentState.followers == 3)
    reactor.action.onNext(.unfollow)
    #expect(!reactor.currentState.isFollowing)
  }

  /// Inside of reduce, the current state is the one before.
  final class Remembering: Reactor {
    typealias Action = Int
    struct State { var values: [Int] = [], seen: [Int] = [] }
    let initialState = State()

    func reduce(state: State, mutation: Int) -> State {
      var state = state
      state.seen.append(currentState.values.count)
      state.values.append(mutation)
      return state
    }
  }

  @Test func `actions that are mutations need no mutate, and reduce sees the state before`() {
    let reactor = Remembering()
    for value in 1...3 { reactor.action.onNext(value) }
    #expect(reactor.currentState.values == [1, 2, 3])
    #expect(reactor.currentState.seen == [0, 1, 2])
  }

  final class Titled: Reactor {
    typealias Action = String
    struct State { @Pulse var title = "none" }
    let initialState = State()

    func reduce(state: State, mutation: String) -> State {
      var state = state
      state.title = mutation
      return state
    }
  }

  /// Passes actions on to another reactor, and shows its states in capitals.
  final class Shouting: Reactor {
    typealias Action = String
    typealias State = Titled.State
    private let base = Titled()

    var initialState: State { base.initialState }
    var action: ActionSubject<String> { base.action }
    var state: Observable<State> { base.state.map { Self.shouted($0) } }
    var currentState: State { Self.shouted(base.currentState) }

    private static func shouted(_ state: State) -> State {
      var state = state
      state.title = state.title.uppercased()
      return state
    }
  }

  /// Returns the titles that the states, the pulses and the current state of a reactor show.
  private func titles<R: Reactor>(of reactor: R) -> [[String]]
  where R.Action == String, R.State == Titled.State {
    let states = Record<String>()
    let pulses = Record<String>()
    reactor.state.subscribe(onNext: { states.append($0.title) })
    reactor.pulse(\.$title).subscribe(onNext: { pulses.append($0) })
    reactor.action.onNext("news")
    return [states.elements, pulses.elements, [reactor.currentState.title]]
  }

  @Test func `a reactor's own action, state and current state are used where any reactor may be`() {
    #expect(titles(of: Titled()) == [["none", "news"], ["none", "news"], ["news"]])
    #expect(titles(of: Shouting()) == [["NONE", "NEWS"], ["NONE", "NEWS"], ["NEWS"]])
  }

  final class Cell: Reactor {
    typealias Action = NoAction
    typealias Mutation = NoMutation
    let initialState: String
    init(title: String) { initialState = title }
  }

  @Test func `a reactor without actions needs no methods`() {
    #expect(Cell(title: "news").currentState == "news")
  }
}
