import ReactorCore
import TestSupport
import Testing

/// Claims that are published late, out of order, or never, with the raw ring.
@Suite struct RingClaimTests {
  @Test
  func `a late claim stops the consumer but not other producers`() throws {
    let ring = try CurrentCore.Ring(capacity: 4, size: 8, alignment: 8, startingAt: 0)
    defer { ring.destroy() }
    #expect(ring.tryClaim(1) == .claimed(0))
    // Others continue behind it while there is room.
    for cursor in 1...3 as ClosedRange<UInt64> {
      #expect(ring.tryClaim(1) == .claimed(cursor))
      ring.publish(cursor, count: 1)
    }
    #expect(ring.peek(0) == .notReady)
    #expect(ring.peek(1) == .run(1))
    #expect(ring.isIdle == false)
    #expect(ring.wasCount == 4)
    #expect(ring.tryClaim(1) == .full)
    // It recovers once the claim is published.
    ring.publish(0, count: 1)
    for cursor in 0...3 as ClosedRange<UInt64> { #expect(ring.peek(cursor) == .run(1)) }
    ring.release(4)
    #expect(ring.isIdle)
    #expect(ring.tryClaim(4) == .claimed(4))
    #expect(ring.peek(4) == .notReady)
  }

  @Test(arguments: [1, 2, 127, 128, 254, 300])
  func `the words of a run say how many slots it has`(_ count: Int) throws {
    let ring = try CurrentCore.Ring(capacity: 512, size: 8, alignment: 8, startingAt: 0)
    defer { ring.destroy() }
    var start: UInt64 = 0
    for isAbandoned in [false, true, true, false, false, true] {
      #expect(ring.tryClaim(count) == .claimed(start))
      #expect(ring.peek(start) == .notReady)
      if isAbandoned { ring.abandon(start, count: count) } else { ring.publish(start, count: count) }
      var cursor = start
      while cursor < start + UInt64(count) {
        let run = UInt32(min(127, start + UInt64(count) - cursor))
        #expect(ring.peek(cursor) == (isAbandoned ? .skip(run) : .run(run)))
        cursor += UInt64(run)
      }
      #expect(cursor == start + UInt64(count))
      #expect(ring.peek(cursor) == .notReady)
      ring.release(cursor)
      start = cursor
    }
  }

  @Test
  func `the ring remembers the rest of a run`() throws {
    let ring = try CurrentCore.Ring(capacity: 2, size: 8, alignment: 8, startingAt: 0)
    defer { ring.destroy() }
    #expect(ring.runLeft == 0)
    ring.runLeft = 126
    #expect(ring.runLeft == 126)
    #expect(ring.capacity == 2)
    #expect(ring.head == 0)
    #expect(ring.tail == 0)
  }

  @Test
  func `a claim may be abandoned after a close`() throws {
    let ring = try CurrentCore.Ring(capacity: 4, size: 8, alignment: 8, startingAt: UInt64.max)
    defer { ring.destroy() }
    guard case .claimed(let cursor) = ring.tryClaim(3) else {
      Issue.record("an empty ring refused a claim")
      return
    }
    ring.close()
    ring.abandon(cursor, count: 3)
    #expect(ring.peek(ring.head) == .skip(3))
    #expect(ring.tail << 1 == (cursor &+ 3) << 1)
  }

  @Test
  func `payloads do not overlap and are aligned`() throws {
    for (size, alignment) in [(1, 1), (8, 8), (24, 8), (200, 8), (64, 64), (3, 128), (48, 16)] {
      let ring = try CurrentCore.Ring(capacity: 8, size: size, alignment: alignment, startingAt: 0)
      defer { ring.destroy() }
      let addresses = (0..<8).map { Int(bitPattern: ring.payload($0)) }
      #expect(addresses.allSatisfy { $0 % alignment == 0 })
      #expect(zip(addresses, addresses.dropFirst()).allSatisfy { $1 - $0 >= size })
      #expect(ring.payload(8) == ring.payload(0))
    }
  }
}
