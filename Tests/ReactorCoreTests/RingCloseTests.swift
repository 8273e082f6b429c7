import ReactorCore
import TestSupport
import Testing

/// A closed ring accepts nothing, but its elements are still received.
@Suite struct RingCloseTests {
  @Test
  func `a closed ring refuses sends and can be drained`() throws {
    let ring = try Ring<Int>(capacity: 4)
    #expect(ring.trySend(count: 3) { $0 } == .accepted)
    ring.close()
    #expect(ring.isClosed == true)
    guard case .closed(let refused) = ring.trySend(9) else {
      Issue.record("a closed ring accepted an element")
      return
    }
    #expect(refused == 9)
    #expect(ring.trySend(count: 1) { $0 } == .closed)
    #expect(ring.wasCount == 3)
    #expect(ring.isIdle == false)
    #expect(ring.received() == [0, 1, 2])
    #expect(ring.isEmpty == true)
    // Not idle: no sender may use the fast path of an open ring.
    #expect(ring.isIdle == false)
    ring.close()
    #expect(ring.isClosed == true)
  }

  @Test
  func `a full ring that is closed reports closed`() throws {
    let ring = try Ring<Int>(capacity: 2)
    #expect(ring.trySend(count: 2) { $0 } == .accepted)
    ring.close()
    guard case .closed = ring.trySend(1) else {
      Issue.record("a full ring that is closed reports something else")
      return
    }
    // A count that is never accepted is the caller's error, whether the ring is open or closed.
    #expect(ring.trySend(count: 3) { $0 } == .invalidCount)
  }

  @Test
  func `a claim before the close may still be published`() throws {
    let ring = try CurrentCore.Ring(capacity: 4, size: 8, alignment: 8, startingAt: 0)
    defer { ring.destroy() }
    #expect(ring.tryClaim(2) == .claimed(0))
    ring.close()
    #expect(ring.tryClaim(1) == .closed)
    #expect(ring.peek(0) == .notReady)
    ring.publish(0, count: 2)
    #expect(ring.peek(0) == .run(2))
    #expect(ring.wasCount == 2)
    ring.release(2)
    #expect(ring.wasCount == 0)
  }

  @Test
  func `every send during a close is either received or refused`() throws {
    let ring = Shared(try Ring<Int>(capacity: 256))
    let accepted = Record<Int>()
    let halfway = Gate()
    let isDone = Threads.start {
      _ = Threads.run(3) { producer in
        var mine = 0
        while true {
          switch ring.value.trySend(producer) {
          case .accepted:
            mine += 1
            if mine == 100 { halfway.open() }
            continue
          case .full:
            DedicatedThread.yield()
            continue
          case .closed:
            break
          }
          break
        }
        accepted.append(mine)
      }
    }
    var received = 0
    let isOpen = Threads.yield {
      // Limited, because a drain continues for as long as the producers keep pace.
      received += ring.value.received(upTo: 256).count
      return halfway.isOpen
    }
    #expect(isOpen)
    ring.value.close()
    #expect(isDone.wait())
    received += ring.value.received().count
    #expect(accepted.elements.reduce(0, +) == received)
  }
}
