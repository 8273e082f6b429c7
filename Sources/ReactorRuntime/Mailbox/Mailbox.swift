import ReactorCore

/// Where a reactor's actions, and its other work, wait: the ring for what other threads send, and beside it a
/// queue for what the owner sends from inside its own turns, which can neither wait for room nor go through
/// the ring.
///
/// The two make one order. What the owner sends is stamped with the ring's tail and processed right before
/// the action that gets that cursor: after everything whose send returned before, and before everything
/// whose send begins later.
@usableFromInline
struct MailboxOn<C: Core, Action: Sendable>: ~Copyable, Sendable {
  @usableFromInline let ring: RingOn<C, Work<Action>>
  @usableFromInline let reentrant: OwnerQueue<Work<Action>>
  /// Senders that found the ring full sleep here.
  @usableFromInline let room: EventCountOn<C>

  init(capacity: Int, reentrantCapacity: Int) throws(CoreError) {
    let ring = try RingOn<C, Work<Action>>(capacity: capacity)
    let room = try EventCountOn<C>()
    self.ring = ring
    self.room = room
    reentrant = OwnerQueue(limit: reentrantCapacity)
  }

  /// Takes what the owner sends to itself; false at the limit. The owner.
  @inlinable
  func appendAsOwner(_ work: Work<Action>) -> Bool { reentrant.tryAppend(work, stamp: ring.tail) }

  /// Takes everything out that is inside. The owner.
  func removeAll() -> [Work<Action>] {
    var removed = removeFromRing()
    while let work = reentrant.removeFirst() { removed.append(work) }
    return removed
  }

  /// Takes out what others sent. The owner.
  func removeFromRing() -> [Work<Action>] {
    var removed: [Work<Action>] = []
    _ = ring.drain { removed.append($0) }
    return removed
  }

  /// Whether a quarter of the ring is free: senders that sleep are not woken for a slot each. Any thread.
  @inlinable
  var hasRoom: Bool { ring.wasCount <= ring.capacity - max(1, ring.capacity / 4) }

  /// Wakes the senders that sleep, once it is worth it. The owner, after each turn: the last one before it
  /// leaves empties the ring, so none sleeps on.
  @inlinable
  func notifyRoom() {
    // Looking for room takes the producers' line from them, so only if somebody sleeps.
    room.notify(if: { hasRoom })
  }

  /// Calls `body` with everything that is there, in order, at most about `limit`; answers how many. The
  /// owner. What `body` sends as owner counts.
  @inlinable
  @inline(__always)
  func drain(upTo limit: Int, _ body: (Work<Action>) -> Void) -> Int {
    var reentered = 0
    let received = ring.drain(upTo: limit) { work, cursor in
      if !reentrant.isEmpty { reentered += drainReentrant(before: cursor, upTo: .max, body) }
      body(work)
    }
    if !reentrant.isEmpty { reentered += drainReentrant(before: ring.head, upTo: limit, body) }
    return received + reentered
  }

  /// Those of the owner's own actions whose turn has come: what stands right before `cursor` in the ring.
  /// What these send themselves stands behind everything claimed so far.
  @inlinable
  @inline(never)
  func drainReentrant(before cursor: UInt64, upTo limit: Int, _ body: (Work<Action>) -> Void) -> Int {
    var count = 0
    while count < limit, let stamp = reentrant.firstStamp {
      // Cursors wrap, so they are compared by their distance; bit 63 of a head is not part of it.
      guard Int64(bitPattern: (cursor &- stamp) << 1) >= 0, let work = reentrant.removeFirst() else {
        break
      }
      body(work)
      count += 1
    }
    return count
  }
}
