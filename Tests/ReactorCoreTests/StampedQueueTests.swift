import ReactorCore
import TestSupport
import Testing

/// The queue for what waits beside the ring of a mailbox.
@Suite struct StampedQueueTests {
  @Test func `elements leave in the order in which they were added with their stamps`() {
    let queue = StampedQueue<Int>()
    #expect(queue.isEmpty == true)
    #expect(queue.firstStamp == nil)
    #expect(queue.first == nil)
    #expect(queue.removeFirst() == nil)
    for index in 0..<100 { queue.append(index, stamp: UInt64(index) * 3) }
    for index in 0..<100 {
      #expect(queue.isEmpty == false)
      #expect(queue.wasCount == 100 - index)
      #expect(queue.firstStamp == UInt64(index) * 3)
      #expect(queue.first == index)
      #expect(queue.removeFirst() == index)
    }
    #expect(queue.isEmpty == true)
    #expect(queue.firstStamp == nil)
    #expect(queue.removeFirst() == nil)
  }

  @Test func `a queue keeps its order when it grows`() {
    // The first element is at each index of the first block in turn; then the queue grows to several times its size.
    for offset in 0..<16 {
      let queue = StampedQueue<Int>()
      for index in 0..<offset {
        queue.append(index, stamp: 0)
        #expect(queue.removeFirst() == index)
      }
      for index in 0..<200 { queue.append(index, stamp: UInt64(index)) }
      for index in 0..<200 {
        #expect(queue.firstStamp == UInt64(index))
        #expect(queue.removeFirst() == index)
      }
    }
  }

  @Test func `a queue that was very long begins anew when it is empty`() {
    let queue = StampedQueue<Int>()
    for round in 0..<3 {
      let count = 3 * StampedQueue<Int>.keptCapacity + round
      for index in 0..<count { queue.append(index, stamp: UInt64(index)) }
      for index in 0..<count { #expect(queue.removeFirst() == index) }
      #expect(queue.isEmpty == true)
      #expect(queue.removeFirst() == nil)
    }
  }

  @Test func `an element moves to another queue with its stamp, alone or with all others`() {
    let first = StampedQueue<Int>()
    let second = StampedQueue<Int>()
    let third = StampedQueue<Int>()
    for index in 0..<10 { first.append(index, stamp: UInt64(index) + 5) }
    for _ in 0..<4 { first.moveFirst(to: second) }
    third.moveFirst(to: second)
    #expect(second.wasCount == 4)
    #expect(first.firstStamp == 9)
    first.moveAll(to: third)
    #expect(first.isEmpty == true)
    #expect(third.wasCount == 6)
    // The emptied queue can be used again.
    first.append(100, stamp: 0)
    for index in 0..<4 {
      #expect(second.firstStamp == UInt64(index) + 5)
      #expect(second.removeFirst() == index)
    }
    for index in 4..<10 {
      #expect(third.firstStamp == UInt64(index) + 5)
      #expect(third.removeFirst() == index)
    }
    #expect(first.removeFirst() == 100)
  }

  @Test(arguments: [1, 3, 100])
  func `the owner reserves up to the limit, whatever the queue contains`(_ limit: Int) {
    let queue = StampedQueue<Int>()
    queue.append(1, stamp: 0)
    #expect(queue.hasReservations == false)
    for _ in 0..<3 {
      for _ in 0..<limit { #expect(queue.tryReserve(upTo: limit) == true) }
      #expect(queue.tryReserve(upTo: limit) == false)
      #expect(queue.hasReservations == true)
      queue.cancelReservation()
      #expect(queue.tryReserve(upTo: limit) == true)
      for _ in 0..<limit { queue.cancelReservation() }
      #expect(queue.hasReservations == false)
    }
  }

  @Test func `each element is destroyed exactly once`() {
    let lifetimes = Lifetimes()
    do {
      let queue = StampedQueue<LifetimeTracked>()
      let other = StampedQueue<LifetimeTracked>()
      for index in 0..<40 { queue.append(lifetimes.track(index), stamp: 0) }
      for index in 0..<10 { #expect(queue.removeFirst()?.value == index) }
      #expect(lifetimes.alive == 30)
      for index in 0..<34 { queue.append(lifetimes.track(index), stamp: 0) }
      queue.moveFirst(to: other)
      queue.moveFirst(to: other)
      #expect(lifetimes.alive == 64)
      for _ in 0..<2 { #expect(other.removeFirst() != nil) }
      queue.moveAll(to: other)
      #expect(lifetimes.alive == 62)
    }
    #expect(lifetimes.alive == 0)
    #expect(lifetimes.total == 74)
  }
}
