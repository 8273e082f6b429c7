import Dispatch
import ReactorCore

/// What a sender does that found the mailbox full.
extension Runtime {
  @usableFromInline
  enum Place: Sendable {
    /// Kept beside the ring.
    case found
    /// There is room again.
    case inTheRing
    case wait
    case none(SendError)
  }

  /// What to do with something for which there was no room.
  @usableFromInline
  @inline(never)
  func resolveOverflow(for work: Work<Action>, _ patience: Patience) -> Place {
    guard let overflow = makeOverflow() else { return .none(.outOfMemory) }
    switch patience {
    case .none: return .none(.full)
    case .asThePolicySays:
      if case .action(let action) = work, policy != .block { return applyPolicy(action, in: overflow) }
    case .until, .unlimited: break
    }
    // A turn must not wait: somebody may wait for it.
    if !TurnMark.isSet { return .wait }
    #if DEBUG
      checkRoom()
    #endif
    return place(overflow.spill(work, besides: mailbox.ring, limit: mailbox.reentrant.limit))
  }

  private func applyPolicy(_ action: Action, in overflow: Overflow<Action>) -> Place {
    switch policy {
    case .block: .wait
    case .fail: .none(.full)
    case .dropNewest: .none(.dropped)
    case .dropOldest: place(overflow.push(action, besides: mailbox.ring, drop: { refuse($0, .dropped) }))
    }
  }

  private func place(_ spill: Overflow<Action>.Spill) -> Place {
    switch spill {
    case .taken: .found
    case .ringHasRoom: .inTheRing
    case .overLimit: .none(.reentrantOverflow)
    }
  }

  /// Nil if there is no memory.
  @usableFromInline
  func makeOverflow() -> Overflow<Action>? {
    if let overflow = mailbox.overflow.use({ $0 }) { return overflow }
    guard let overflow = try? Overflow<Action>() else { return nil }
    return mailbox.overflow.setIfNil(overflow)
  }

  /// Reports an action that a newer one has pushed out. The owner.
  @usableFromInline
  @inline(never)
  func drop(_ action: Action, _ count: inout Int) {
    count += 1
    refuse(action, .dropped)
  }

  /// Reports an action that was not accepted. Any thread.
  @usableFromInline
  func refuse(_ action: Action, _ reason: SendError) {
    if reason == .dropped { mailbox.overflow.use { _ = $0.dropped.add(1, ordering: .relaxed) } }
    report(.actionNotDelivered(reason), action)
  }

  /// Waits a little, or until there is room again; says why not if that would never come, or takes too long.
  @usableFromInline
  @inline(never)
  func waitForRoom(after attempts: inout Int, _ patience: Patience) -> SendError? {
    var timeout: Int64?
    if case .until(let deadline) = patience {
      let left = ContinuousClock.now.duration(to: deadline).nanoseconds
      if left <= 0 { return .timedOut }
      timeout = left
    }
    attempts += 1
    if attempts <= 8 {
      CurrentCore.pause(times: 16)
      return nil
    }
    // The caller may be the one who is to run the loop's rounds, between two of them.
    if let runRoundHere = loop?.runRoundHere, runRoundHere() { return nil }
    if attempts <= 512 {
      DedicatedThread.yield()
      return nil
    }
    attempts = 0
    guard let overflow = makeOverflow() else { return .outOfMemory }
    // Not retained, which would cost each wait an allocation more: the sender holds the reactor.
    let wait = WaitGraph.Wait(
      thread: CurrentCore.threadToken, emptier: { [unowned self] in drainingThread },
      isOver: { [unowned self] in mayRetry },
      wake: { [unowned overflow] in overflow.notifyOutOfTurn() })
    guard WaitGraph.enter(wait) else { return .deadlock }
    defer { WaitGraph.leave(wait.thread) }
    // One sleep at most: others went on because this wait was over, so it must be looked at anew.
    var looks = 0
    _ = overflow.room.wait(timeoutNanoseconds: timeout) {
      looks += 1
      return looks > 2 || mayRetry
    }
    return nil
  }

  /// The token of the thread that makes room.
  private var drainingThread: UInt64 { loop?.drainingThread ?? state.wasOwner }

  /// Whether a sender that found the ring full should try again.
  @usableFromInline
  var mayRetry: Bool { mailbox.hasRoom || !state.wasBusy || mailbox.ring.isClosed }
}

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
        if !overflow.room.arm(unless: { mayRetry }) { ticket.resume() }
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
      if !overflow.room.arm(unless: { mayRetry }) { overflow.tasks.resume(atMost: 1) }
    }
  }
}
