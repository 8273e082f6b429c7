import ReactorCore

extension Termination {
  /// Suspends the task until ``finish()`` is called; returns false if that takes longer, or if the task is cancelled before. Any task.
  ///
  /// - Parameter ticket: Resumes the task once, whichever of the three comes first.
  nonisolated(nonsending)
    func suspend(
      _ ticket: RoomTicket = RoomTicket(ofThread: false), until deadline: ContinuousClock.Instant
    ) async -> Bool
  {
    guard let place = actions.withLock({ $0?.append { ticket.resume() } }) else { return true }
    await waitOrGiveUp(at: deadline) {
      await ticket.suspend()
    } giveUp: { _ in
      ticket.resume()
    }
    // Destroyed after the lock. If it is gone, the end has come.
    let removed = actions.withLock { $0?.remove(at: place) }
    return removed == nil
  }
}
