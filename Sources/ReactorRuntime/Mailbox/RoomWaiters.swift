import ReactorCore

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
