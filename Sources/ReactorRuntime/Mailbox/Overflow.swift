import ReactorCore
import Synchronization

/// What a reactor needs when its mailbox is full: a place where senders wait, and a place for what is kept beside the
/// ring.
@usableFromInline
final class Overflow<Action: Sendable>: Sendable {
  /// Senders that sleep until there is room.
  @usableFromInline let room: EventCount
  /// Tasks that are suspended until there is room.
  let tasks = RoomWaiters()
  /// What is kept beside the ring.
  @usableFromInline let spilled = Spilled<Action>()
  /// How many actions the policy has dropped. Relaxed: a statistic.
  let dropped = Atomic(0)

  @usableFromInline
  init() throws(CoreError) { room = try EventCount() }

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
