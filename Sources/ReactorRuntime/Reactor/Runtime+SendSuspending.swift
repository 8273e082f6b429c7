import Dispatch
import ReactorCore

/// Sending by a task, which is suspended while there is no room.
extension Runtime {
  /// Any task.
  @inlinable
  func sendSuspending<R: Reactor<Action, Mutation, State>>(
    _ action: Action, to reactor: R, before deadline: ContinuousClock.Instant?
  ) async throws(SendError) {
    // Only some are resumed at a time, so whoever is done, however that came, sees to the others.
    defer { passRoomOn() }
    while true {
      if Task.isCancelled { throw .cancelled }
      do {
        try trySend(action, to: reactor, .none)
        return
      } catch .full {
        // Its turns make room.
        runOrSchedule(reactor)
        try await suspendUntilRoom(before: deadline)
      }
    }
  }

  /// Returns when there may be room.
  @usableFromInline
  func suspendUntilRoom(before deadline: ContinuousClock.Instant?) async throws(SendError) {
    guard let overflow = makeOverflow() else { throw .outOfMemory }
    let ticket = RoomWaiters.Ticket()
    let alarm = try deadline.map { (deadline) throws(SendError) in try Self.alarm(at: deadline, for: ticket) }
    overflow.tasks.insert(ticket)
    await withTaskCancellationHandler {
      await ticket.wait {
        // Only now is there something to resume.
        if !overflow.room.arm(unless: { canGoOn }) { ticket.resume() }
      }
    } onCancel: {
      ticket.resume()
    }
    alarm?.cancel()
    overflow.tasks.remove(ticket)
  }

  private static func alarm(
    at deadline: ContinuousClock.Instant, for ticket: RoomWaiters.Ticket
  ) throws(SendError) -> DispatchWorkItem {
    let left = ContinuousClock.now.duration(to: deadline)
    if left <= .zero { throw .timedOut }
    let item = DispatchWorkItem { ticket.resume() }
    let alarm = DispatchTime.now() + left.dispatchInterval(atLeast: 0)
    DispatchQueue.global().asyncAfter(deadline: alarm, execute: item)
    return item
  }

  /// Resumes another one if there is room, or else makes the owner notify.
  @usableFromInline
  func passRoomOn() {
    mailbox.overflow.use { overflow in
      if overflow.tasks.isEmpty { return }
      if !overflow.room.arm(unless: { canGoOn }) { overflow.tasks.resume(atMost: 1) }
    }
  }
}
