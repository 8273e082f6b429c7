import TestSupport
import Testing

@testable import ReactorCore

/// A producer that stops for a while at each point between its claim and the end of its publication.
///
/// One thread plays all parts, with the same steps as a send.
@Suite struct FrozenProducerTests {
  /// The last step that the producer has made.
  enum Point: CaseIterable, Sendable {
    case claimed
    case halfWritten
    case written
    /// The publication has more than one word, and the first one is visible.
    case halfPublished
    case published
  }

  /// The first cursors: nothing wraps soon, the words of the slots wrap soon, the cursors wrap soon.
  static let starts: [UInt64] = [0, (1 << 56) - 5, (1 << 63) - 5]
  static let capacity = 256

  private struct Frozen {
    let raw: CurrentCore.Ring
    let cursor: UInt64
    let count: Int
    /// How many elements the consumer may see.
    private(set) var visible = 0
    /// The longest run that one word publishes.
    static var longestRun: Int { 127 }

    init?(_ count: Int, in raw: CurrentCore.Ring) {
      guard case .claimed(let cursor) = raw.tryClaim(count) else { return nil }
      (self.raw, self.cursor, self.count) = (raw, cursor, count)
    }

    private func write(_ range: Range<Int>, from first: Int) {
      for index in range {
        raw.payload(cursor &+ UInt64(index)).initializeMemory(as: Int.self, to: first + index)
      }
    }

    private mutating func publish(upTo end: Int) {
      if end > visible { raw.publish(cursor &+ UInt64(visible), count: end - visible) }
      visible = max(visible, end)
    }

    /// Continues up to `point`, with the elements `first`, `first + 1`, …
    mutating func go(to point: Point, from start: Point? = nil, first: Int) {
      let steps: [(Point, (inout Self) -> Void)] = [
        (.halfWritten, { $0.write(0..<$0.count / 2, from: first) }),
        (.written, { $0.write($0.count / 2..<$0.count, from: first) }),
        (.halfPublished, { if $0.count > Self.longestRun { $0.publish(upTo: Self.longestRun) } }),
        (.published, { $0.publish(upTo: $0.count) }),
      ]
      for (reached, step) in steps {
        let points = Point.allCases
        let index = points.firstIndex(of: reached)!
        if let start, index <= points.firstIndex(of: start)! { continue }
        if index <= points.firstIndex(of: point)! { step(&self) }
      }
    }
  }

  /// Sends elements until there is no room, and returns how many.
  private func fill(_ ring: borrowing Ring<Int>, _ next: inout Int) -> Int {
    let first = next
    while ring.trySend(next).isAccepted { next += 1 }
    return next - first
  }

  @Test(arguments: Point.allCases)
  func `a stopped producer delays only what is claimed later`(_ point: Point) throws {
    func body(_ count: Int, _ start: UInt64) throws {
      let ring = try Ring<Int>(capacity: Self.capacity, startingAt: start)
      for lap in 0..<3 {
        var (next, expected) = (2, 0)
        #expect(ring.trySend(0).isAccepted)
        #expect(ring.trySend(1).isAccepted)
        var frozen = try #require(Frozen(count, in: ring.raw))
        frozen.go(to: point, first: next)
        next += count
        // Others send until every slot is taken, its own included, and not one more.
        #expect(fill(ring, &next) == Self.capacity - 2 - count, "lap \(lap)")
        #expect(ring.wasCount == Self.capacity)

        // What was claimed before is received, and so is the visible part of the claim. Once its last word is
        // published, everything behind it is received too.
        func receive() -> Int {
          let received = ring.received()
          #expect(received == Array(expected..<expected + received.count))
          expected += received.count
          return received.count
        }
        let isPublished = frozen.visible == count
        #expect(receive() == (isPublished ? Self.capacity : 2 + frozen.visible))
        #expect(ring.isReady == false)
        #expect(ring.isIdle == isPublished)
        #expect(ring.wasCount == Self.capacity - expected)
        // There is room for as many elements as were received.
        #expect(fill(ring, &next) == expected)
        #expect(ring.wasCount == Self.capacity)
        let behind = receive()
        #expect(behind == (isPublished ? Self.capacity : 0))

        // The producer continues: nothing is lost, and everything is in order.
        frozen.go(to: .published, from: point, first: 2)
        _ = receive()
        #expect(expected == next)
        #expect(ring.isIdle == true)
        #expect(ring.wasCount == 0)
      }
    }
    for count in [1, 2, 126, 127, 128, 200] {
      for start in Self.starts { try body(count, start) }
    }
  }

  @Test(arguments: Point.allCases)
  func `a claim is still received if the ring is closed before its publication`(_ point: Point) throws {
    func body(_ count: Int, _ start: UInt64) throws {
      let ring = try Ring<Int>(capacity: Self.capacity, startingAt: start)
      #expect(ring.trySend(0).isAccepted)
      var frozen = try #require(Frozen(count, in: ring.raw))
      frozen.go(to: point, first: 1)
      #expect(ring.trySend(count + 1).isAccepted)
      ring.close()
      if case .closed(let returned) = ring.trySend(-1) {
        #expect(returned == -1)
      } else {
        Issue.record("a closed ring accepts")
      }
      let isPublished = frozen.visible == count
      let received = ring.received()
      #expect(received == Array(0..<(isPublished ? count + 2 : 1 + frozen.visible)))
      // The ring is closed, but it is not empty before the last publication.
      #expect(ring.isEmpty == isPublished)
      frozen.go(to: .published, from: point, first: 1)
      #expect(received + ring.received() == Array(0..<count + 2))
      #expect(ring.isEmpty == true)
      #expect(ring.isClosed == true)
    }
    for count in [1, 3, 128, 200] {
      for start in Self.starts { try body(count, start) }
    }
  }

  /// The producer abandons its claim instead of publishing it, which it may do only before any part is visible.
  @Test(arguments: [Point.claimed])
  func `an abandoned claim is skipped`(_ point: Point) throws {
    func body(_ count: Int, _ start: UInt64) throws {
      let ring = try Ring<Int>(capacity: Self.capacity, startingAt: start)
      let frozen = try #require(Frozen(count, in: ring.raw))
      var next = 0
      #expect(fill(ring, &next) == Self.capacity - count)
      #expect(ring.received() == [])
      frozen.raw.abandon(frozen.cursor, count: count)
      #expect(ring.received() == Array(0..<next))
      #expect(ring.isIdle == true)
    }
    for count in [1, 3, 128, 200] {
      for start in Self.starts { try body(count, start) }
    }
  }

  /// Several producers stop at different points. Each delays what is behind it.
  @Test(arguments: Point.allCases)
  func `the oldest unpublished claim decides what is received`(_ point: Point) throws {
    let ring = try Ring<Int>(capacity: 8)
    var first = try #require(Frozen(2, in: ring.raw))
    var second = try #require(Frozen(2, in: ring.raw))
    second.go(to: point, first: 2)
    #expect(ring.trySend(4).isAccepted)
    #expect(ring.received() == [])
    first.go(to: .published, first: 0)
    let isPublished = second.visible == 2
    #expect(ring.received() == (isPublished ? [0, 1, 2, 3, 4] : [0, 1]))
    second.go(to: .published, from: point, first: 2)
    #expect(ring.received() == (isPublished ? [] : [2, 3, 4]))
    #expect(ring.isIdle == true)
  }

  /// In lanes, no other producer is behind it.
  @Test(arguments: [false, true])
  func `a stopped producer delays no other producer of lanes`(_ isWritten: Bool) throws {
    let lanes = try Lanes<Int>(limit: 2, capacity: 4)
    var frozen = try lanes.raw.register()
    let claimed = frozen.tryClaim()
    let slot = try #require(claimed)
    if isWritten { slot.initializeMemory(as: Int.self, to: 100) }
    var other = try lanes.register()
    for round in 0..<3 {
      for index in 0..<4 {
        let isAccepted = other.trySend(4 * round + index).isAccepted
        #expect(isAccepted)
      }
      // The claim in its own lane takes no slot of theirs.
      let isAccepted = other.trySend(-1).isAccepted
      #expect(!isAccepted)
      #expect(lanes.received() == Array(4 * round..<4 * round + 4))
    }
    if !isWritten { slot.initializeMemory(as: Int.self, to: 100) }
    frozen.publish()
    #expect(lanes.received() == [100])
    frozen.close()
  }
}
