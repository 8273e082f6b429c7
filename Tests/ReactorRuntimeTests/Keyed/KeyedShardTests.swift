import TestSupport
import Testing

@testable import ReactorRuntime

/// Tests of the hash table: searches find what is there, whatever was removed.
@Suite struct KeyedShardTests {
  /// As many hashes as slots, or far fewer, so that the keys are in long runs that wrap around.
  @Test(arguments: [UInt32.max, 7, 0])
  func `a shard finds exactly the keys that were inserted and not removed`(mask: UInt32) {
    var generator = SplitMix64(seed: UInt64(mask) &+ 1)
    var shard = KeyedShard<Int, KeyedSession>()
    var expected: Set<Int> = []
    func hash(_ key: Int) -> UInt32 { (UInt32(truncatingIfNeeded: key.hashValue) & mask) &- 3 }
    for _ in 0..<4000 {
      let key = generator.below(200)
      if expected.contains(key), generator.below(5) < 3 {
        _ = shard.removeSlot(of: key, hash(key))
        expected.remove(key)
      } else if !expected.contains(key), generator.below(5) < 3 {
        shard.insert(key, hash(key), at: 0, waiting: [.removal])
        expected.insert(key)
      }
      #expect(shard.count == expected.count)
    }
    #expect(Set(shard.keys) == expected && shard.keys.count == expected.count)
    for key in 0..<200 {
      #expect((shard.slots[shard.position(of: key, hash(key))] != nil) == expected.contains(key))
    }
    for key in expected { _ = shard.removeSlot(of: key, hash(key)) }
    #expect(shard.count == 0 && shard.keys.isEmpty && shard.slots.count <= 8)
  }

  @Test func `removals that follow each other are kept as one`() {
    var shard = KeyedShard<Int, KeyedSession>()
    shard.insert(1, 1, at: 0, waiting: [.action(.note(1))])
    for _ in 0..<3 { _ = shard.remove(1, 1, at: 0, isTold: false) }
    #expect(shard.transitions[1]?.waiting.map(\.isRemoval) == [false, true])
  }

  @Test func `an action that another thread may have taken already outlives the mutex`() {
    let lifetimes = Lifetimes()
    let reactor = KeyedSession()
    var shard = KeyedShard<Int, KeyedSession>()
    func insertAction() {
      let payload = lifetimes.track()
      shard.insert(1, 1, at: 0, waiting: [.action(.run { _ = payload.value })])
    }
    insertAction()
    var offered = shard.deliverOrActivate(1, 1, reactor, reactor.runtime, at: 0, toMailbox: true).delivery
      .offered
    // As the owner of the reactor may, while the calling thread is under the mutex.
    #expect(reactor.runtime.mailbox.removeFromRing().count == 1)
    #expect(shard.transitions.isEmpty && lifetimes.alive == 1)
    offered = []
    #expect(offered.isEmpty && lifetimes.alive == 0)
  }

  @Test(arguments: [OverflowPolicy.block, .fail, .dropNewest, .dropOldest])
  func `a key becomes active although not all that waits fits into the mailbox`(_ overflow: OverflowPolicy) {
    let reactor = KeyedSession(capacity: 2, overflow: overflow)
    var shard = KeyedShard<Int, KeyedSession>()
    shard.insert(1, 1, at: 0, waiting: [.action(.note(0))])
    for note in 1..<10 { _ = shard.admit(.action(.note(note)), 1, 1, at: 0, upTo: 10, replacing: nil) }
    let delivery = shard.deliverOrActivate(1, 1, reactor, reactor.runtime, at: 0, toMailbox: true).delivery
    let active = shard.use(1, 1, at: 0)
    #expect(active === reactor && shard.transitions.isEmpty)
    #expect(delivery.offered.count == 10 && delivery.refused.isEmpty)
    #expect(reactor.counters.waiting == 10)
    // Behind them.
    reactor.send(.note(10))
    #expect(reactor.currentState == Array(0...10))
  }

  @Test func `a key becomes active although its reactor refuses what waits`() {
    let reactor = KeyedSession()
    reactor.close()
    var shard = KeyedShard<Int, KeyedSession>()
    shard.insert(1, 1, at: 0, waiting: [.action(.note(0))])
    let delivery = shard.deliverOrActivate(1, 1, reactor, reactor.runtime, at: 0, toMailbox: true).delivery
    let active = shard.use(1, 1, at: 0)
    #expect(active === reactor && shard.transitions.isEmpty)
    #expect(delivery.offered.isEmpty && delivery.refused.count == 1 && delivery.reason == .closed)
  }

  /// A key that counts its instances.
  private struct TrackedKey: Hashable {
    let number: Int
    let payload: LifetimeTracked

    static func == (first: TrackedKey, second: TrackedKey) -> Bool { first.number == second.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
  }

  @Test func `a key that a sample or the table does not need any more outlives the mutex`() {
    let lifetimes = Lifetimes()
    func makeShard(_ number: Int, lastUse: UInt32) -> KeyedShard<TrackedKey, KeyedSession> {
      var shard = KeyedShard<TrackedKey, KeyedSession>()
      let (key, reactor) = (TrackedKey(number: number, payload: lifetimes.track()), KeyedSession())
      shard.insert(key, 0, at: 0, waiting: [])
      _ = shard.deliverOrActivate(key, 0, reactor, reactor.runtime, at: lastUse, toMailbox: true)
      return shard
    }
    let others = Lifetimes()
    func other(_ number: Int) -> TrackedKey { TrackedKey(number: number, payload: others.track()) }

    var (first, second) = (makeShard(1, lastUse: 2), makeShard(2, lastUse: 1))
    var sample = KeyedShard<TrackedKey, KeyedSession>.Sample()
    #expect(first.sample(&sample, besides: other(0), at: 3) == nil)
    first.beginEnding(at: first.position(of: other(1), 0))
    #expect(first.removeSlot(of: other(1), 0)?.payload.value == 0)
    #expect(first.count == 0 && lifetimes.alive == 2)
    var before = second.sample(&sample, besides: other(0), at: 3)
    #expect(sample.oldest?.key == other(2) && before == other(1))
    #expect(lifetimes.alive == 2)
    before = nil
    #expect(before == nil && lifetimes.alive == 1)
    second.beginEnding(at: second.position(of: other(2), 0))
    sample.oldest = nil
    var removed = second.removeSlot(of: other(2), 0)
    #expect(second.count == 0 && lifetimes.alive == 1)
    removed = nil
    #expect(removed == nil && lifetimes.alive == 0)
  }
}
