import ReactorCore
import Synchronization

/// What a reactor needs when its mailbox is full: a place where senders wait, and a place for what is kept beside the
/// ring.
///
/// What is kept is stamped with the ring's tail, like what the owner sends to itself: it is processed after everything
/// that was in the ring, and before everything that is claimed later. So the owner must not process something claimed
/// later before it has checked here.
///
/// The owner checks once in each drain, and a drain covers at most one capacity beyond the head of that moment, which
/// senders can see (``GrowingRing``). A sender that spills sets the flag, runs a heavy fence, and then finds the ring
/// still full. Either the owner's check finds the flag. Or the head that the sender finds is at least that of the
/// owner's check, so the stamp, one capacity further, lies beyond that drain.
@usableFromInline
final class Overflow<Action: Sendable>: Sendable {
  private struct Kept: Sendable {
    var works: [(work: Work<Action>, stamp: UInt64)] = []
    var isCheckRequested = false
  }

  /// Senders that sleep until there is room.
  @usableFromInline let room: EventCount
  /// Tasks that are suspended until there is room.
  let tasks = RoomWaiters()
  private let kept = SystemMutex(Kept())
  private let isCheckRequested = Atomic(false)
  /// Actions in the ring before this cursor are dropped in favour of newer ones. Relaxed: an action that the owner
  /// processes before it sees the new cursor was simply not dropped.
  @usableFromInline let dropCursor = Atomic<UInt64>(0)
  /// How many actions the policy has dropped. Relaxed: a statistic.
  let dropped = Atomic(0)

  @usableFromInline
  init() throws(CoreError) { room = try EventCount() }

  // MARK: Making the owner check

  /// Whether the owner must check here. Any thread.
  @usableFromInline
  var wasCheckRequested: Bool {
    // Sequentially consistent, like every check of the mailbox by an owner that has released: it comes after the
    // release in the one order of these operations, so it does not miss a flag that was set before a sender found an
    // owner.
    if !CurrentCore.hasFences {
      return isCheckRequested.logicalOr(false, ordering: .sequentiallyConsistent).newValue
    }
    CurrentCore.lightFence()
    return isCheckRequested.load(ordering: .sequentiallyConsistent)
  }

  /// Makes the owner check here, before its next drain or after it has released. Returns false if the kernel refused the
  /// fence. Any thread.
  @discardableResult
  func requestCheck() -> Bool { kept.withLock { requestCheck(&$0) } }

  private func requestCheck(_ kept: inout Kept) -> Bool {
    if kept.isCheckRequested { return true }
    // Sequentially consistent, then a heavy fence. Without fences both sides are read-modify-writes, and one of them
    // sees the other.
    _ = isCheckRequested.logicalOr(true, ordering: .sequentiallyConsistent)
    kept.isCheckRequested = !CurrentCore.hasFences || CurrentCore.heavyFence()
    return kept.isCheckRequested
  }

  // MARK: Keeping what found the ring full

  /// What became of something that found the ring full.
  enum SpillOutcome { case kept, ringHasRoom, overLimit }

  /// How many are kept. Any thread.
  var wasCount: Int { kept.withLock { $0.works.count } }

  /// Keeps something while the ring is full. Any thread.
  ///
  /// - Parameter limit: How many are kept at most.
  func spill(_ work: Work<Action>, besides ring: borrowing GrowingRing<Work<Action>>, limit: Int)
    -> SpillOutcome
  {
    kept.withLock { kept in
      if kept.works.count >= limit || !requestCheck(&kept) { return .overLimit }
      guard let full = ring.wasFull else { return .ringHasRoom }
      kept.works.append((work, full.tail))
      return .kept
    }
  }

  /// Keeps an action while the ring is full, and drops the oldest one in its favour. Any thread.
  ///
  /// - Parameter drop: Called with the oldest action if that was kept here. One in the ring is dropped by the owner.
  func spillDroppingOldest(
    _ action: Action, besides ring: borrowing GrowingRing<Work<Action>>, drop: (Action) -> Void
  ) -> SpillOutcome {
    var oldest: Work<Action>?
    let outcome = kept.withLock { kept -> SpillOutcome in
      if !requestCheck(&kept) { return .overLimit }
      guard let full = ring.wasFull else { return .ringHasRoom }
      let before = dropCursor.load(ordering: .relaxed)
      let next = Cursor.isBefore(before, full.head) ? full.head : before
      if next != full.tail {
        dropCursor.store(next &+ 1, ordering: .relaxed)
      } else if let index = kept.works.firstIndex(where: { $0.work.isAction }) {
        oldest = kept.works.remove(at: index).work
      }
      kept.works.append((.action(action), full.tail))
      return .kept
    }
    // Not under the lock: a handler may send to this reactor again.
    if case .action(let action)? = oldest { drop(action) }
    return outcome
  }

  /// Whether the action of the ring at this cursor is dropped in favour of a newer one. The owner.
  @inlinable
  func isDropped(at cursor: UInt64) -> Bool {
    Cursor.isBefore(cursor, dropCursor.load(ordering: .relaxed))
  }

  /// Removes everything that is kept, and calls `body` with it in order. The owner.
  func removeAll(_ body: (Work<Action>, UInt64) -> Void) {
    kept.withLock { kept in
      for (work, stamp) in kept.works { body(work, stamp) }
      kept.works = []
      kept.isCheckRequested = false
      // Relaxed: the owner clears it for itself, and senders set it under this lock.
      isCheckRequested.store(false, ordering: .relaxed)
    }
  }

  // MARK: Waking senders that wait for room

  /// Wakes senders that wait, if `hasRoom` returns true. The owner.
  ///
  /// - Parameter count: How many tasks to resume; each of them resumes the next one. All threads are woken.
  @usableFromInline
  func notifyRoom(if hasRoom: () -> Bool, atMost count: Int) {
    var isNotified = false
    room.notify(if: {
      isNotified = hasRoom()
      return isNotified
    })
    // In this order: a task that comes and arms after the notification waits for the next one; one that came before is
    // found here.
    if isNotified { tasks.resume(atMost: count) }
  }

  /// Makes threads that wait check again, before the owner's turn notifies them of room. Any thread.
  func notifyOutOfTurn() {
    room.notify()
    // A task may have armed this notification for itself; it arms the event count again if it must.
    tasks.resume(atMost: 1)
  }

  /// Wakes all senders, whether there is room or not. Any thread.
  func notifyAll() {
    room.notify()
    tasks.resume(atMost: .max)
  }
}

/// The tasks that are suspended until there is room in a mailbox, in the order in which they came.
final class RoomWaiters: Sendable {
  /// One of the tasks.
  final class Ticket: Sendable {
    private enum Phase: Sendable {
      case new
      case waiting(CheckedContinuation<Void, Never>)
      case over
    }
    private let phase = SystemMutex(Phase.new)

    /// Suspends the task until some thread calls ``resume()``. The task, once.
    ///
    /// - Parameter ready: Called as soon as there is something to resume.
    func wait(then ready: () -> Void) async {
      await withCheckedContinuation { continuation in
        let isOver = phase.withLock { phase in
          if case .over = phase { return true }
          phase = .waiting(continuation)
          return false
        }
        if isOver { continuation.resume() } else { ready() }
      }
    }

    /// Resumes the task, now or as soon as it waits. Any thread, any number of times.
    func resume() {
      let phase = phase.withLock { phase in
        defer { phase = .over }
        return phase
      }
      if case .waiting(let continuation) = phase { continuation.resume() }
    }
  }

  private let tickets = SystemMutex<[Ticket]>([])

  /// Any thread.
  func insert(_ ticket: Ticket) { tickets.withLock { $0.append(ticket) } }

  /// Any thread.
  func remove(_ ticket: Ticket) { tickets.withLock { $0.removeAll { $0 === ticket } } }

  /// Any thread.
  var isEmpty: Bool { tickets.withLock { $0.isEmpty } }

  /// Resumes the first tasks, at most `count`. Any thread.
  func resume(atMost count: Int) {
    // Copies the tickets, so that nothing is read outside of the lock that another thread changes under it.
    var first: [Ticket] = []
    tickets.withLock { tickets in
      if count >= tickets.count { return swap(&first, &tickets) }
      for ticket in tickets[..<count] { first.append(ticket) }
      tickets.removeFirst(count)
    }
    for ticket in first { ticket.resume() }
  }
}
