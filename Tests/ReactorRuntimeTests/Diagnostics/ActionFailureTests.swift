import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

private final class Typed: Reactor {
  enum Action: Sendable, Equatable {
    case add(Int)
    case fail
  }
  typealias Mutation = Int
  typealias State = Int
  struct Broken: Error {}

  let initialState = 0
  let runtime: Runtime<Action, Int, Int>

  init(_ runtime: Runtime<Action, Int, Int>) { self.runtime = runtime }

  func mutate(action: Action) -> Observable<Int> {
    if case .add(let amount) = action { .just(amount) } else { .error(Broken()) }
  }

  func reduce(into state: inout Int, mutation: Int) { state += mutation }
}

@Suite struct ActionFailureTests {
  @Test func `a handler gets the action with its type`() {
    let failures = Record<ActionFailure<Typed.Action>>()
    let reactor = Typed(Runtime(capacity: 8, onActionFailure: { failures.append($0) }))
    reactor.send(.fail)
    reactor.close()
    reactor.send(.add(1))
    #expect(failures.elements.map(\.action) == [.fail, .add(1)])
    #expect(failures.elements.map(\.sendError) == [nil, .closed])
    #expect(failures.elements.allSatisfy { $0.reactor.hasSuffix("Typed") })
    #expect(failures.elements.last?.description == failures.elements.last?.failure.description)
  }

  @Test func `a closure without a label is the handler of any action`() {
    let failures = Record<Failure>()
    let reactor = Typed(Runtime { failures.append($0) })
    reactor.close()
    reactor.send(.add(2))
    #expect(failures.elements.map { ActionFailure<Typed.Action>($0).action } == [.add(2)])
    #expect(ActionFailure<String>(failures.elements[0]).action == nil)
  }

  @Test func `an action that is an optional keeps its nil`() {
    let failures = Record<ActionFailure<Int?>>()
    let runtime = Runtime<Int?, Int?, Int>(onActionFailure: { failures.append($0) })
    let reactor = Optionals(runtime)
    reactor.close()
    reactor.send(nil)
    reactor.send(3)
    #expect(failures.elements.map(\.action) == [.some(nil), 3])
  }
}

private final class Optionals: Reactor {
  typealias Action = Int?
  typealias Mutation = Int?
  typealias State = Int
  let initialState = 0
  let runtime: Runtime<Int?, Int?, Int>
  init(_ runtime: Runtime<Int?, Int?, Int>) { self.runtime = runtime }
  func reduce(into state: inout Int, mutation: Int?) { state += mutation ?? 0 }
}
