import ReactorRuntime
import Synchronization

/// A part of the keys, and what guards it.
protocol Shard: AnyObject, Sendable {
  /// Runs a work, and hands it back to its connection. Any thread.
  func submit(_ work: Work)
  /// Forgets that a client has subscribed to channels. Any thread.
  func unsubscribe(_ client: Int, from channels: [Key])
  /// Removes some of the keys whose time has come. Then calls `completion`, on any thread, with whether more may be due; that is false
  /// if the shard has ended. Any thread.
  func expire(at now: Int64, _ completion: @escaping @Sendable (Bool) -> Void)
  /// What there was a moment ago; nil if that cannot be read. Any thread.
  func readCounts() -> KeyCounts?
}

/// How many keys there are, how many of them have a deadline, and how many have expired since the start.
struct KeyCounts: Sendable {
  var keys = 0
  var timed = 0
  var expired = 0

  static func + (one: Self, other: Self) -> Self {
    Self(keys: one.keys + other.keys, timed: one.timed + other.timed, expired: one.expired + other.expired)
  }
}

/// What a shard holds.
struct ShardContents: Sendable {
  var keyspace = Keyspace()
  var channels = Channels()

  mutating func run(_ work: Work) { work.run(on: &keyspace, &channels) }
  mutating func expire(at now: Int64) -> Bool { keyspace.expireSome(at: keyspace.advance(to: now)) }
}

/// How much may wait for a shard. A loop does not wait for room in a mailbox: what finds none is kept beside it, up to `most`, and
/// refused beyond that.
struct WaitingLimit: Sendable {
  let most: Int

  /// As much as the clients can send, so that nothing is refused: each has one work for a shard at most, and another one that had its
  /// place before may have left channels.
  ///
  /// - Parameter override: A smaller limit, for the test of what is refused.
  init(clients: Int, override: Int?) { most = override ?? max(65_536, 2 * min(clients, 1 << 29)) }

  /// The capacity of a mailbox: a power of two.
  func capacity(upTo largest: Int) -> Int {
    min(largest, 1 << (Int.bitWidth - 1 - most.leadingZeroBitCount))
  }
}

/// Which kind of shards.
enum ShardKind: String, CaseIterable {
  /// Reactors whose turns run on the threads of the connections.
  case reactor
  /// Reactors on the loops, one after the other.
  case loop
  case mutex, actor
}

// MARK: A reactor

/// A shard as a reactor. On ``Placement/caller``, the thread of a connection runs what comes from there, unless another thread is at
/// the shard: then that one runs it, too, and hands it back to the connection's loop. On a loop, what comes from connections on that
/// loop is run there without a hop, and what comes from others is taken over in bursts.
final class ReactorShard: Shard, TurnObserving {
  enum Action: Sendable {
    case run(Work)
    case unsubscribe(Int, [Key])
    case expire(Int64, Reply<Bool>)
  }
  typealias Mutation = Action

  let initialState = ShardContents()
  let runtime: Runtime<Action, Action, ShardContents>
  /// The works that the running turn has finished. No thread ever waits for the mutex: only the owner takes it.
  private let finished = Mutex<[Work]>([])

  /// - Parameters:
  ///   - placement: Which thread runs the commands.
  ///   - limit: How much may wait.
  init(on placement: Placement, waiting limit: WaitingLimit) {
    runtime = Runtime(
      on: placement, capacity: limit.capacity(upTo: 4096), reentrantCapacity: limit.most,
      onActionFailure: { failure in
        // Otherwise the client would wait for its reply for ever, and keep its place.
        if case .run(let work) = failure.action { Deliveries.refuse(work) }
        Hooks.defaultFailureHandler(failure.failure)
      })
  }

  func submit(_ work: Work) { send(.run(work)) }
  func unsubscribe(_ client: Int, from channels: [Key]) { send(.unsubscribe(client, channels)) }

  func expire(at now: Int64, _ completion: @escaping @Sendable (Bool) -> Void) {
    ask({ .expire(now, $0) }, completion: { completion((try? $0.get()) ?? false) })
  }

  func reduce(into contents: inout ShardContents, mutation: Action) {
    switch mutation {
    case .run(let work):
      contents.run(work)
      finished.withLock { $0.append(work) }
    case .unsubscribe(let client, let channels): contents.channels.unsubscribe(client, from: channels)
    case .expire(let now, let reply): reply(contents.expire(at: now))
    }
  }

  /// The state can be read by everybody now, so the replies may leave.
  func turnEnded(_: borrowing ShardContents) {
    let works = finished.withLock { works in
      defer { works = [] }
      return works
    }
    for work in works { Deliveries.deliver(work) }
  }

  func readCounts() -> KeyCounts? { withCurrentState { $0.keyspace.counts } }
}

// MARK: To compare with

/// A shard behind a mutex: the thread of the connection runs the commands.
final class MutexShard: Shard {
  private let contents = Mutex(ShardContents())

  func submit(_ work: Work) {
    contents.withLock { contents in
      contents.run(work)
      // Another thread may publish as soon as the mutex is free.
      Deliveries.sendMessages(of: work)
    }
    Deliveries.complete(work)
  }

  func unsubscribe(_ client: Int, from channels: [Key]) {
    contents.withLock { $0.channels.unsubscribe(client, from: channels) }
  }

  func expire(at now: Int64, _ completion: @escaping @Sendable (Bool) -> Void) {
    completion(contents.withLock { $0.expire(at: now) })
  }

  func readCounts() -> KeyCounts? { contents.withLock { $0.keyspace.counts } }
}

/// A shard as an actor on a loop: a request hops once, to that loop, as with a reactor. On the default executor it would hop
/// there and back.
actor ActorShard: Shard {
  private let loop: Loop
  private var contents = ShardContents()

  init(on loop: Loop) { self.loop = loop }

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  // `immediate`: the task begins on the thread that calls, and not with a hop to the pool of threads.
  nonisolated func submit(_ work: Work) { Task.immediate { await run(work) } }

  nonisolated func unsubscribe(_ client: Int, from channels: [Key]) {
    Task.immediate { await change { $0.channels.unsubscribe(client, from: channels) } }
  }

  nonisolated func expire(at now: Int64, _ completion: @escaping @Sendable (Bool) -> Void) {
    Task.immediate { completion(await change { $0.expire(at: now) }) }
  }

  nonisolated func readCounts() -> KeyCounts? { nil }

  private func run(_ work: Work) {
    contents.run(work)
    Deliveries.deliver(work)
  }

  private func change<Result: Sendable>(_ body: @Sendable (inout ShardContents) -> Result) -> Result {
    body(&contents)
  }
}
