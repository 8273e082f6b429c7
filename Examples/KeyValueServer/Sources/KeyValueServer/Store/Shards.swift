import ReactorRuntime
import Synchronization

/// A part of the keys, and what guards it.
protocol Shard: AnyObject, Sendable {
  /// Runs a work, and hands it back to its connection. Any thread.
  func submit(_ work: Work)
  /// Changes the keys in another way. Any thread.
  func update(_ body: @escaping @Sendable (inout Keyspace) -> Void)
  /// How many keys there are and have expired, or were a moment ago; nil if that cannot be read. Any thread.
  func readCounts() -> (keys: Int, expired: Int)?
}

/// Which kind of shards.
enum ShardKind: String, CaseIterable {
  case reactor, mutex, actor
}

// MARK: A reactor on a loop

/// A shard as a reactor: its turns run on a loop, so what comes from connections on that loop is run there without a hop, and
/// what comes from others is taken over in bursts.
final class ReactorShard: Shard, TurnObserving {
  enum Action: Sendable {
    case run(Work)
    case update(@Sendable (inout Keyspace) -> Void)
  }
  typealias Mutation = Action

  let initialState = Keyspace()
  let runtime: Runtime<Action, Action, Keyspace>
  /// The works that the running turn has finished.
  private let finished: LoopBound<[Work]>

  init(on loop: Loop) {
    runtime = Runtime(on: .loop(loop))
    finished = LoopBound([], to: loop)
  }

  func submit(_ work: Work) { send(.run(work)) }
  func update(_ body: @escaping @Sendable (inout Keyspace) -> Void) { send(.update(body)) }

  func reduce(into keyspace: inout Keyspace, mutation: Action) {
    switch mutation {
    case .run(let work):
      work.run(on: &keyspace)
      finished.value.append(work)
    case .update(let body): body(&keyspace)
    }
  }

  /// The state can be read by everybody now, so the replies may leave.
  func turnEnded(_: borrowing Keyspace) {
    if finished.value.isEmpty { return }
    var works: [Work] = []
    swap(&works, &finished.value)
    var deliveries = Deliveries()
    for work in works { deliveries.add(work) }
    deliveries.send()
  }

  func readCounts() -> (keys: Int, expired: Int)? { withCurrentState { ($0.entries.count, $0.expired) } }
}

// MARK: To compare with

/// A shard behind a mutex: the thread of the connection runs the commands.
final class MutexShard: Shard {
  private let keyspace = Mutex(Keyspace())

  func submit(_ work: Work) {
    keyspace.withLock { work.run(on: &$0) }
    var deliveries = Deliveries()
    deliveries.add(work)
    deliveries.send()
  }

  func update(_ body: @escaping @Sendable (inout Keyspace) -> Void) { keyspace.withLock { body(&$0) } }
  func readCounts() -> (keys: Int, expired: Int)? { keyspace.withLock { ($0.entries.count, $0.expired) } }
}

/// A shard as an actor: a task takes the work there, and a job brings it back.
actor ActorShard: Shard {
  private var keyspace = Keyspace()

  nonisolated func submit(_ work: Work) {
    Task {
      await run(work)
      var deliveries = Deliveries()
      deliveries.add(work)
      deliveries.send()
    }
  }

  nonisolated func update(_ body: @escaping @Sendable (inout Keyspace) -> Void) {
    Task { await change(body) }
  }
  nonisolated func readCounts() -> (keys: Int, expired: Int)? { nil }

  private func run(_ work: Work) { work.run(on: &keyspace) }
  private func change(_ body: (inout Keyspace) -> Void) { body(&keyspace) }
}
