import ReactorCore
import Synchronization

/// Something that waits beside the ring of a mailbox.
@usableFromInline
struct Kept<Action: Sendable>: Sendable {
  /// Where it comes from decides which limit it counts against.
  @usableFromInline
  enum Origin: UInt8, Sendable {
    /// The owner sent it, from inside a turn of the reactor or of another one on its loop.
    case owner
    /// A turn on another thread sent it while the ring was full.
    case otherTurn
    /// It is an action that found the ring full, with ``OverflowPolicy/dropOldest``. A newer one may push it out.
    case pushing
    /// It was sent by key, before the reactor was there. ``KeyedReactors`` has limited how many of these there are.
    case transition
  }

  @usableFromInline let work: Work<Action>
  @usableFromInline let origin: Origin

  @inlinable
  init(_ work: Work<Action>, from origin: Origin) {
    self.work = work
    self.origin = origin
  }
}

/// What became of something that found the ring full.
enum SpillOutcome: Sendable { case kept, ringHasRoom, overLimit }

/// What found the ring of a mailbox full, until the owner takes it over.
///
/// Each element is stamped with the ring's tail, like what the owner sends to itself: it is processed after everything
/// that was in the ring, and before everything that is claimed later. The owner takes it over when its own queue has
/// become empty. As long as something is here, what the owner sends to itself comes here, too. So everything in the
/// owner's queue comes before everything here.
///
/// The owner must check here before it processes anything claimed after an element that is here. It checks before each drain
/// of the ring, and a drain covers at most one capacity beyond the head of that moment, which senders can see
/// (``GrowingRing``). A sender that spills sets the flag (``OwnerCheck``), runs a heavy fence, and then finds the ring
/// still full.
///
/// - Either the owner's check finds the flag. Then the drain stops at the first stamp in the owner's queue.
/// - Or the head that the sender finds is at least that of the owner's check, so the stamp, one capacity further, lies
///   beyond that drain. It also lies beyond the stamp of anything that the owner has sent to itself since, since the
///   tail is at most one capacity beyond the head.
///
/// The number of elements is bounded, in whichever queue they are by now: `fromOtherTurns` counts until they are processed, and of
/// the pushing ones there are at most one capacity here and as many in the owner's queue. (Those that the owner has taken
/// over are not pushed out. If they were, an owner could pass over dropped actions for ever.) Those that were sent by key come once, at
/// the beginning.
@usableFromInline
struct Spilled<Action: Sendable>: ~Copyable, Sendable {
  @usableFromInline typealias Ring = GrowingRing<Work<Action>>

  private struct Queues: ~Copyable, Sendable {
    /// Elements that are not pushed out any more, or never are. They come before those of `newer`.
    let older = StampedQueue<Kept<Action>>()
    let newer = StampedQueue<Kept<Action>>()
    /// How many of `newer` may be pushed out.
    var pushing = 0
    var isCheckRequested = false

    var isEmpty: Bool { older.isEmpty && newer.isEmpty }

    func isDue(before cursor: UInt64) -> Bool {
      (older.firstStamp ?? newer.firstStamp).map { !Cursor.isBefore(cursor, $0) } ?? false
    }
  }

  private let queues = SystemMutex(Queues())
  /// How many that turns on other threads sent are not yet processed. Relaxed: senders check and increase it under the
  /// lock. The owner decreases it, and a sender that does not see that yet is refused as if it had come earlier.
  @usableFromInline let fromOtherTurns = Atomic(0)
  /// Actions in the ring before this cursor are dropped in favour of newer ones. Relaxed: an action that the owner
  /// processes before it sees the new cursor was simply not dropped.
  @usableFromInline let dropCursor = Atomic<UInt64>(0)

  // MARK: Any thread

  /// How many wait here or in the owner's queue.
  func wasCount(with ownerQueue: borrowing StampedQueue<Kept<Action>>) -> Int {
    // Under the lock, so that nothing is missed or counted twice that the owner takes over.
    queues.withLock { $0.older.wasCount + $0.newer.wasCount + ownerQueue.wasCount }
  }

  /// Keeps something while the ring is full.
  ///
  /// - Parameter limit: How many from other threads' turns may wait, those that the owner has taken over included.
  func keep(
    _ work: Work<Action>, beside ring: borrowing Ring, limit: Int, _ check: borrowing OwnerCheck
  ) -> SpillOutcome {
    queues.withLock { queues in
      guard Self.tryRequest(check, &queues) else { return .overLimit }
      guard let full = ring.boundsIfFull else { return .ringHasRoom }
      if fromOtherTurns.load(ordering: .relaxed) >= limit { return .overLimit }
      queues.newer.append(Kept(work, from: .otherTurn), stamp: full.tail)
      fromOtherTurns.add(1, ordering: .relaxed)
      return .kept
    }
  }

  /// Keeps the actions that `actions` returns while the ring is full, whatever the policy. It is called only if they are kept.
  func keep(
    _ actions: () -> [Action], beside ring: borrowing Ring, _ check: borrowing OwnerCheck
  ) -> SpillOutcome {
    queues.withLock { queues in
      guard Self.tryRequest(check, &queues) else { return .overLimit }
      guard let full = ring.boundsIfFull else { return .ringHasRoom }
      for action in actions() {
        queues.newer.append(Kept(.action(action), from: .transition), stamp: full.tail)
      }
      return .kept
    }
  }

  /// Keeps an action while the ring is full, and drops the oldest ones in its favour, until no more wait than the ring has
  /// slots. That is one, unless the owner has emptied slots of dropped actions meanwhile, which others have filled.
  ///
  /// - Parameter drop: Called with each action that was kept here. One in the ring is dropped by the owner.
  func keepDroppingOldest(
    _ action: Action, beside ring: borrowing Ring, _ check: borrowing OwnerCheck, drop: (Action) -> Void
  ) -> SpillOutcome {
    var dropped: [Action] = []
    let outcome = queues.withLock { queues -> SpillOutcome in
      guard Self.tryRequest(check, &queues) else { return .overLimit }
      guard let full = ring.boundsIfFull else { return .ringHasRoom }
      let before = dropCursor.load(ordering: .relaxed)
      var cursor = Cursor.isBefore(before, full.head) ? full.head : before
      while queues.pushing + Int(Cursor.distance(from: cursor, to: full.tail)) >= ring.capacity {
        if let oldest = Self.removeOldestPushing(notAfter: cursor, &queues) {
          dropped.append(oldest)
        } else {
          cursor &+= 1
        }
      }
      dropCursor.store(cursor, ordering: .relaxed)
      queues.newer.append(Kept(.action(action), from: .pushing), stamp: full.tail)
      queues.pushing += 1
      return .kept
    }
    // Not under the lock: a handler is code of the program, which may read this reactor's counters.
    for action in dropped { drop(action) }
    return outcome
  }

  /// Removes the oldest action that may be pushed out, unless there is none, or one in the ring is older. Amortized O(1):
  /// what comes before it and is not pushed out is moved out of the way, once.
  private static func removeOldestPushing(notAfter cursor: UInt64, _ queues: inout Queues) -> Action? {
    if queues.pushing == 0 { return nil }
    while let first = queues.newer.first, first.origin != .pushing {
      queues.newer.moveFirst(to: queues.older)
    }
    guard let stamp = queues.newer.firstStamp, !Cursor.isBefore(cursor, stamp) else { return nil }
    guard case .action(let action)? = queues.newer.removeFirst()?.work else { return nil }
    queues.pushing -= 1
    return action
  }

  /// Makes the owner check here. Returns false if the kernel refused the fence.
  private static func tryRequest(_ check: borrowing OwnerCheck, _ queues: inout Queues) -> Bool {
    if !queues.isCheckRequested { queues.isCheckRequested = check.request() }
    return queues.isCheckRequested
  }

  // MARK: The owner

  /// Whether the action of the ring at this cursor is dropped in favour of a newer one.
  @inlinable
  func isDropped(at cursor: UInt64) -> Bool {
    Cursor.isBefore(cursor, dropCursor.load(ordering: .relaxed))
  }

  /// Keeps what the owner sends to itself, if something is here that comes before it.
  func tryKeepOwn(_ work: Work<Action>, beside ring: borrowing Ring) -> Bool {
    queues.withLock { queues in
      if queues.isEmpty { return false }
      queues.newer.append(Kept(work, from: .owner), stamp: ring.tail)
      return true
    }
  }

  /// Notes that something that another thread's turn had sent is about to be processed.
  @inlinable
  func noteProcessing() { fromOtherTurns.subtract(1, ordering: .relaxed) }

  /// Whether something here comes before the element of the ring with this cursor.
  func isDue(before cursor: UInt64) -> Bool { queues.withLock { $0.isDue(before: cursor) } }

  /// Moves the oldest elements to the owner's queue, which is empty, and withdraws the request for a check if nothing is
  /// left here.
  ///
  /// - Returns: False if the drain must wait: the oldest claim of the ring is not published yet, so nothing behind it
  ///   could be processed; and what has been moved can no longer be pushed out.
  func tryTakeOver(
    to ownerQueue: borrowing StampedQueue<Kept<Action>>, _ ring: borrowing Ring, _ check: borrowing OwnerCheck
  ) -> Bool {
    queues.withLock { queues in
      if !ring.isEmpty, !ring.pollReady(), !queues.isDue(before: ring.pollHead()) { return false }
      Self.takeOver(to: ownerQueue, check, &queues)
      return true
    }
  }

  /// The same, whether claims of the ring are published or not.
  func takeOver(to ownerQueue: borrowing StampedQueue<Kept<Action>>, _ check: borrowing OwnerCheck) {
    queues.withLock { Self.takeOver(to: ownerQueue, check, &$0) }
  }

  private static func takeOver(
    to ownerQueue: borrowing StampedQueue<Kept<Action>>, _ check: borrowing OwnerCheck, _ queues: inout Queues
  ) {
    if !queues.older.isEmpty {
      queues.older.moveAll(to: ownerQueue)
    } else {
      queues.newer.moveAll(to: ownerQueue)
      queues.pushing = 0
    }
    if queues.isEmpty {
      queues.isCheckRequested = false
      check.withdraw()
    } else {
      // The owner may have withdrawn the request before it knew that anything is here.
      check.requestAsOwner()
    }
  }
}
