import ReactorCore

/// How long a sender has waited for room.
@usableFromInline
struct RoomWait: Sendable {
  /// How often it found none.
  @usableFromInline var attempts = 0
  var hasSlept = false

  static var pauses: Int { 8 }

  @usableFromInline init() {}
}

/// Waiting of a thread.
extension Runtime {
  /// Waits a little, or until there may be room again. Any thread, outside of turns.
  ///
  /// - Returns: Why the sender must give up; nil if it tries again.
  @usableFromInline
  @inline(never)
  func waitForRoom(_ progress: inout RoomWait, _ wait: SendWait) -> SendError? {
    if case .until(let deadline) = wait, MonotonicTime.now >= deadline { return .timedOut }
    progress.attempts += 1
    if progress.attempts <= RoomWait.pauses {
      CurrentCore.pause(times: 16)
      return nil
    }
    // The caller may host the loop, between two of its rounds: then it must run a round itself.
    let inThisLoop = loop?.host?.runRoundHere()
    if let inThisLoop, inThisLoop > 0 { return nil }
    // Or it hosts another loop, in which the one that makes room may be waiting for room.
    let inItsLoops = HostThread.runRounds() ?? inThisLoop
    if let inItsLoops, inItsLoops > 0 { return nil }
    guard let overflow = mailbox.ensureOverflow() else { return .outOfMemory }
    // A thread that has slept and found no room does not yield before it sleeps again.
    if !progress.hasSlept, !overflow.waiters.shouldSleep(after: progress.attempts) {
      DedicatedThread.yield()
      return nil
    }
    progress.hasSlept = true
    let ticket = RoomTicket(ofThread: true)
    // A host goes on running the rounds of its hosted loops, so these are not waited for in a circle. But it may also deliver the
    // elements of a stream, and others may wait for that.
    let nextRound = inItsLoops.map { _ in ContinuousClock.now + .milliseconds(1) }
    let until = [wait.deadline, nextRound].compactMap { $0 }.min()
    // The closures do not retain the runtime: the sender holds the reactor until it has left the graph.
    let edge = WaitGraph.Wait(
      thread: CurrentCore.threadToken, runsRounds: inItsLoops != nil,
      insideOf: MainLoopRunner.queuesHere(running: inThisLoop == nil ? nil : loop),
      emptier: { [unowned self] in loop?.drainingThread ?? WaitGraph.Emptier(state.ownerToken) },
      isOver: { [unowned self] in mayRetryAtOnce }, wake: { ticket.resume() })
    switch WaitGraph.enter(edge) {
    case .sleeps: break
    case .triesAgain: return nil
    case .wouldSleepForEver: return .deadlock
    }
    defer { WaitGraph.leave(edge) }
    // Sleeps once at most: while this wait was over, other threads may have begun to wait for this one. So this thread
    // must enter the graph again before it sleeps again.
    overflow.waiters.sleep(ticket, until: until) { maySend(beside: overflow) }
    return nil
  }

  /// Ends the wait of a sender that has sent or given up: resumes the next one, if there is room for that. Any thread.
  @usableFromInline
  @inline(never)
  func endWaitForRoom(_ progress: RoomWait) {
    if !progress.hasSlept { mailbox.overflow.use { $0.waiters.noteRoom(afterYields: progress.attempts) } }
    resumeNextWaiter()
  }

  /// Resumes the next thread or task that waits, if it may try again. Any thread that was resumed itself.
  @usableFromInline
  func resumeNextWaiter() {
    mailbox.overflow.use { overflow in
      if overflow.waiters.count > 0, mayRetryAtOnce {
        overflow.waiters.resumeNext(whileEmpty: mailbox.ring.wasCount == 0)
      }
    }
  }

  /// Whether a sender that found the ring full should try again, since there is much room, or nobody makes more.
  private var mayRetry: Bool { mailbox.hasRoom || !state.isBusy || mailbox.ring.isClosed }

  /// The same, instead of sleeping. While the owner is fast, a thread or task is not woken for a little room, so it need not try for
  /// that; a slow owner makes the next room in the same long time.
  private func maySend(beside overflow: Overflow<Action>) -> Bool {
    mayRetry || mailbox.hasAnyRoom && overflow.waiters.isOwnerSlow
  }

  /// Whether a sender that sleeps can do something.
  var mayRetryAtOnce: Bool { mailbox.hasAnyRoom || mayRetry }
}

/// Waiting of a closure.
extension Runtime {
  /// Calls `body` once, when there is room or the reactor is closed.
  ///
  /// - Returns: What withdraws the call, and whether it waits. Then the turns of the reactor must make the room.
  @usableFromInline
  func whenRoom(_ body: @escaping @Sendable () -> Void) -> (call: any Disposable, waits: Bool) {
    guard let overflow = mailbox.ensureOverflow() else {
      let call = RoomCall(body, then: {})
      call.runInSequence()
      return (call, false)
    }
    // It retains the runtime until it is called or withdrawn. The mailbox is full until then, so some thread holds the reactor in
    // order to empty it.
    let call = RoomCall(
      body,
      then: { [self] in
        // Like every resumed waiter, resumes the next one. `body` may not have sent anything, so at most as many closures are called
        // as the owner has made room for. It makes room again unless the ring is empty.
        let mayCallNext = mailbox.overflow.use { $0.waiters.tryTakeRoom() } ?? true
        if mayCallNext || mailbox.ring.wasCount == 0 || mailbox.ring.isClosed { resumeNextWaiter() }
      })
    return (call, overflow.waiters.join(call) { mailbox.hasAnyRoom || mailbox.ring.isClosed })
  }
}

extension Reactor {
  /// Calls `body` once, when there is room in the mailbox: for an event loop to which ``trySend(_:)`` has thrown
  /// ``SendError/full``, and which goes on reading from its client when it has sent the action. Any thread.
  ///
  /// ```swift
  /// func received(_ request: Request) {
  ///   do {
  ///     try shard.trySend(.run(request))
  ///     resumeReading()
  ///   } catch .full {
  ///     pauseReading()
  ///     shard.whenRoom { try? loop.execute { received(request) } }
  ///   } catch { … }
  /// }
  /// ```
  ///
  /// If `execute` throws, since the loop is closed or as many jobs wait as its `jobCapacity` allows, the request is lost, and nothing
  /// resumes the reading. So give such a loop `jobCapacity: .max`; a loop that is closed ends its clients.
  ///
  /// Closures are called in the order in which they came, together with the threads and tasks that wait for room: as many as
  /// there is room for, and the first thread once the mailbox is empty. Another sender may still be faster, so `body` tries again
  /// and handles the refusal. If there is room already, or the reactor is closed, `body` is called at once; and so it is when the
  /// reactor is closed while it waits. Then ``trySend(_:)`` throws ``SendError/closed``.
  ///
  /// `body` is called on the thread that has made the room, or that was refused or sent before it; inside of a turn after
  /// that turn, when the state is shown. It must not block, and its sends do not wait for room, as inside of a turn.
  ///
  /// Any number of closures may wait. A client that is gone withdraws its own, on any thread: `dispose()` takes it out of the line
  /// and releases it; it is not called afterwards, unless another thread has begun to.
  ///
  /// - Parameter body: What is called.
  /// - Returns: What withdraws the call. It may be ignored: `body` is called whether this is kept or not.
  /// - Complexity: Six allocations, and a system call if the mailbox is full. To withdraw is O(1).
  @inlinable
  @discardableResult
  public func whenRoom(_ body: @escaping @Sendable () -> Void) -> any Disposable {
    let (call, waits) = runtime.whenRoom(body)
    if waits, !runtime.state.isBusy { runtime.acquireAndRunOrSchedule(self) }
    return call
  }
}

/// Waiting of a task, which is suspended while there is no room.
extension Runtime {
  /// Sends an action. Any task.
  @inlinable
  nonisolated(nonsending)
    func sendSuspending<R: Reactor<Action, Mutation, State>>(
      _ action: Action, to reactor: R, before deadline: ContinuousClock.Instant?
    ) async throws(SendError)
  {
    let budget = TurnBudget(before: deadline)
    try await retryUntilRoom(in: reactor, before: deadline, within: budget) { () throws(SendError) in
      try trySend(action, to: reactor, .never, within: budget)
    }
  }

  /// Repeats `attempt` until it throws neither ``SendError/full`` nor ``SendError/reentrantOverflow``, and suspends the task until
  /// there is room. Any task.
  @inlinable
  nonisolated(nonsending)
    func retryUntilRoom<R: Reactor<Action, Mutation, State>>(
      in reactor: R, before deadline: ContinuousClock.Instant?, within budget: TurnBudget,
      _ attempt: () throws(SendError) -> Void
    ) async throws(SendError)
  {
    var hasWaited = false
    // A task that was resumed and is done, for any reason, resumes the next one.
    defer { if hasWaited { resumeNextWaiter() } }
    while true {
      if Task.isCancelled { throw .cancelled }
      if !isFullHere {
        do {
          return try attempt()
        } catch .full {
          // The turns of the reactor make room.
          acquireAndRunOrSchedule(reactor, within: budget)
          hasWaited = true
          try await suspendUntilRoom(before: deadline)
          continue
        } catch .reentrantOverflow {
          // The calling thread has sent as much as may wait beside the mailbox. The turns that it runs make room for that, too.
        }
      }
      if let deadline, .now >= deadline { throw .timedOut }
      await yieldToTurns()
    }
  }

  /// Whether as much waits as the mailbox holds, and the calling thread runs the reactor's turns: a send would not wait for room
  /// here, so the task lets the thread run them first.
  @usableFromInline
  var isFullHere: Bool { isRunHere && !mailbox.ring.isClosed && mailbox.wasCount >= mailbox.ring.capacity }

  /// Lets the calling thread run its other tasks, and the reactor's turns. A task on the reactor's loop comes back by a job of that,
  /// and not by way of the pool of threads, as from `Task.yield()`.
  @usableFromInline
  nonisolated(nonsending)
    func yieldToTurns() async
  {
    guard let loop, loop.runsTurnsHere else { return await Task.yield() }
    await SuspendedTask.suspend { task in
      loop.postInAnyPhase(.closure { task.resume() })
      return true
    }
  }

  /// Returns when there may be room.
  @usableFromInline
  nonisolated(nonsending)
    func suspendUntilRoom(before deadline: ContinuousClock.Instant?) async throws(SendError)
  {
    guard let overflow = mailbox.ensureOverflow() else { throw .outOfMemory }
    if let deadline, .now >= deadline { throw .timedOut }
    await overflow.waiters.suspend(RoomTicket(ofThread: false), until: deadline) { maySend(beside: overflow) }
  }
}
