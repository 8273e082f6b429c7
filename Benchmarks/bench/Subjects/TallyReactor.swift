import ReactorCore
import ReactorRuntime

/// The reactor of the benchmark: it counts and sums what is sent to it.
final class TallyReactor: Reactor {
  typealias Action = Item

  enum Mutation: Sendable {
    case add(Item)
  }

  let initialState: Tally
  let runtime: Runtime<Item, Mutation, Tally>

  init(on placement: Placement, _ setup: SubjectSetup) {
    initialState = Tally(inspector: setup.inspector)
    runtime = Runtime(on: placement, capacity: setup.capacity)
  }

  func mutate(action: Item) -> Observable<Mutation> { .just(.add(action)) }

  func reduce(into state: inout Tally, mutation: Mutation) {
    switch mutation {
    case .add(let item): state.reduce(item)
    }
  }
}
