import ReactorCore
import ReactorRuntime

/// The durable state of a reactor: applies to a second state what the journal has committed. It is what other threads read
/// and observe if the visibility is ``Visibility/durable``, and what snapshots are made of.
///
/// It gets one step for each group, from the committer, and one when a transform of the reactor has ended.
final class Follower<R: DurableReactor>: Reactor {
  typealias Action = R.Mutation
  typealias Mutation = R.Mutation
  typealias State = R.State

  let runtime: Runtime<R.Mutation, R.Mutation, R.State>
  /// Only until the start: it may be large.
  private let recovered: SystemMutex<R.State?>
  /// Each group keeps the reactor alive until it is applied.
  private unowned let reactor: R

  /// - Parameter snapshots: The policy of the reactor. A group is applied as records, not as mutations that could be kept and reduced
  ///   once more, so the policy `replayed` is `copied` here, where readers do not wait either.
  init(of reactor: R, _ state: R.State, _ snapshots: SnapshotPolicy) {
    runtime = Runtime(snapshots: snapshots == .replayed ? .copied : snapshots)
    self.reactor = reactor
    recovered = SystemMutex(state)
  }

  var initialState: R.State {
    guard let state = recovered.withLock({ $0 }) else { fatalError("a follower starts once") }
    return state
  }

  /// Gives the recovered state up. After the start.
  func noteStarted() { recovered.withLock { $0 = nil } }

  func reduce(into state: inout State, mutation: Mutation) {
    reactor.reduce(into: &state, mutation: mutation)
  }

  func reduce(state: State, mutation: Mutation) -> State { reactor.reduce(state: state, mutation: mutation) }

  static var reducesByValue: Bool { R.reducesByValue }
}
