import ReactorCore

/// A closure that waits for room: it is called once, or withdrawn before.
///
/// While it is in the line, it and its ticket retain each other, until it is called or withdrawn.
final class RoomCall: TurnEnd, Disposable, @unchecked Sendable {
  // Unchecked like its superclass; everything that changes is under the lock.
  private struct Parts: Sendable {
    var body: (@Sendable () -> Void)?
    var resumeNext: (@Sendable () -> Void)?
    /// Nil if it is not in the line, or about to be put there.
    var entry: Entry?
  }

  private struct Entry: Sendable {
    let waiters: RoomWaiters
    let ticket: RoomTicket
    let place: RoomLine.Place
  }

  private let parts: SystemMutex<Parts>

  /// - Parameters:
  ///   - body: What is called unless it is withdrawn.
  ///   - resumeNext: What is called after it. Also if `body` was withdrawn after it had left the line, since it has taken the place of
  ///     another waiter.
  init(_ body: @escaping @Sendable () -> Void, then resumeNext: @escaping @Sendable () -> Void) {
    parts = SystemMutex(Parts(body: body, resumeNext: resumeNext))
  }

  /// There is room, whatever becomes of the turn.
  override var isSettled: Bool { true }

  /// Notes where it waits, unless it was called already. The thread that made it, before another one can withdraw it.
  func note(_ place: RoomLine.Place, of ticket: RoomTicket, in waiters: RoomWaiters) {
    parts.withLock { parts in
      if parts.resumeNext != nil { parts.entry = Entry(waiters: waiters, ticket: ticket, place: place) }
    }
  }

  override func run() {
    let taken = parts.withLock { parts in
      defer { parts = Parts() }
      return parts
    }
    taken.body?()
    taken.resumeNext?()
  }

  /// Withdraws it. Any thread.
  func dispose() {
    // What is taken out is destroyed after the lock: that may run code of the program.
    let taken = parts.withLock { parts in
      defer { (parts.body, parts.entry) = (nil, nil) }
      return parts
    }
    guard let entry = taken.entry, entry.waiters.leave(entry.ticket, entry.place) else { return }
    // Nobody runs it any more.
    _ = parts.withLock { $0.resumeNext.take() }
  }
}
