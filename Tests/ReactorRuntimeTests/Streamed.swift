import ReactorCore
import ReactorRuntime
import TestSupport

/// A reactor of integers whose `mutate` and transforms are closures. Its state is the list of its mutations.
final class Streamed: Reactor {
  typealias Action = Int
  typealias Mutation = Int
  typealias State = [Int]
  typealias Transform<Element: Sendable> = @Sendable (Observable<Element>) -> Observable<Element>

  let runtime: Runtime<Int, Int, [Int]>
  let initialState: [Int] = []
  private let onMutate: @Sendable (Streamed, Int) -> Observable<Int>
  private let onAction: Transform<Int>
  private let onMutation: Transform<Int>
  private let onState: Transform<[Int]>

  init(
    on placement: Placement = .caller, capacity: Int = 64, reentrantCapacity: Int = 1024,
    failures: Record<Failure> = Record(),
    mutate: @escaping @Sendable (Streamed, Int) -> Observable<Int> = { _, action in .just(action) },
    action: @escaping Transform<Int> = { $0 }, mutation: @escaping Transform<Int> = { $0 },
    state: @escaping Transform<[Int]> = { $0 }
  ) {
    runtime = Runtime(
      on: placement, capacity: capacity, reentrantCapacity: reentrantCapacity,
      onFailure: { failures.append($0) })
    onMutate = mutate
    onAction = action
    onMutation = mutation
    onState = state
  }

  func mutate(action: Int) -> Observable<Int> { onMutate(self, action) }
  func reduce(into state: inout [Int], mutation: Int) { state.append(mutation) }
  func transform(action: Observable<Int>) -> Observable<Int> { onAction(action) }
  func transform(mutation: Observable<Int>) -> Observable<Int> { onMutation(mutation) }
  func transform(state: Observable<[Int]>) -> Observable<[Int]> { onState(state) }
}
