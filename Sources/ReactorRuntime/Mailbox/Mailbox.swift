import ReactorCore
import Synchronization

/// Holds what waits for a reactor's owner, in one order: the actions, and the steps.
///
/// The **ring** holds what other threads send. What cannot wait for room in the ring is beside it: the **owner's queue**
/// holds what the owner sends from inside its own turns, and ``Spilled`` what other threads send while the ring is full.
/// The owner moves what has spilled to its queue when that is empty.
///
/// An element beside the ring has a stamp: the ring's tail at the moment of the send. It is processed right before the
/// element that gets this cursor: after everything whose send had returned, before everything whose send begins later.
///
/// At most this much waits: the ring's capacity; `reentrantCapacity` elements that the owner sent; as many that turns on
/// other threads sent; with ``OverflowPolicy/dropOldest`` twice the capacity; and what was sent by key before the reactor was there.
@usableFromInline
struct Mailbox<Action: Sendable>: ~Copyable, Sendable {
  @usableFromInline let ring: GrowingRing<Work<Action>>
  @usableFromInline let ownerCheck = OwnerCheck()
  /// The owner's queue. Its reservations are what the owner has sent and not yet processed, also what has spilled of it.
  @usableFromInline let ownerQueue = StampedQueue<Kept<Action>>()
  /// Made when the ring is full for the first time.
  @usableFromInline let overflow = AtomicReference<Overflow<Action>>()
  // 32 bits, as that of the ring: every reactor has both.
  @usableFromInline let storedReentrantCapacity: UInt32

  init(capacity: Int, reentrantCapacity: Int) throws(CoreError) {
    ring = try GrowingRing(capacity: capacity)
    storedReentrantCapacity = UInt32(clamping: min(reentrantCapacity, TurnEnds.largestReserved))
  }

  @inlinable var reentrantCapacity: Int { Int(storedReentrantCapacity) }

  /// Whether anything may be left for ``removeAll()``. The holder, last of all.
  @inline(__always)
  var mayHoldAny: Bool {
    // A ring that was never made is asked nothing: that would look up the metadata of its type.
    (ring.newest.isSet && !ring.isEmpty) || overflow.isSet || !ownerQueue.isEmpty
  }

  /// Frees everything. The holder, last of all.
  @inline(__always)
  func free() {
    ring.free()
    overflow.releaseObject()
  }

  // MARK: Any thread

  /// Whether nothing is inside the ring or claimed there, and the owner need not check for what has spilled. What is in
  /// the owner's queue does not count: only the owner may look into it.
  ///
  /// One half of a pair, as ``Ring/isEmpty``: a thread that releases the ownership and then finds this true
  /// misses no send of a thread that claims and then finds an owner.
  @inlinable
  @inline(__always)
  var isInboundEmpty: Bool { ring.isEmpty && !mustCheck }

  /// The same. Called by a thread that has released the ownership since it last moved the ring's head.
  @inlinable
  @inline(__always)
  var isInboundEmptyAfterRelease: Bool { ring.isEmpty && !mustCheckAfterExchange }

  /// Whether ``isInboundEmpty``, and the ring is open. (What has spilled came while the ring was full.) Called by a thread that has
  /// just acquired the ownership by a compare-and-swap; ``OwnedState/acquireScheduled()`` is a store.
  @inlinable
  @inline(__always)
  var isInboundIdle: Bool { ring.isIdle && !mustCheckAfterExchange }

  /// Whether a quarter of the ring is free: senders that have just fallen asleep are not woken for a slot each.
  @inlinable
  var hasRoom: Bool { ring.wasCount <= ring.capacity - max(1, ring.capacity / 4) }

  /// Whether something is free.
  var hasAnyRoom: Bool { ring.wasCount < ring.capacity }

  /// Whether something may have spilled, or another thread makes the owner check once more for another reason.
  @inlinable
  @inline(__always)
  var mustCheck: Bool { ownerCheck.wasRequested(hasOverflow: overflow.isSet) }

  /// As ``mustCheck``, for a thread that has exchanged the ownership word since it last moved the ring's head, or has released it by
  /// `OwnedState.release(as:afterTurns:)`, which runs the light fence.
  @inlinable
  @inline(__always)
  var mustCheckAfterExchange: Bool {
    ownerCheck.wasRequested(hasOverflow: overflow.isSet, afterExchange: true)
  }

  /// How much waited a moment ago, in the ring and beside it.
  var wasCount: Int {
    let beside = overflow.use { $0.spilled.wasCount(with: ownerQueue) } ?? ownerQueue.wasCount
    return ring.wasCount + beside
  }

  /// Returns the overflow; makes it at the first call. Returns nil if there is no memory. Any thread.
  @usableFromInline
  func ensureOverflow() -> Overflow<Action>? {
    if let overflow = overflow.use({ $0 }) { return overflow }
    guard let new = try? Overflow<Action>() else { return nil }
    return overflow.setIfNil(new)
  }

  // MARK: The owner

  /// Returns whether something that other threads sent is ready to be processed. The owner.
  @inlinable
  func pollReady() -> Bool { ring.pollReady() || (mustCheck && (ring.isEmpty || pollSpilledDue())) }

  @usableFromInline
  func pollSpilledDue() -> Bool { overflow.use { $0.spilled.isDue(before: ring.pollHead()) } ?? false }

  /// Whether something waits that the owner has sent. The owner.
  @inlinable
  @inline(__always)
  var holdsOwn: Bool { ownerQueue.hasReservations }

  /// What the owner does at the end of its turn. The owner.
  @inlinable
  @inline(__always)
  var turnEnds: TurnEnds { ownerQueue.turnEnds }

  /// Appends what the owner sends to itself; returns false at the limit. The owner.
  @inlinable
  func tryAppendOwn(_ work: Work<Action>) -> Bool {
    if !ownerQueue.tryReserve(upTo: reentrantCapacity) { return false }
    // What spilled before must keep its place before this.
    if mustCheck, tryKeepOwnBehindSpilled(work) { return true }
    ownerQueue.append(Kept(work, from: .owner), stamp: ring.tail)
    return true
  }

  @usableFromInline
  func tryKeepOwnBehindSpilled(_ work: Work<Action>) -> Bool {
    overflow.use { $0.spilled.tryKeepOwn(work, beside: ring) } ?? false
  }

  /// Calls `body` with what is there, in order; returns how many elements that were, `limit` at most. What `body` sends to
  /// its own reactor counts. The owner.
  ///
  /// - Parameters:
  ///   - dropsOldest: Whether the policy is ``OverflowPolicy/dropOldest``.
  ///   - bodyBesideRing: What `body` is, for those that are not in the ring.
  ///   - drop: Called instead of `body` with what is in the place of an action that was dropped in favour of a newer one.
  @inlinable
  @inline(__always)
  func drain(
    upTo limit: Int, dropsOldest: Bool = false, _ body: (Work<Action>) -> Void,
    besideRing bodyBesideRing: (Work<Action>) -> Void, orDrop drop: (Work<Action>) -> Void = { _ in }
  ) -> Int {
    var left = limit
    while left > 0 {
      left -= ring.drain(
        upTo: left, after: { tryTakeOver() }, while: { cursor in !isDue(before: cursor) },
        onRelease: { notifyRoom() },
        { work, cursor in
          if dropsOldest, isDropped(at: cursor) {
            drop(work)
          } else {
            body(work)
          }
        })
      if ownerQueue.isEmpty || left == 0 { break }
      let before = left
      let cursor = ring.pollHead()
      // One by one: if `body` were passed to a function, the compiler would retain what it captures, in each turn.
      while left > 0, let work = takeBesideRing(before: cursor) {
        bodyBesideRing(work)
        left -= 1
      }
      // Otherwise it waits for a claim that is not published yet.
      if left == before { break }
    }
    return limit - left
  }

  /// Whether the owner's queue has something that comes before this cursor. The owner.
  @inlinable
  @inline(__always)
  func isDue(before cursor: UInt64) -> Bool {
    guard let stamp = ownerQueue.firstStamp else { return false }
    return !Cursor.isBefore(cursor, stamp)
  }

  @inlinable
  func isDropped(at cursor: UInt64) -> Bool { overflow.use { $0.spilled.isDropped(at: cursor) } ?? false }

  /// Takes the next element out of the owner's queue, if it comes before `cursor`. What is sent to the reactor while it is
  /// processed gets a stamp behind everything that was claimed so far.
  @inlinable
  @inline(__always)
  func takeBesideRing(before cursor: UInt64) -> Work<Action>? {
    guard isDue(before: cursor), let element = ownerQueue.removeFirst() else { return nil }
    noteProcessing(element.origin)
    return element.work
  }

  @inlinable
  func noteProcessing(_ origin: Kept<Action>.Origin) {
    switch origin {
    case .owner: ownerQueue.cancelReservation()
    case .otherTurn: overflow.use { $0.spilled.noteProcessing() }
    case .pushing, .transition: break
    }
  }

  /// Checks before a drain whether something has spilled, and takes it over. The owner.
  ///
  /// - Returns: False if the drain must wait for the publication of the oldest claim.
  @inlinable
  @inline(__always)
  func tryTakeOver() -> Bool {
    // What has spilled comes after what is in the owner's queue, and the drain stops before that.
    if !ownerCheck.wasRequested(hasOverflow: true) || !ownerQueue.isEmpty { return true }
    return tryTakeOverSpilled()
  }

  @usableFromInline
  func tryTakeOverSpilled() -> Bool {
    if let isTaken = overflow.use({ $0.spilled.tryTakeOver(to: ownerQueue, ring, ownerCheck) }) {
      return isTaken
    }
    // Nothing has spilled, so the reason is another one. If a claim is not published yet, its sender will check instead.
    if !ring.isEmpty, !ring.pollReady() { return false }
    ownerCheck.withdraw()
    // This may also have withdrawn the request of a sender that has just spilled. So check again, and renew the request if the drain
    // must wait.
    let isTaken = overflow.use { $0.spilled.tryTakeOver(to: ownerQueue, ring, ownerCheck) } ?? true
    if !isTaken { ownerCheck.request() }
    return isTaken
  }

  /// Wakes senders that wait, if there is enough room. The owner, whenever it has made room: the last time, that empties
  /// the ring, so no sender waits for ever.
  ///
  /// If nobody waits, this is a fence, which costs a load where there are asymmetric ones, and a load of a line that nobody writes;
  /// two if the mailbox was full before.
  ///
  /// The fence: a thread that is the first to wait sets `overflow`, and then checks for room. The owner has made room, and looks
  /// for `overflow`. One of them must find what the other one did; the fence in `mayWait` comes too late for that.
  @inlinable
  @inline(__always)
  func notifyRoom() {
    if CurrentCore.hasFences {
      CurrentCore.lightFence()
    } else {
      atomicMemoryFence(ordering: .sequentiallyConsistent)
    }
    overflow.use { overflow in if overflow.waiters.mayWait { notifyWaiters(overflow) } }
  }

  // Loading the tail takes its cache line from the producers. So only if somebody waits.
  @usableFromInline
  func notifyWaiters(_ overflow: Overflow<Action>) {
    let count = ring.wasCount
    overflow.waiters.notify(of: ring.capacity - count, isAmple: hasRoom, isEmpty: count == 0)
  }

  /// Takes everything out. The owner.
  func removeAll() -> [Work<Action>] {
    var removed: [Work<Action>] = []
    while drain(upTo: .max, { removed.append($0) }, besideRing: { removed.append($0) }) > 0 {}
    // Also what waits for a claim that is not published yet.
    repeat {
      while let element = ownerQueue.removeFirst() {
        noteProcessing(element.origin)
        removed.append(element.work)
      }
      overflow.use { $0.spilled.takeOver(to: ownerQueue, ownerCheck) }
    } while !ownerQueue.isEmpty
    return removed
  }

  /// Takes out what is in the ring. The owner.
  func removeFromRing() -> [Work<Action>] {
    var removed: [Work<Action>] = []
    while ring.drain(upTo: .max, { work, _ in removed.append(work) }) > 0 {}
    return removed
  }
}

/// Makes the owner of a mailbox check, before its next drain and after it has released, for something that is not in the
/// ring: what has spilled, whether the mailbox was closed, and observers that were disposed of.
///
/// A thread that requests a check sets the flag and runs a heavy fence; the owner runs a light fence, or exchanges the ownership
/// word, before it reads the flag. (`OwnedState.release(as:afterTurns:)` does one of the two.) So either the owner finds the flag, or
/// the thread sees what the owner did before it read it.
/// Without fences both sides are read-modify-writes, and one of them sees the other.
@usableFromInline
struct OwnerCheck: ~Copyable, Sendable {
  @usableFromInline let isRequested = Atomic(false)

  @usableFromInline init() {}

  /// Requests a check. Returns false if the kernel refused the fence. Any thread.
  @discardableResult
  func request() -> Bool {
    // Release: what the calling thread did before, to the owner that withdraws the request. Sequentially consistent, and
    // a fence: see above.
    _ = isRequested.logicalOr(true, ordering: .sequentiallyConsistent)
    return !CurrentCore.hasFences || CurrentCore.heavyFence()
  }

  /// Requests a check of the owner's own, before it releases. The owner.
  // Relaxed: the same thread reads it; and a thread that withdraws all requests acquires the ownership first.
  func requestAsOwner() { isRequested.store(true, ordering: .relaxed) }

  /// Whether a check was requested. Any thread.
  ///
  /// - Parameters:
  ///   - hasOverflow: Whether something can have spilled. A thread that spills loads the head of the ring; other threads that
  ///     request a check load the ownership word afterwards, so for them sequential consistency suffices. Before a drain it is
  ///     true: the thread that spills first may not have made the overflow visible yet.
  ///   - isAfterExchange: Whether the calling thread has exchanged the ownership word since it last moved that head.
  @inlinable
  @inline(__always)
  func wasRequested(hasOverflow: @autoclosure () -> Bool, afterExchange isAfterExchange: Bool = false) -> Bool
  {
    // Sequentially consistent, like every check of the mailbox by an owner that has released: it comes after the
    // release in the one order of these operations, so it does not miss a flag that was set before a sender found an
    // owner.
    if !CurrentCore.hasFences, hasOverflow() {
      return isRequested.logicalOr(false, ordering: .sequentiallyConsistent).newValue
    }
    if isAfterExchange { CurrentCore.lightFenceAfterExchange() } else { CurrentCore.lightFence() }
    return isRequested.load(ordering: .sequentiallyConsistent)
  }

  /// Withdraws all requests, because the owner checks now. The owner.
  // Acquire: what the threads did that have requested a check. Of those that request it later the flag is set again.
  func withdraw() { _ = isRequested.exchange(false, ordering: .acquiring) }
}

/// An element of a mailbox.
@usableFromInline
enum Work<Action: Sendable>: Sendable {
  case action(Action)
  case step(Step)
}

/// Something other than an action that only the owner may do, in a turn: reducing a mutation that a stream emitted
/// elsewhere, or adding an observer.
///
/// It is an object, so that a slot of a mailbox need not be larger than a small action.
@usableFromInline
class Step: @unchecked Sendable {
  // Unchecked: not final, but it has nothing, and what its subclasses add is constant.

  @inlinable
  init() {}

  /// Whether it processes an action, which may be dropped in favour of a newer one.
  @usableFromInline var isAction: Bool { false }

  /// Called once by the owner.
  @usableFromInline
  func run() {}

  /// Called in place of ``run()`` if the step will never run. The reason is nil if the reactor is gone.
  @usableFromInline
  func discard(_: SendError?) {}
}

/// A step that consists of closures.
@usableFromInline
final class ClosureStep: Step, @unchecked Sendable {
  // Unchecked as its superclass: what is added is constant.
  private let body: @Sendable () -> Void
  private let discarded: @Sendable (SendError?) -> Void

  @usableFromInline
  init(
    _ run: @escaping @Sendable () -> Void,
    orDiscard discard: @escaping @Sendable (SendError?) -> Void = { _ in }
  ) {
    body = run
    discarded = discard
  }

  @usableFromInline
  override func run() { body() }

  @usableFromInline
  override func discard(_ reason: SendError?) { discarded(reason) }
}
