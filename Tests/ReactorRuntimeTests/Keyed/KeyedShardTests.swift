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
        shard.removeSlot(of: key, hash(key))
        expected.remove(key)
      } else if !expected.contains(key), generator.below(5) < 3 {
        shard.insert(key, hash(key), at: 0, waiting: .removal)
        expected.insert(key)
      }
      #expect(shard.count == expected.count)
    }
    #expect(Set(shard.keys) == expected && shard.keys.count == expected.count)
    for key in 0..<200 {
      #expect((shard.slots[shard.position(of: key, hash(key))] != nil) == expected.contains(key))
    }
    for key in expected { shard.removeSlot(of: key, hash(key)) }
    #expect(shard.count == 0 && shard.keys.isEmpty && shard.slots.count <= 8)
  }

  @Test func `removals that follow each other are kept as one`() {
    var shard = KeyedShard<Int, KeyedSession>()
    shard.insert(1, 1, at: 0, waiting: .action(.note(1)))
    for _ in 0..<3 { _ = shard.remove(1, 1) }
    #expect(shard.transitions[1]?.waiting.map(\.isRemoval) == [false, true])
  }

  @Test func `an action that another thread may have taken already outlives the mutex`() {
    let lifetimes = Lifetimes()
    let reactor = KeyedSession()
    var shard = KeyedShard<Int, KeyedSession>()
    func insertAction() {
      let payload = lifetimes.track()
      shard.insert(1, 1, at: 0, waiting: .action(.run { _ = payload.value }))
    }
    insertAction()
    var offered = shard.deliverOrActivate(1, 1, reactor, at: 0, toMailbox: true, waitsForRoom: true).offered
    // As the owner of the reactor may, while the calling thread is under the mutex.
    #expect(reactor.runtime.mailbox.removeFromRing().count == 1)
    #expect(shard.transitions.isEmpty && lifetimes.alive == 1)
    offered = []
    #expect(offered.isEmpty && lifetimes.alive == 0)
  }
}
