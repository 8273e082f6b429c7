import ReactorCore
import ReactorRuntime
import TestSupport

/// A reactor that counts its actions and adds them up. A negative action sends as many ones to itself.
final class Summing: Reactor {
  struct State: Sendable {
    var count = 0
    var sum = 0
  }
  typealias Action = Int
  typealias Mutation = Int

  let initialState = State()
  let runtime: Runtime<Int, Int, State>
  private let stream: @Sendable (Int) -> Observable<Int>

  init(on placement: Placement, stream: @escaping @Sendable (Int) -> Observable<Int> = { .just($0) }) {
    runtime = Runtime(on: placement, capacity: 1024)
    self.stream = stream
  }

  func mutate(action: Int) -> Observable<Int> {
    guard action < 0 else { return stream(action) }
    for _ in 0..<(-action) { send(1) }
    return .empty()
  }

  func reduce(into state: inout State, mutation: Int) {
    state.count += 1
    state.sum += mutation
  }
}

/// A reactor whose actions are its mutations, with references, so that copies of them cost something. It has the default `mutate`.
final class PassingOn: Reactor {
  struct Action: Sendable {
    let name: String
    let amounts: [Int]
    let lifetime: LifetimeTracked
  }
  typealias Mutation = Action
  typealias State = Int

  let initialState = 0
  let runtime = Runtime<Action, Action, Int>(on: .caller)

  func reduce(into state: inout Int, mutation: Action) {
    if mutation.name.utf8.count > 15, mutation.amounts.count == 1 { state += mutation.lifetime.value }
  }
}
