import AllocationCounting
import BenchmarkSupport
import CBenchmarkLimits
import ReactorCore

/// Reactors in a dictionary behind one mutex. They are never passivated.
final class MutexDictionaryPopulation: Population {
  private let count: Int
  private let reactors = SystemMutex<[Int: SmallReactor]>([:])

  init(count: Int, cores: Int) { self.count = count }

  func make() {
    // The first action makes them.
  }

  private func reactor(of key: Int) -> SmallReactor {
    reactors.withLock { reactors in
      if let reactor = reactors[key] { return reactor }
      let reactor = SmallReactor(on: .caller)
      reactors[key] = reactor
      return reactor
    }
  }

  var objectBytes: Int { MemoryUse.size(of: reactor(of: 0)) }

  func visit(_ order: VisitingOrder) {
    for (key, round) in order { reactor(of: key).send(UInt64(round + 1)) }
  }

  func readAll(_ body: (ReadState) -> Void) {
    for key in 0..<count { body(reactor(of: key).currentState) }
  }

  func end() { reactors.withLock { $0.removeAll() } }
}

/// A table in 256 parts, each a dictionary behind a mutex.
struct ShardedDictionary<Value: Sendable>: Sendable {
  private let shards = (0..<256).map { _ in SystemMutex<[Int: Value]>([:]) }

  @inline(__always)
  func withValue<Result>(
    of key: Int, default value: @autoclosure () -> Value, _ body: (inout Value) -> Result
  ) -> Result {
    shards[Int(UInt(bitPattern: key.hashValue) >> 56)].withLock { body(&$0[key, default: value()]) }
  }

  func removeAll() { for shard in shards { shard.withLock { $0.removeAll() } } }
}

/// States in dictionaries behind mutexes: what a program without reactors would have.
final class ShardedStatesPopulation: Population {
  private let count: Int
  private let states = ShardedDictionary<ReadState>()

  init(count: Int, cores: Int) { self.count = count }

  func make() {
    // The first action makes them.
  }

  /// There are no objects.
  var objectBytes: Int { 0 }

  func visit(_ order: VisitingOrder) {
    for (key, round) in order {
      states.withValue(of: key, default: ReadState()) { $0.add(UInt64(round + 1)) }
    }
  }

  func readAll(_ body: (ReadState) -> Void) {
    for key in 0..<count { body(states.withValue(of: key, default: ReadState()) { $0 }) }
  }

  func end() { states.removeAll() }
}

/// Actors in dictionaries behind mutexes. Each visitor is a task that awaits each call.
final class ShardedActorsPopulation: Population {
  private let count: Int
  private let actors = ShardedDictionary<SmallActor>()

  init(count: Int, cores: Int) { self.count = count }

  func make() {
    // The first action makes them.
  }

  private func actor(of key: Int) -> SmallActor {
    actors.withValue(of: key, default: SmallActor()) { $0 }
  }

  var objectBytes: Int { MemoryUse.size(of: actor(of: 0)) }

  func visit(_ order: VisitingOrder) {
    Handover<Void>.blocking { [self] in
      for (key, round) in order {
        await actor(of: key).add(UInt64(round + 1))
        // Makes the task leave the actor: see ActorBaseline.
        bl_opaque()
      }
    }
  }

  func readAll(_ body: (ReadState) -> Void) {
    let states = Handover.blocking { [self] in
      var states: [ReadState] = []
      for key in 0..<count { states.append(await actor(of: key).state) }
      return states
    }
    states.forEach(body)
  }

  func end() { actors.removeAll() }
}
