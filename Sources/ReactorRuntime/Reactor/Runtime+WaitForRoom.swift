import Dispatch
import ReactorCore

/// What a sender does that found the mailbox full. ``OverflowPolicy`` decides whether it waits.
extension Runtime {
  /// Decides what becomes of something for which there was no room. Any thread.
  @usableFromInline
  @inline(never)
  func resolveOverflow(for work: Work<Action>, _ wait: SendWait) -> OverflowOutcome {
    mailbox.resolveOverflow(
      for: work, wait, policy,
      onKeeping: {
        #if DEBUG
          checkRoom()
        #endif
      }, drop: { reportRefused($0, .dropped) })
  }

  /// Reports an action that the owner drops in favour of a newer one, and counts it. The owner.
  @usableFromInline
  @inline(never)
  func reportDropped(_ action: Action, counting count: inout Int) {
    count += 1
    reportRefused(action, .dropped)
  }

  /// Reports an action that was not accepted. Any thread.
  @usableFromInline
  func reportRefused(_ action: Action, _ reason: SendError) {
    if reason == .dropped { mailbox.overflow.use { _ = $0.dropped.add(1, ordering: .relaxed) } }
    report(.actionNotDelivered(reason), action)
  }
}

/// Waiting of a thread.
extension Runtime {
  /// Waits a little, or until there is room again. Any thread, outside of turns.
  ///
  /// - Returns: Why the sender must give up; nil if it tries again.
  @usableFromInline
  @inline(never)
  func waitForRoom(after attempts: inout Int, _ wait: SendWait) -> SendError? {
    var timeout: Int64?
    if case .until(let deadline) = wait {
      let left = ContinuousClock.now.duration(to: deadline).nanoseconds
      if left <= 0 { return .timedOut }
      timeout = left
    }
    attempts += 1
    if attempts <= 8 {
      CurrentCore.pause(times: 16)
      return nil
    }
    // The caller may host the loop, between two of its rounds: then it must run a round itself.
    if let runRoundHere = loop?.runRoundHere, runRoundHere() { return nil }
    if attempts <= 512 {
      DedicatedThread.yield()
      return nil
    }
    attempts = 0
    guard let overflow = mailbox.ensureOverflow() else { return .outOfMemory }
    // The closures do not retain the runtime, which would cost an allocation per wait: the sender holds the reactor.
    let edge = WaitGraph.Wait(
      thread: CurrentCore.threadToken, emptier: { [unowned self] in drainingThread },
      isOver: { [unowned self] in mayRetry },
      wake: { [unowned overflow] in overflow.notifyOutOfTurn() })
    guard WaitGraph.enter(edge) else { return .deadlock }
    defer { WaitGraph.leave(edge) }
    // Sleeps once at most: while this wait was over, other threads may have begun to wait for this one. So this thread
    // must enter the graph again before it sleeps again.
    var checks = 0
    _ = overflow.room.wait(timeoutNanoseconds: timeout) {
      checks += 1
      return checks > 2 || mayRetry
    }
    return nil
  }

  /// The token of the thread that makes room.
  private var drainingThread: UInt64 { loop?.drainingThread ?? state.ownerToken }

  /// Whether a sender that found the ring full should try again.
  @usableFromInline
  var mayRetry: Bool { mailbox.hasRoom || !state.isBusy || mailbox.ring.isClosed }
}

/// Waiting of a task, which is suspended while there is no room.
extension Runtime {
  /// Sends an action. Any task.
  @inlinable
  func sendSuspending<R: Reactor<Action, Mutation, State>>(
    _ action: Action, to reactor: R, before deadline: ContinuousClock.Instant?
  ) async throws(SendError) {
    // Only some tasks are resumed at a time. So a task that is done, for any reason, resumes the next one.
    defer { resumeNextTask() }
    while true {
      if Task.isCancelled { throw .cancelled }
      do {
        try trySend(action, to: reactor, .never)
        return
      } catch .full {
        // The turns of the reactor make room.
        acquireAndRunOrSchedule(reactor)
        try await suspendUntilRoom(before: deadline)
      }
    }
  }

  /// Returns when there may be room.
  @usableFromInline
  func suspendUntilRoom(before deadline: ContinuousClock.Instant?) async throws(SendError) {
    guard let overflow = mailbox.ensureOverflow() else { throw .outOfMemory }
    let ticket = RoomWaiters.Ticket()
    let timeout = try deadline.map { (deadline) throws(SendError) in
      try Self.scheduleTimeout(at: deadline, of: ticket)
    }
    overflow.tasks.insert(ticket)
    await withTaskCancellationHandler {
      await ticket.wait {
        // Not earlier: only now does the ticket have a task to resume.
        if !overflow.room.arm(unless: { mayRetry }) { ticket.resume() }
      }
    } onCancel: {
      ticket.resume()
    }
    timeout?.cancel()
    overflow.tasks.remove(ticket)
  }

  private static func scheduleTimeout(
    at deadline: ContinuousClock.Instant, of ticket: RoomWaiters.Ticket
  ) throws(SendError) -> DispatchWorkItem {
    let left = ContinuousClock.now.duration(to: deadline)
    if left <= .zero { throw .timedOut }
    let item = DispatchWorkItem { ticket.resume() }
    let time = DispatchTime.now() + left.dispatchInterval(atLeast: 0)
    DispatchQueue.global().asyncAfter(deadline: time, execute: item)
    return item
  }

  /// Resumes the next task if there is room; otherwise makes the owner notify.
  @usableFromInline
  func resumeNextTask() {
    mailbox.overflow.use { overflow in
      if overflow.tasks.isEmpty { return }
      if !overflow.room.arm(unless: { mayRetry }) { overflow.tasks.resume(atMost: 1) }
    }
  }
}
