import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

// The code of the article "Reactors by key". Keep both in step.

private final class Session: Reactor {
  enum Action: Sendable {
    case visit(String)
    case lastPage(Reply<String>)
  }
  enum Mutation: Sendable { case add(String) }
  struct State: Sendable { var pages: [String] = [] }

  let initialState: State
  let runtime: Runtime<Action, Mutation, State>

  init(_ state: State, on placement: Placement) {
    initialState = state
    runtime = Runtime(on: placement)
  }

  func mutate(action: Action) -> Observable<Mutation> {
    switch action {
    case .visit(let page):
      return .just(.add(page))
    case .lastPage(let reply):
      reply(currentState.pages.last ?? "")
      return .empty()
    }
  }

  func reduce(into state: inout State, mutation: Mutation) {
    switch mutation {
    case .add(let page): state.pages.append(page)
    }
  }
}

private final class Store: Sendable {
  private let states = SystemMutex<[Int: Session.State]>([:])

  func load(_ user: Int) -> Session.State { states.withLock { $0[user] ?? Session.State() } }

  func save(_ state: Session.State, of user: Int) { states.withLock { $0[user] = state } }
}

@Suite struct ReactorsByKeySnippets {
  @Test func `the sessions of the article are kept and loaded`() async throws {
    let store = Store()
    let sessions = KeyedReactors<Int, Session>(
      upTo: 100_000,
      onPassivate: { user, state in store.save(copy state, of: user) },
      make: { user in Session(store.load(user), on: .caller) })

    sessions.send(.visit("/cart"), to: 42)
    let pages = sessions.withCurrentState(of: 42) { $0.pages.count }
    let last = try await sessions.ask(42) { .lastPage($0) }

    #expect(pages == 1)
    #expect(last == "/cart")
    let loop = try Loop()
    let timer = try sessions.passivate(idleFor: .milliseconds(20), on: loop)
    #expect(Threads.yield { sessions.count == 0 })
    timer.dispose()
    sessions.send(.visit("/end"), to: 42)
    try Shutdown.close([sessions, loop], before: .now + .seconds(10))
    #expect(store.load(42).pages == ["/cart", "/end"])
  }
}
