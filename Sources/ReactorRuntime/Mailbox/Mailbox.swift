import ReactorCore

/// Where a reactor's actions, and its other work, wait: the ring for what other threads send, and beside it a
/// queue for what the owner sends from inside its own turns, which can neither wait for room nor go through
/// the ring.
///
/// The two make one order. What the owner sends is stamped with the ring's tail and processed right before
/// the action that gets that cursor: after everything whose send returned before, and before everything
/// whose send begins later. What other threads' turns send while the ring is full joins that queue with such
/// stamps: see ``Overflow``.
@usableFromInline
struct Mailbox<Action: Sendable>: ~Copyable, Sendable {
  @usableFromInline let ring: GrowingRing<Work<Action>>
  @usableFromInline let reentrant: ReentrantQueue<Work<Action>>
  /// Made when the ring is full for the first time.
  @usableFromInline let overflow = AtomicOnce<Overflow<Action>>()

  init(capacity: Int, reentrantCapacity: Int) throws(CoreError) {
    ring = try GrowingRing(capacity: capacity)
    reentrant = ReentrantQueue(limit: reentrantCapacity)
  }

  /// Frees everything. The holder, last of all.
  func letGo() {
    ring.letGo()
    overflow.releaseObject()
  }

  // MARK: The owner

  /// Takes what the owner sends to itself; false at the limit.
  @inlinable
  func tryAppendReentrant(_ work: Work<Action>) -> Bool {
    if hasSpilled { takeSpilled() }
    return reentrant.tryAppend(work, stamp: ring.tail)
  }

  /// Takes everything out that is inside.
  func removeAll() -> [Work<Action>] {
    var removed = removeFromRing()
    takeSpilled()
    while let work = reentrant.removeFirst() { removed.append(work) }
    return removed
  }

  /// Takes out what others sent.
  func removeFromRing() -> [Work<Action>] {
    var removed: [Work<Action>] = []
    while ring.drain(upTo: .max, { work, _ in removed.append(work) }) > 0 {}
    return removed
  }

  /// Wakes the senders that wait for room, once it is worth it. After each turn: the last one before the owner
  /// leaves empties the ring, so none waits on.
  @inlinable
  func notifyRoom() {
    // Looking for room takes the producers' line from them, so only if somebody waits.
    overflow.use { $0.notifyRoom(if: { hasRoom }, atMost: max(1, ring.capacity / 4)) }
  }

  /// Calls `body` with what is there, in order, at most about `limit`; answers how many. What `body` sends as
  /// owner counts.
  @inlinable
  @inline(__always)
  func drain(upTo limit: Int, _ body: (Work<Action>) -> Void) -> Int {
    var reentered = 0
    let received = ring.drain(
      upTo: limit, after: { tryTakeOverSpilled() },
      { work, cursor in
        if !reentrant.isEmpty { reentered += drainReentrant(before: cursor, upTo: .max, body) }
        body(work)
      })
    if !reentrant.isEmpty { reentered += drainReentrant(before: ring.head, upTo: limit, body) }
    return received + reentered
  }

  /// As ``drain(upTo:_:)``, of a mailbox in which newer actions push older ones out.
  ///
  /// - Parameter drop: Called, in the place of `body`, with those.
  @inlinable
  @inline(never)
  func drain(upTo limit: Int, _ body: (Work<Action>) -> Void, orDrop drop: (Action) -> Void) -> Int {
    var reentered = 0
    let received = ring.drain(
      upTo: limit, after: { tryTakeOverSpilled() },
      { work, cursor in
        if !reentrant.isEmpty { reentered += drainReentrant(before: cursor, upTo: .max, body) }
        if case .action(let action) = work, overflow.use({ $0.isPushedOut(cursor) }) == true {
          drop(action)
        } else {
          body(work)
        }
      })
    if !reentrant.isEmpty { reentered += drainReentrant(before: ring.head, upTo: limit, body) }
    return received + reentered
  }

  /// Those of the queue whose turn has come: what stands right before `cursor` in the ring. What these send
  /// themselves stands behind everything claimed so far.
  @inlinable
  @inline(never)
  func drainReentrant(before cursor: UInt64, upTo limit: Int, _ body: (Work<Action>) -> Void) -> Int {
    var count = 0
    while count < limit, let stamp = reentrant.firstStamp {
      guard !Cursor.isBefore(cursor, stamp), let work = reentrant.removeFirst() else { break }
      body(work)
      count += 1
    }
    return count
  }

  /// Before a drain: takes over what is kept beside the ring, if there is anything. False if that has to wait, and
  /// the drain with it: behind a claim that is not yet published nothing could be processed of it, and what was
  /// taken over cannot give way any more.
  @inlinable
  func tryTakeOverSpilled() -> Bool {
    if !hasSpilled { return true }
    if !ring.isReady, !ring.isEmpty { return false }
    takeSpilled()
    return true
  }

  /// Whether there may be something in the overflow. Any thread.
  @inlinable
  var hasSpilled: Bool { overflow.use { $0.wasRaised } ?? false }

  /// Takes over what has spilled.
  @usableFromInline
  func takeSpilled() {
    overflow.use { $0.take { work, stamp in reentrant.append(work, stamp: stamp) } }
  }

  // MARK: Any thread

  /// Whether nothing is inside or on its way in. One half of a pair, as that of a ring.
  @inlinable
  @inline(__always)
  var isEmpty: Bool { ring.isEmpty && !hasSpilled }

  /// Whether that is so, and it is open. What has spilled has a ring that was full.
  @inlinable
  @inline(__always)
  var isIdle: Bool { ring.isIdle && !hasSpilled }

  /// Whether something is ready to be processed. The owner.
  @inlinable
  var isReady: Bool { ring.isReady || (hasSpilled && ring.isEmpty) }

  /// Whether a quarter of the ring is free: senders that sleep are not woken for a slot each.
  @inlinable
  var hasRoom: Bool { ring.wasCount <= ring.capacity - max(1, ring.capacity / 4) }
}

/// What waits in a mailbox.
@usableFromInline
enum Work<Action: Sendable>: Sendable {
  case action(Action)
  case step(Step)

  @inlinable var isAction: Bool { if case .action = self { true } else { false } }
}

/// Something other than an action that only the owner may do, in a turn: reducing a mutation that a stream
/// emitted elsewhere, or adding an observer.
///
/// An object, so that it takes no more room in each slot of a mailbox than a small action does.
@usableFromInline
final class Step: Sendable {
  @usableFromInline let run: @Sendable () -> Void
  /// Called in place of `run` if the reactor does not accept it; without a reason if the reactor is gone.
  @usableFromInline let lose: @Sendable (SendError?) -> Void

  @usableFromInline
  init(
    _ run: @escaping @Sendable () -> Void, orLose lose: @escaping @Sendable (SendError?) -> Void = { _ in }
  ) {
    self.run = run
    self.lose = lose
  }
}
