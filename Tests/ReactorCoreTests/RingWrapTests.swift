import ReactorCore
import TestSupport
import Testing

/// Cursors that are about to wrap: at 2^56, where a slot's word loses the upper bits; at 2^63, where the cursor itself
/// starts again; and around the largest number that fits.
@Suite struct RingWrapTests {
  static let edges: [UInt64] = [1 << 32, 1 << 55, 1 << 56, 1 << 62, 1 << 63, 0]

  @Test(arguments: edges)
  func `single sends work when the cursor wraps`(_ edge: UInt64) throws {
    for before in [1, 5, 8, 17] as [UInt64] {
      let ring = try Ring<Int>(capacity: 8, startingAt: edge &- before)
      for lap in 0..<6 {
        for index in 0..<8 { #expect(ring.trySend(lap * 8 + index).isAccepted) }
        #expect(ring.trySend(-1).isAccepted == false)
        #expect(ring.wasCount == 8)
        #expect(ring.isIdle == false)
        #expect(ring.received(upTo: 3) == [lap * 8, lap * 8 + 1, lap * 8 + 2])
        #expect(ring.wasCount == 5)
        #expect(ring.received() == Array(lap * 8 + 3..<lap * 8 + 8))
        #expect(ring.wasCount == 0)
        #expect(ring.isIdle == true)
        #expect(ring.isEmpty == true)
        #expect(ring.isReady == false)
      }
    }
  }

  @Test(arguments: edges)
  func `batches work when the cursor wraps`(_ edge: UInt64) throws {
    let ring = try Ring<Int>(capacity: 256, startingAt: edge &- 300)
    for lap in 0..<12 {
      #expect(ring.trySend(count: 150) { lap * 150 + $0 } == .accepted)
      #expect(ring.trySend(count: 107) { $0 } == .full)
      #expect(ring.received(upTo: 77) == Array(lap * 150..<lap * 150 + 77))
      #expect(ring.received() == Array(lap * 150 + 77..<(lap + 1) * 150))
    }
  }

  @Test(arguments: edges)
  func `a closed ring destroys its elements when the cursor wraps`(_ edge: UInt64) throws {
    let lifetimes = Lifetimes()
    do {
      let ring = try Ring<LifetimeTracked>(capacity: 8, startingAt: edge &- 4)
      for _ in 0..<8 { #expect(ring.trySend(lifetimes.track()).isAccepted) }
      #expect(ring.drain(upTo: 1) { (_: consuming LifetimeTracked) in } == 1)
      ring.close()
      #expect(ring.wasCount == 7)
      #expect(lifetimes.alive == 7)
    }
    #expect(lifetimes.alive == 0)
  }

  @Test(arguments: edges)
  func `cursors stay consecutive when they wrap`(_ edge: UInt64) throws {
    let ring = try Ring<Int>(capacity: 4, startingAt: edge &- 6)
    for index in 0..<12 {
      let tail = ring.tail
      #expect(ring.trySend(index).isAccepted)
      _ = ring.drain { (_: consuming Int, cursor: UInt64) in #expect(cursor << 1 == tail << 1) }
      #expect(ring.head << 1 == ring.tail << 1)
      #expect(ring.tail << 1 == (tail &+ 1) << 1)
    }
  }

  @Test(arguments: edges)
  func `lanes work when the cursor wraps`(_ edge: UInt64) throws {
    let lanes = try Lanes<Int>(limit: 1, capacity: 8, startingAt: edge &- 11)
    var producer = try lanes.register()
    for lap in 0..<6 {
      for index in 0..<8 { #expect(producer.trySend(lap * 8 + index).isAccepted) }
      #expect(producer.trySend(-1).isAccepted == false)
      #expect(lanes.received(upTo: 3) == [lap * 8, lap * 8 + 1, lap * 8 + 2])
      #expect(lanes.received() == Array(lap * 8 + 3..<lap * 8 + 8))
    }
  }
}
