import TestSupport
import Testing

@testable import ReactorCore

/// Claims of a typed ring that are abandoned, published late, or never published.
@Suite struct RingLateClaimTests {
  struct Refused: Error {}

  /// Claims in `ring` and returns the cursor, like a producer that stops after its claim.
  private func claim<Element>(_ count: Int, in ring: borrowing Ring<Element>) throws -> UInt64 {
    guard case .claimed(let cursor) = ring.raw.tryClaim(count) else { throw Refused() }
    return cursor
  }

  @Test
  func `a producer that stops in its claim delays only later elements`() throws {
    let ring = Shared(try Ring<Int>(capacity: 4))
    let isInside = Gate()
    let mayPublish = Gate()
    #expect(ring.value.trySend(0).isAccepted)
    let isDone = Threads.start {
      _ = ring.value.trySend(count: 1) { _ in
        isInside.open()
        _ = mayPublish.wait()
        return 1
      }
    }
    #expect(isInside.wait())
    // The consumer receives what was claimed before, and others send behind the claim until the ring is full.
    #expect(ring.value.received() == [0])
    for index in 2...4 { #expect(ring.value.trySend(index).isAccepted) }
    #expect(ring.value.received() == [])
    #expect(ring.value.isReady == false)
    #expect(ring.value.isIdle == false)
    #expect(ring.value.trySend(5).isAccepted == false)
    #expect(ring.value.wasCount == 4)
    mayPublish.open()
    #expect(isDone.wait())
    #expect(ring.value.received() == [1, 2, 3, 4])
    #expect(ring.value.trySend(5).isAccepted)
    #expect(ring.value.received() == [5])
  }

  @Test(arguments: [1, 3, 127, 128, 300])
  func `abandoned claims are skipped`(_ count: Int) throws {
    let ring = try Ring<Int>(capacity: 512)
    for round in 0..<6 {
      #expect(ring.trySend(round).isAccepted)
      let cursor = try claim(count, in: ring)
      #expect(ring.trySend(count: 130) { $0 } == .accepted)
      ring.raw.abandon(cursor, count: count)
      #expect(ring.received(upTo: 3) == [round, 0, 1])
      #expect(ring.received() == Array(2..<130))
      #expect(ring.isIdle == true)
      // Abandoned slots at the end are released too, although nothing is received.
      let last = try claim(count, in: ring)
      ring.raw.abandon(last, count: count)
      #expect(ring.isReady == true)
      #expect(ring.received() == [])
      #expect(ring.isIdle == true)
      #expect(ring.wasCount == 0)
    }
  }

  @Test(arguments: [1, 2, 3])
  func `elements behind an unpublished claim are destroyed with the ring`(_ missing: Int) throws {
    for start in [0, (1 << 56) - 5, (1 << 63) - 5, UInt64.max - 5] as [UInt64] {
      let lifetimes = Lifetimes()
      do {
        let ring = try Ring<LifetimeTracked>(capacity: 16, startingAt: start)
        // One lap before, so that the slots contain old words.
        #expect(ring.trySend(count: 16) { lifetimes.track($0) } == .accepted)
        #expect(ring.received().count == 16)
        #expect(ring.trySend(count: 2) { lifetimes.track($0) } == .accepted)
        _ = try claim(missing, in: ring)
        #expect(ring.trySend(count: 3) { lifetimes.track($0) } == .accepted)
        let abandoned = try claim(2, in: ring)
        ring.raw.abandon(abandoned, count: 2)
        _ = try claim(missing, in: ring)
        #expect(ring.trySend(lifetimes.track()).isAccepted)
        #expect(ring.received(upTo: 1).count == 1)
        #expect(lifetimes.alive == 5)
      }
      #expect(lifetimes.alive == 0)
    }
  }
}
