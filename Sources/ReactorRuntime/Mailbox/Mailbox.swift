import ReactorCore

/// Holds what waits for a reactor's owner, in one order: the actions, and the steps.
///
/// The mailbox has three parts. The **ring** holds what other threads send. The **reentrant queue** holds what the owner
/// sends from inside its own turns, which can neither wait for room nor go through the ring. The ``Overflow`` holds what
/// other threads' turns send while the ring is full, until the owner moves it to the reentrant queue.
///
/// An element beside the ring has a stamp: the ring's tail at the moment of the send. It is processed right before the
/// element that gets this cursor: after everything whose send had returned, before everything whose send begins later.
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
  func free() {
    ring.free()
    overflow.releaseObject()
  }

  // MARK: Any thread

  /// Whether nothing is inside or claimed, and the owner need not check the overflow.
  ///
  /// One half of a pair, as ``Ring/isEmpty``: a thread that releases the ownership and then finds the mailbox empty
  /// misses no send of a thread that claims and then finds an owner.
  @inlinable
  @inline(__always)
  var isEmpty: Bool { ring.isEmpty && !mustCheckOverflow }

  /// Whether the mailbox is empty and open. (What is in the overflow came while the ring was full.)
  @inlinable
  @inline(__always)
  var isIdle: Bool { ring.isIdle && !mustCheckOverflow }

  /// Whether a quarter of the ring is free: senders that sleep are not woken for a slot each.
  @inlinable
  var hasRoom: Bool { ring.wasCount <= ring.capacity - max(1, ring.capacity / 4) }

  /// Whether the overflow may hold something, or a closer makes the owner check once more.
  @inlinable
  var mustCheckOverflow: Bool { overflow.use { $0.wasCheckRequested } ?? false }

  // MARK: The owner

  /// Whether something is ready to be processed. The owner.
  @inlinable
  var isReady: Bool { ring.isReady || (mustCheckOverflow && ring.isEmpty) }

  /// Appends what the owner sends to itself; returns false at the limit. The owner.
  @inlinable
  func tryAppendReentrant(_ work: Work<Action>) -> Bool {
    // What spilled before must keep its place before this.
    if mustCheckOverflow { moveOverflowToReentrant() }
    return reentrant.tryAppend(work, stamp: ring.tail)
  }

  /// Calls `body` with what is there, in order, about `limit` elements at most; returns how many. What `body` sends to
  /// its own reactor counts. The owner.
  @inlinable
  @inline(__always)
  func drain(upTo limit: Int, _ body: (Work<Action>) -> Void) -> Int {
    var reentered = 0
    let received = ring.drain(
      upTo: limit, after: { tryEmptyOverflow() },
      { work, cursor in
        if !reentrant.isEmpty { reentered += drainReentrant(before: cursor, upTo: .max, body) }
        body(work)
      })
    if !reentrant.isEmpty { reentered += drainReentrant(before: ring.head, upTo: limit, body) }
    return received + reentered
  }

  /// Drains a mailbox whose policy is ``OverflowPolicy/dropOldest``: as ``drain(upTo:_:)``, but calls `drop` instead of
  /// `body` with each action that was dropped in favour of a newer one.
  @inlinable
  @inline(never)
  func drain(upTo limit: Int, _ body: (Work<Action>) -> Void, orDrop drop: (Action) -> Void) -> Int {
    var reentered = 0
    let received = ring.drain(
      upTo: limit, after: { tryEmptyOverflow() },
      { work, cursor in
        if !reentrant.isEmpty { reentered += drainReentrant(before: cursor, upTo: .max, body) }
        if case .action(let action) = work, overflow.use({ $0.isDropped(at: cursor) }) == true {
          drop(action)
        } else {
          body(work)
        }
      })
    if !reentrant.isEmpty { reentered += drainReentrant(before: ring.head, upTo: limit, body) }
    return received + reentered
  }

  /// Calls `body` with the elements of the reentrant queue whose stamps do not lie after `cursor`. What `body` sends to
  /// its own reactor gets a stamp behind everything that was claimed so far.
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

  /// Checks the overflow before a drain, and moves what it holds to the reentrant queue. The owner.
  ///
  /// - Returns: False if the drain must wait: the oldest claim is not published yet. Nothing behind it could be
  ///   processed; and what has been moved can no longer be dropped in favour of something newer.
  @inlinable
  func tryEmptyOverflow() -> Bool {
    if !mustCheckOverflow { return true }
    if !ring.isReady, !ring.isEmpty { return false }
    moveOverflowToReentrant()
    return true
  }

  @usableFromInline
  func moveOverflowToReentrant() {
    overflow.use { $0.removeAll { work, stamp in reentrant.append(work, stamp: stamp) } }
  }

  /// Wakes senders that wait, if there is enough room. The owner, after each turn: its last turn empties the ring, so no
  /// sender waits for ever.
  @inlinable
  func notifyRoom() {
    // Computing `hasRoom` loads the tail, which takes its cache line from the producers. So only if somebody waits.
    overflow.use { $0.notifyRoom(if: { hasRoom }, atMost: max(1, ring.capacity / 4)) }
  }

  /// Takes everything out. The owner.
  func removeAll() -> [Work<Action>] {
    var removed = removeFromRing()
    moveOverflowToReentrant()
    while let work = reentrant.removeFirst() { removed.append(work) }
    return removed
  }

  /// Takes out what is in the ring. The owner.
  func removeFromRing() -> [Work<Action>] {
    var removed: [Work<Action>] = []
    while ring.drain(upTo: .max, { work, _ in removed.append(work) }) > 0 {}
    return removed
  }
}

/// An element of a mailbox.
@usableFromInline
enum Work<Action: Sendable>: Sendable {
  case action(Action)
  case step(Step)

  @inlinable var isAction: Bool { if case .action = self { true } else { false } }
}

/// Something other than an action that only the owner may do, in a turn: reducing a mutation that a stream emitted
/// elsewhere, or adding an observer.
///
/// It is an object, so that a slot of a mailbox need not be larger than a small action.
@usableFromInline
final class Step: Sendable {
  @usableFromInline let run: @Sendable () -> Void
  /// Called in place of `run` if the step will never run. The reason is nil if the reactor is gone.
  @usableFromInline let discard: @Sendable (SendError?) -> Void

  @usableFromInline
  init(
    _ run: @escaping @Sendable () -> Void,
    orDiscard discard: @escaping @Sendable (SendError?) -> Void = { _ in }
  ) {
    self.run = run
    self.discard = discard
  }
}
