import ReactorCore
import ReactorRuntime
import TestSupport

/// A reactor whose `mutate` and `reduce` are closures, and whose state is what was reduced so far.
final class Script<C: Core>: Reactor {
  typealias Action = Int
  typealias Mutation = Int
  typealias State = [Int]
  typealias Mutate = @Sendable (Script, Int) -> Observable<Int>
  typealias Reduce = @Sendable (Script, inout [Int], Int) -> Void

  let runtime: RuntimeOn<C, Int, Int, [Int]>
  let initialState: [Int] = []
  private let onMutate: Mutate
  private let onReduce: Reduce

  init(
    on placement: PlacementOn<C>, capacity: Int = 64, reentrantCapacity: Int = 1024,
    failures: Record<SendError> = Record(),
    mutate: @escaping Mutate = { _, action in .just(action) },
    reduce: @escaping Reduce = { _, state, mutation in state.append(mutation) }
  ) {
    runtime = RuntimeOn(
      on: placement, capacity: capacity, reentrantCapacity: reentrantCapacity,
      onFailure: { failure in if let reason = failure.sendError { failures.append(reason) } })
    onMutate = mutate
    onReduce = reduce
  }

  func mutate(action: Int) -> Observable<Int> { onMutate(self, action) }

  func reduce(into state: inout [Int], mutation: Int) { onReduce(self, &state, mutation) }
}

/// Where the tested reactor runs.
enum PlacementUnderTest: CaseIterable, Sendable {
  case caller
  case loop
}

/// A placement, with the loop that it may need.
struct Stage<C: Core>: Sendable {
  let placement: PlacementOn<C>
  private let loop: LoopOn<C>?

  init(_ placement: PlacementUnderTest) throws {
    switch placement {
    case .caller:
      loop = nil
      self.placement = .caller
    case .loop:
      let loop = try LoopOn<C>()
      self.loop = loop
      self.placement = .loop(loop)
    }
  }

  /// Returns when everything that was sent was reduced; false if that took too long. The last thing to do.
  ///
  /// - Parameter isDone: What must hold before the loop is shut down, which also refuses what turns send.
  func finish(after isDone: () -> Bool = { true }) -> Bool {
    guard let loop else { return isDone() }
    return Threads.yield(until: isDone) && Threads.start { loop.shutdown() }.wait()
  }
}
