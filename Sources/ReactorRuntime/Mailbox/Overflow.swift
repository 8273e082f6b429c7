import ReactorCore
import Synchronization

/// What a reactor needs whose mailbox is full: where senders wait, and what is kept beside the ring.
///
/// What is kept there is stamped with the ring's tail, as what the owner sends to itself is. So it is processed
/// after everything that was in the ring, and before everything that is claimed later; and the owner must not
/// process something claimed later before it has looked here. It looks once in each drain, which goes no
/// further than one capacity beyond the head of that moment, which senders see: see ``GrowingRing``. Who spills
/// raises the flag, runs a heavy fence, and then finds the ring still full. So either the owner's look found the
/// flag; or the head that the spiller found was at least that of the owner's look, and the stamp, one capacity
/// further, lies beyond that drain.
@usableFromInline
final class Overflow<Action: Sendable>: Sendable {
  private struct Kept: Sendable {
    var works: [(work: Work<Action>, stamp: UInt64)] = []
    var isRaised = false
  }

  /// Senders that sleep until there is room.
  @usableFromInline let room: EventCount
  /// Tasks that are suspended until there is room.
  let tasks = RoomWaiters()
  private let kept = SystemMutex(Kept())
  private let isRaised = Atomic(false)
  /// Actions in the ring before this cursor were pushed out by newer ones. Relaxed: what the owner processes a
  /// moment before it sees that was not pushed out.
  @usableFromInline let pushedOut = Atomic<UInt64>(0)
  /// How many actions the policy has dropped. Relaxed: a statistic.
  let dropped = Atomic(0)

  @usableFromInline
  init() throws(CoreError) { room = try EventCount() }

  /// Whether the owner must look here. Any thread.
  @usableFromInline
  var wasRaised: Bool {
    // Sequentially consistent, as each look at a mailbox by who has left the reactor.
    if !CurrentCore.hasFences { return isRaised.logicalOr(false, ordering: .sequentiallyConsistent).newValue }
    CurrentCore.lightFence()
    return isRaised.load(ordering: .sequentiallyConsistent)
  }

  /// Makes the owner look, before its next drain or after it has left. False if the kernel refused the fence.
  @discardableResult
  func raise() -> Bool { kept.withLock { raise(&$0) } }

  private func raise(_ kept: inout Kept) -> Bool {
    if kept.isRaised { return true }
    // Without fences both sides are read-modify-writes, of which one sees the other.
    _ = isRaised.logicalOr(true, ordering: .sequentiallyConsistent)
    kept.isRaised = !CurrentCore.hasFences || CurrentCore.heavyFence()
    return kept.isRaised
  }

  /// How many are kept. Any thread.
  var wasCount: Int { kept.withLock { $0.works.count } }

  /// What became of something that found the ring full.
  enum Spill { case taken, ringHasRoom, overLimit }

  /// Keeps something while the ring is full. Any thread.
  ///
  /// - Parameter limit: How many are kept at most.
  func spill(_ work: Work<Action>, besides ring: borrowing GrowingRing<Work<Action>>, limit: Int) -> Spill {
    kept.withLock { kept in
      if kept.works.count >= limit || !raise(&kept) { return .overLimit }
      guard let full = ring.wasFull else { return .ringHasRoom }
      kept.works.append((work, full.tail))
      return .taken
    }
  }

  /// Keeps an action while the ring is full, and lets the oldest one give way. Any thread.
  ///
  /// - Parameter drop: Called with that, if it was kept here.
  func push(
    _ action: Action, besides ring: borrowing GrowingRing<Work<Action>>, drop: (Action) -> Void
  ) -> Spill {
    var oldest: Work<Action>?
    let spill = kept.withLock { kept -> Spill in
      if !raise(&kept) { return .overLimit }
      guard let full = ring.wasFull else { return .ringHasRoom }
      let before = pushedOut.load(ordering: .relaxed)
      let next = Cursor.isBefore(before, full.head) ? full.head : before
      if next != full.tail {
        pushedOut.store(next &+ 1, ordering: .relaxed)
      } else if let index = kept.works.firstIndex(where: { $0.work.isAction }) {
        oldest = kept.works.remove(at: index).work
      }
      kept.works.append((.action(action), full.tail))
      return .taken
    }
    if case .action(let action)? = oldest { drop(action) }
    return spill
  }

  /// Whether an action of the ring gives way to newer ones. The owner.
  @inlinable
  func isPushedOut(_ cursor: UInt64) -> Bool {
    Cursor.isBefore(cursor, pushedOut.load(ordering: .relaxed))
  }

  /// Hands out what was kept. The owner.
  func take(_ accept: (Work<Action>, UInt64) -> Void) {
    kept.withLock { kept in
      for (work, stamp) in kept.works { accept(work, stamp) }
      kept.works = []
      kept.isRaised = false
      isRaised.store(false, ordering: .relaxed)
    }
  }

  /// Wakes who waits for room. The owner.
  ///
  /// - Parameter count: How many tasks; each sees to the next one. Threads are woken all.
  @usableFromInline
  func notifyRoom(if hasRoom: () -> Bool, atMost count: Int) {
    var isNotified = false
    room.notify(if: {
      isNotified = hasRoom()
      return isNotified
    })
    // In this order: a task that comes and arms after the notification is up to the next one; one that came
    // before is found here.
    if isNotified { tasks.resume(atMost: count) }
  }

  /// Makes threads that wait look again, before the owner's turn says that there is room. Any thread.
  func notifyOutOfTurn() {
    room.notify()
    // For which that may have been armed; it arms again if it must.
    tasks.resume(atMost: 1)
  }

  /// Wakes everybody, room or not. Any thread.
  func notifyAll() {
    room.notify()
    tasks.resume(atMost: .max)
  }
}

/// Tasks that are suspended until there is room in a mailbox, those that came first in front.
final class RoomWaiters: Sendable {
  /// One of them.
  final class Ticket: Sendable {
    private enum Phase: Sendable {
      case new
      case waiting(CheckedContinuation<Void, Never>)
      case over
    }
    private let phase = SystemMutex(Phase.new)

    /// Returns once ``resume()`` was called, by anybody. The task, once.
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

    /// Any thread, any number of times.
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

  var isEmpty: Bool { tickets.withLock { $0.isEmpty } }

  /// Any thread.
  func resume(atMost count: Int) {
    // A copy that shares no memory with what stays, so that nothing outside of the lock is read that is
    // changed under it.
    var first: [Ticket] = []
    tickets.withLock { tickets in
      if count >= tickets.count { return swap(&first, &tickets) }
      for ticket in tickets[..<count] { first.append(ticket) }
      tickets.removeFirst(count)
    }
    for ticket in first { ticket.resume() }
  }
}
