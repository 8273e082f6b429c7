import RawCore
import Synchronization

// Any thread.
extension SwiftRing {
  @inlinable
  @inline(__always)
  public func tryClaim(_ count: Int) -> RawClaim {
    let capacity = constants.pointee.capacity
    let tail = producers.pointee.tail.load(ordering: .relaxed)
    let after = tail &+ UInt64(truncatingIfNeeded: count) &* 2
    // RING_SPACE: with the release of whoever handed this head on, the slots before it are emptied.
    let seen = producers.pointee.headSeen.load(ordering: .acquiring)
    // What nearly every claim comes to stands here, to be inlined at each send: the count makes sense, there
    // is room even by a head that was seen before, and the ring is open. (A count of zero wraps around to
    // the largest number, and a negative one is large.)
    guard UInt64(truncatingIfNeeded: count) &- 1 < capacity, Self.hasRoom(capacity, from: seen, to: after),
      tail & 1 == 0
    else { return claimWithCare(count, hasLost: false) }
    // RING_CLAIM: in one order with the owner's leaving and its last look at the tail. A failed exchange
    // only reports what it saw; nothing is read through it.
    let (isClaimed, _) = producers.pointee.tail.compareExchange(
      expected: tail, desired: after, successOrdering: .sequentiallyConsistent, failureOrdering: .relaxed)
    return isClaimed ? .claimed(tail &>> 1) : claimWithCare(count, hasLost: true)
  }

  /// The whole of ``tryClaim(_:)``, with what is rare: reading the consumer's cursor, saying no, and backing
  /// off after a compare-and-swap that was lost.
  @usableFromInline
  @inline(never)
  func claimWithCare(_ count: Int, hasLost: Bool) -> RawClaim {
    let count = UInt64(truncatingIfNeeded: count)
    let capacity = constants.pointee.capacity
    if count &- 1 >= capacity { return .invalidCount }
    var pauses = 8
    if hasLost { Self.backOff(&pauses) }
    while true {
      // RING_CLAIM: not a head from before this tail; with both it could seem full, which it never was.
      let tail = producers.pointee.tail.load(ordering: .acquiring)
      if tail & 1 != 0 { return .closed }
      let after = tail &+ count &* 2
      // RING_SPACE: as above.
      let seen = producers.pointee.headSeen.load(ordering: .acquiring)
      if !Self.hasRoom(capacity, from: seen, to: after) {
        // RING_SPACE: with the consumer's release.
        let head = consumer.pointee.head.load(ordering: .acquiring)
        if !Self.hasRoom(capacity, from: head, to: after) { return .full }
        // RING_SPACE: who reads it must see the slots as emptied, hence release. An older value may
        // overwrite a newer one; that costs a second look, nothing else.
        producers.pointee.headSeen.store(head, ordering: .releasing)
      }
      // RING_CLAIM: as above.
      let (isClaimed, _) = producers.pointee.tail.compareExchange(
        expected: tail, desired: after, successOrdering: .sequentiallyConsistent,
        failureOrdering: .relaxed)
      if isClaimed { return .claimed(tail &>> 1) }
      Self.backOff(&pauses)
    }
  }

  /// Whether the slots from the cursor `head` to the doubled cursor `after` are no more than `capacity`.
  /// Signed, because the head may already be beyond a tail that is stale.
  @inlinable
  @inline(__always)
  static func hasRoom(_ capacity: UInt64, from head: UInt64, to after: UInt64) -> Bool {
    Int64(bitPattern: after &- head &* 2) <= Int64(bitPattern: capacity &* 2)
  }

  /// First about 200 ns, then doubling up to about 1.5 µs, so that one producer runs alone for a while
  /// instead of two sharing the line.
  private static func backOff(_ pauses: inout Int) {
    SwiftCore.pause(times: pauses)
    if pauses < 64 { pauses *= 2 }
  }

  @inlinable
  public func publish(_ cursor: UInt64, count: Int) {
    publish(cursor, count: count, flag: 0)
  }

  @inlinable
  public func abandon(_ cursor: UInt64, count: Int) {
    publish(cursor, count: count, flag: Self.skipFlag)
  }

  /// One word for each 127 slots, oldest first.
  @inlinable
  @inline(__always)
  func publish(_ cursor: UInt64, count: Int, flag: UInt64) {
    var cursor = cursor
    var left = UInt64(truncatingIfNeeded: count)
    while left > Self.longestRun {
      publishWord(cursor, run: Self.longestRun | flag)
      cursor &+= Self.longestRun
      left &-= Self.longestRun
    }
    publishWord(cursor, run: left | flag)
  }

  @inlinable
  @inline(__always)
  func publishWord(_ cursor: UInt64, run: UInt64) {
    // RING_ITEM: the payloads of the run, to the consumer's peek.
    word(cursor).pointee.store((cursor &<< 8) | run, ordering: .releasing)
  }

  @inlinable
  public func close() {
    // RING_CLOSE: why, to who finds it closed; with a place in S, for a mailbox that grows. Being one word, every
    // claim is before it or refused.
    producers.pointee.tail.bitwiseOr(1, ordering: .sequentiallyConsistent)
  }

  @inlinable
  public var isClosed: Bool {
    // RING_CLOSE: what the closer wrote before; in one order with the closing.
    producers.pointee.tail.load(ordering: .sequentiallyConsistent) & 1 != 0
  }

  @inlinable
  public var tail: UInt64 {
    // RING_CLAIM: every claim that is complete is below it.
    producers.pointee.tail.load(ordering: .sequentiallyConsistent) &>> 1
  }

  @inlinable
  public var wasCount: Int {
    // RING_SPACE: a head that is read before the tail cannot be beyond it.
    let head = consumer.pointee.head.load(ordering: .acquiring)
    let tail = producers.pointee.tail.load(ordering: .relaxed) &>> 1
    // Cursors have 63 bits, so their distance is taken modulo 2^63, as a signed number.
    let count = Int(truncatingIfNeeded: Int64(bitPattern: (tail &- head) &<< 1) &>> 1)
    return min(max(count, 0), capacity)
  }
}
