import FaultyPlatform
import TestSupport
import Testing

@testable import ReactorCore
@testable import ReactorRuntime

/// The chain of rings of a mailbox while it grows.
@Suite struct GrowingRingTests {
  /// A claim that is not published keeps the first ring in use while a second one, which was made in the middle of a
  /// drain, is filled.
  @Test
  func `actions that spill come before those that are sent later`() throws {
    let mailbox = try Mailbox<Int>(capacity: 64, reentrantCapacity: 1024)
    defer { mailbox.free() }
    let overflow = mailbox.overflow.setIfNil(try Overflow())
    for action in 0..<7 { _ = mailbox.ring.offer(.action(action)) }
    let raw = try #require(mailbox.ring.newest.use { $0.ring.raw })
    guard case .claimed(let late) = raw.tryClaim(1) else { throw CancellationError() }
    var next = 8
    func fill() {
      while mailbox.ring.offer(.action(next)) == .accepted { next += 1 }
    }
    var received: [Int] = []
    func receive(_ work: Work<Int>) {
      if received.isEmpty {
        let offer = mailbox.ring.offer(.action(next))
        #expect(offer == .accepted)
        next += 1
      }
      if case .action(let action) = work { received.append(action) }
    }
    let count = mailbox.drain(upTo: 1024, receive, besideRing: receive)
    #expect(count == 7)
    fill()
    raw.slots.payload(late, as: Work<Int>.self).initialize(to: .action(7))
    raw.publish(late, count: 1)
    var spilled = Int.max
    func receiveAndFill(_ work: Work<Int>) {
      guard case .action(let action) = work else { return }
      if action == 7 {
        fill()
        spilled = next
        next += 1
        let outcome = overflow.spilled.keep(
          .action(spilled), beside: mailbox.ring, limit: 8, mailbox.ownerCheck)
        #expect(outcome == .kept)
      } else if action < 100 {
        // As soon as there is room.
        if mailbox.ring.offer(.action(next)) == .accepted { next += 1 }
      }
      received.append(action)
    }
    while mailbox.drain(upTo: 1024, receiveAndFill, besideRing: receiveAndFill) > 0 {}
    #expect(spilled < next - 1)
    #expect(received == Array(0..<next))
  }

  /// A thread has closed a ring in order to grow, and has not linked the next one yet.
  @Test(arguments: [true, false])
  func `a closed ring does not grow`(hasMemory: Bool) throws {
    typealias Ring = GrowingRing<Int>
    defer { faulty_reset() }
    let ring = try Ring(capacity: 64)
    defer { ring.free() }
    for element in 0..<3 { _ = ring.offer(element) }
    let first = try #require(ring.newest.use { $0 })
    first.ring.close()
    let late = try Ring.Segment(capacity: 64, after: first)
    late.ring.restart(head: first.ring.head, tail: first.ring.tail)
    let next = ring.lifecycle.openToClosing(by: .reactor(.drain))
    #expect(next == .seal)
    if !hasMemory { faulty_fail_allocations_after(0) }
    let isSealed = ring.seal()
    #expect(isSealed)
    let isReplaced = ring.newest.replace(first, with: late)
    #expect(!isReplaced)
    let offer = ring.offer(3)
    #expect(offer == .closed)
    var received: [Int] = []
    while ring.drain(upTo: .max, { element, _ in received.append(element) }) > 0 {}
    #expect(received == [0, 1, 2])
    let isEmpty = ring.isEmpty
    #expect(isEmpty)
  }
}
