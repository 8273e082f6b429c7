import ReactorCore
import TestSupport
import Testing

/// Sending several elements with one claim.
@Suite struct RingBatchTests {
  @Test(arguments: [1, 16, 127, 128, 255, 300, 512])
  func `a batch is received without a gap`(_ count: Int) throws {
    let ring = try Ring<Int>(capacity: 512)
    // More than four laps, so that some batches lie across the end of the memory.
    for round in 0..<(2048 / count + 5) {
      #expect(ring.trySend(count: count) { round * 1000 + $0 } == .accepted)
      #expect(ring.wasCount == count)
      #expect(ring.received() == (0..<count).map { round * 1000 + $0 })
    }
  }

  @Test(arguments: [0, -1, Int.min, 9, 16, Int.max])
  func `a batch with an invalid count is refused`(_ count: Int) throws {
    let ring = try Ring<Int>(capacity: 8)
    var isCalled = false
    let make = { (index: Int) -> Int in
      isCalled = true
      return index
    }
    #expect(ring.trySend(count: count, make) == .invalidCount)
    #expect(!isCalled)
    #expect(ring.wasCount == 0)
    // The error is the count, no matter how full the ring is.
    #expect(ring.trySend(count: 8) { $0 } == .accepted)
    #expect(ring.trySend(count: count, make) == .invalidCount)
    #expect(ring.received() == Array(0..<8))
  }

  @Test
  func `a batch is sent as a whole or not at all`() throws {
    let ring = try Ring<Int>(capacity: 8)
    #expect(ring.trySend(count: 5) { $0 } == .accepted)
    #expect(ring.trySend(count: 4) { $0 } == .full)
    #expect(ring.wasCount == 5)
    #expect(ring.trySend(count: 3) { 5 + $0 } == .accepted)
    #expect(ring.trySend(count: 1) { $0 } == .full)
    #expect(ring.received(upTo: 2) == [0, 1])
    #expect(ring.trySend(count: 3) { $0 } == .full)
    #expect(ring.trySend(count: 2) { 8 + $0 } == .accepted)
    #expect(ring.received() == Array(2..<10))
  }

  @Test(arguments: [2, 127, 128, 300])
  func `a drain may stop in the middle of a batch`(_ count: Int) throws {
    let ring = try Ring<Int>(capacity: 512)
    #expect(ring.trySend(count: count) { $0 } == .accepted)
    #expect(ring.trySend(-7).isAccepted)
    var received: [Int] = []
    for step in 1... {
      let some = ring.received(upTo: step)
      if some.isEmpty { break }
      #expect(some.count == min(step, count + 1 - received.count))
      received += some
      #expect(ring.wasCount == count + 1 - received.count)
      #expect(ring.isReady == (received.count <= count))
    }
    #expect(received == Array(0..<count) + [-7])
  }

  @Test
  func `isReady is true in the middle of a batch`() throws {
    let ring = try Ring<Int>(capacity: 8)
    #expect(ring.trySend(count: 4) { $0 } == .accepted)
    #expect(ring.received(upTo: 1) == [0])
    #expect(ring.isReady == true)
    // `isHeadPublished` loads the word of the slot at the head, and only the first slot of a run has one.
    #expect(ring.isHeadPublished == false)
    #expect(ring.received() == [1, 2, 3])
    #expect(ring.trySend(4).isAccepted)
    #expect(ring.isHeadPublished == true)
  }

  @Test
  func `batches of several threads do not mix`() throws {
    let ring = Shared(try Ring<Int>(capacity: 1024))
    let rounds = 300
    let batch = 150
    let isDone = Threads.start {
      _ = Threads.run(3) { producer in
        for round in 0..<rounds {
          let name = (producer * rounds + round) * batch
          while ring.value.trySend(count: batch, { name + $0 }) != .accepted { DedicatedThread.yield() }
        }
      }
    }
    var received: [Int] = []
    let isComplete = Threads.yield {
      received += ring.value.received(upTo: 37)
      return received.count == 3 * rounds * batch
    }
    #expect(isComplete)
    #expect(isDone.wait())
    let isContiguous = stride(from: 0, to: received.count, by: batch).allSatisfy { first in
      received[first] % batch == 0
        && (0..<batch).allSatisfy { received[first + $0] == received[first] + $0 }
    }
    #expect(isContiguous)
  }
}
