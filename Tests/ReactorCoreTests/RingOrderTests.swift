import ReactorCore
import TestSupport
import Testing

/// First in, first out, and a truthful `full`.
@Suite struct RingOrderTests {
  @Test(arguments: [1, 2, 4, 1024])
  func `elements are received in the order in which they were sent`(_ capacity: Int) throws {
    let ring = try Ring<Int>(capacity: capacity)
    for lap in 0..<3 {
      for index in 0..<capacity { #expect(ring.trySend(lap * capacity + index).isAccepted) }
      #expect(ring.wasCount == capacity)
      #expect(ring.received() == Array(lap * capacity..<(lap + 1) * capacity))
      #expect(ring.wasCount == 0)
      #expect(ring.isEmpty == true)
    }
  }

  @Test(arguments: [1, 2, 4, 1024])
  func `full is reported only while every slot is taken`(_ capacity: Int) throws {
    let ring = try Ring<Int>(capacity: capacity)
    for index in 0..<capacity { #expect(ring.trySend(index).isAccepted) }
    // Each slot that is released makes room for exactly one.
    for next in capacity..<capacity * 3 {
      guard case .full(let refused) = ring.trySend(next) else {
        Issue.record("a full ring accepted \(next)")
        return
      }
      #expect(refused == next)
      #expect(ring.received(upTo: 1) == [next - capacity])
      #expect(ring.trySend(next).isAccepted)
    }
    #expect(ring.received() == Array(capacity * 2..<capacity * 3))
  }

  @Test(arguments: [1, 4, 16, 256])
  func `slots are released during a drain`(_ capacity: Int) throws {
    let ring = try Ring<Int>(capacity: capacity)
    for index in 0..<capacity { #expect(ring.trySend(index).isAccepted) }
    var received: [Int] = []
    var next = capacity
    // The body sends whenever there is room. There must be room at least after every 64 elements.
    _ = ring.drain(upTo: capacity * 4) { (element: consuming Int) in
      received.append(element)
      while next < capacity * 4, ring.trySend(next).isAccepted { next += 1 }
    }
    received += ring.received()
    #expect(received == Array(0..<next))
    if capacity > 1 { #expect(next > capacity) }
  }

  @Test
  func `cursors count the elements`() throws {
    let ring = try Ring<Int>(capacity: 8)
    var cursors: [UInt64] = []
    for index in 0..<20 {
      #expect(ring.tail == UInt64(index))
      #expect(ring.trySend(index).isAccepted)
      #expect(ring.isReady == true)
      #expect(ring.isHeadPublished == true)
      #expect(ring.isIdle == false)
      _ = ring.drain { (_: consuming Int, cursor: UInt64) in cursors.append(cursor) }
      #expect(ring.head == UInt64(index + 1))
    }
    #expect(cursors == Array(0..<20))
  }

  @Test
  func `a drain stops at its limit`() throws {
    let ring = try Ring<Int>(capacity: 64)
    #expect(ring.received() == [])
    for index in 0..<64 { #expect(ring.trySend(index).isAccepted) }
    #expect(ring.received(upTo: 0) == [])
    #expect(ring.received(upTo: -1) == [])
    #expect(ring.wasCount == 64)
    var next = 0
    for limit in [1, 2, 3, 10, 40] {
      #expect(ring.received(upTo: limit) == Array(next..<next + limit))
      next += limit
    }
    #expect(ring.received(upTo: 1000) == Array(next..<64))
  }

  @Test
  func `a ring keeps the order of each producer`() throws {
    let ring = Shared(try Ring<Int>(capacity: 16))
    let producers = 4
    let each = 2000
    let isDone = Threads.start {
      _ = Threads.run(producers) { producer in
        for index in 0..<each {
          while !ring.value.trySend(producer * each + index).isAccepted { DedicatedThread.yield() }
        }
      }
    }
    var next = (0..<producers).map { $0 * each }
    var violations = 0
    var received = 0
    let isComplete = Threads.yield {
      received += ring.value.drain { (element: consuming Int) in
        if next[element / each] != element { violations += 1 }
        next[element / each] = element + 1
      }
      return received == producers * each
    }
    #expect(isComplete)
    #expect(isDone.wait())
    #expect(violations == 0)
    #expect(ring.value.wasCount == 0)
  }
}
