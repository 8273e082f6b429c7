import BenchmarkSupport
import CBenchmarkLimits
import Glibc
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

  func visit(_ order: VisitingOrder) {
    for (key, round) in order { reactor(of: key).send(UInt64(round + 1)) }
  }

  func readAll(_ body: (ReadState) -> Void) {
    for key in 0..<count { body(reactor(of: key).currentState) }
  }

  func end() { reactors.withLock { $0.removeAll() } }
}

/// A table in 256 parts, each a dictionary behind a pthread mutex, of which no two share a cache line. The part of a key is
/// found by a multiplication: its dictionary hashes the key, which is enough. No part is an object, whose reference would be
/// counted.
///
/// `@unchecked Sendable`: a dictionary is used only under its mutex, and both are at fixed addresses.
final class ShardedDictionary<Value: Sendable>: @unchecked Sendable {
  private struct Shard {
    var mutex = pthread_mutex_t()
    var values: [Int: Value] = [:]
    /// To a size of 128 bytes, on x86-64.
    var padding: InlineArray<10, UInt64> = InlineArray(repeating: 0)
  }

  private static var bits: Int { 8 }
  private let shards: UnsafeMutablePointer<Shard>

  init() {
    shards = UnsafeMutableRawPointer.allocate(
      byteCount: MemoryLayout<Shard>.stride << Self.bits, alignment: 128
    ).bindMemory(to: Shard.self, capacity: 1 << Self.bits)
    for index in 0..<1 << Self.bits {
      (shards + index).initialize(to: Shard())
      pthread_mutex_init(&shards[index].mutex, nil)
    }
  }

  deinit {
    for index in 0..<1 << Self.bits { pthread_mutex_destroy(&shards[index].mutex) }
    shards.deinitialize(count: 1 << Self.bits)
    shards.deallocate()
  }

  @inline(__always)
  func withValue<Result>(
    of key: Int, default value: @autoclosure () -> Value, _ body: (inout Value) -> Result
  ) -> Result {
    let mixed = UInt64(truncatingIfNeeded: key) &* 0x9E37_79B9_7F4A_7C15
    let shard = shards + Int(truncatingIfNeeded: mixed >> UInt64(64 - Self.bits))
    pthread_mutex_lock(&shard.pointee.mutex)
    defer { pthread_mutex_unlock(&shard.pointee.mutex) }
    return body(&shard.pointee.values[key, default: value()])
  }

  func removeAll() {
    for index in 0..<1 << Self.bits {
      pthread_mutex_lock(&shards[index].mutex)
      shards[index].values.removeAll()
      pthread_mutex_unlock(&shards[index].mutex)
    }
  }
}

/// States in dictionaries behind mutexes: what a program without reactors would have.
final class ShardedStatesPopulation: Population {
  private let count: Int
  private let states = ShardedDictionary<ReadState>()

  init(count: Int, cores: Int) { self.count = count }

  func make() {
    // The first action makes them.
  }

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
