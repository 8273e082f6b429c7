import ReactorCore
import ReactorRuntime
import TestSupport

/// A reactor whose `mutate` and `reduce` are closures. By default its state is the list of its mutations.
final class Script: Reactor {
  typealias Action = Int
  typealias Mutation = Int
  typealias State = [Int]
  typealias Mutate = @Sendable (Script, Int) -> Observable<Int>
  typealias Reduce = @Sendable (Script, inout [Int], Int) -> Void

  let runtime: Runtime<Int, Int, [Int]>
  let initialState: [Int] = []
  private let onMutate: Mutate
  private let onReduce: Reduce

  init(
    on placement: Placement, snapshots: SnapshotPolicy = .automatic, capacity: Int = 64,
    overflow: OverflowPolicy = .block, reentrantCapacity: Int = 1024,
    onFailure: @escaping @Sendable (Failure) -> Void,
    mutate: @escaping Mutate = { _, action in .just(action) },
    reduce: @escaping Reduce = { _, state, mutation in state.append(mutation) }
  ) {
    runtime = Runtime(
      on: placement, snapshots: snapshots, capacity: capacity, overflow: overflow,
      reentrantCapacity: reentrantCapacity, onFailure: onFailure)
    onMutate = mutate
    onReduce = reduce
  }

  convenience init(
    on placement: Placement, snapshots: SnapshotPolicy = .automatic, capacity: Int = 64,
    overflow: OverflowPolicy = .block, reentrantCapacity: Int = 1024, failures: Record<SendError> = Record(),
    mutate: @escaping Mutate = { _, action in .just(action) },
    reduce: @escaping Reduce = { _, state, mutation in state.append(mutation) }
  ) {
    self.init(
      on: placement, snapshots: snapshots, capacity: capacity, overflow: overflow,
      reentrantCapacity: reentrantCapacity,
      onFailure: { failure in if let reason = failure.sendError { failures.append(reason) } },
      mutate: mutate, reduce: reduce)
  }

  func mutate(action: Int) -> Observable<Int> { onMutate(self, action) }

  func reduce(into state: inout [Int], mutation: Int) { onReduce(self, &state, mutation) }
}
