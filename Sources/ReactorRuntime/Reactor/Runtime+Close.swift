import ReactorCore
import Synchronization

/// How a reactor is closed, and how it ends. ``Lifecycle`` documents the states and the transitions.
extension Runtime {
  /// Closes the reactor. Any thread, with a reference to the reactor.
  @inlinable
  func close<R: Reactor<Action, Mutation, State>>(_ closing: Closing, of reactor: R) {
    if tryCloseIdle(closing, of: reactor) { return }
    if beginClosing(closing, of: reactor), !state.isBusy { acquireAndRunOrSchedule(reactor) }
  }

  /// Closes the reactor if nobody owns it, as its owner: then there is no other owner that must be made to check, which
  /// would take a heavy fence. Otherwise closing a million reactors takes many seconds.
  ///
  /// - Returns: False if the reactor has an owner.
  @inlinable
  @inline(never)
  func tryCloseIdle<R: Reactor<Action, Mutation, State>>(_ closing: Closing, of reactor: R) -> Bool {
    if mailbox.ring.lifecycle.isOver { return false }
    if let loop {
      if !state.trySchedule() { return false }
      _ = markClosing(closing, of: reactor)
      if !loop.submit(makeLoopReactor(reactor)) { discardMailbox() }
    } else {
      if ThreadStack.isLow || !state.tryAcquire() { return false }
      _ = markClosing(closing, of: reactor)
      // The first turn finds the reactor closed.
      runTurnsAndRelease(of: reactor)
    }
    return true
  }

  /// Refuses what is sent from now on, and makes the owner check.
  ///
  /// - Returns: Whether the owner must check the mailbox once more. An owner that is in a turn does so anyway.
  @inlinable
  func beginClosing<R: Reactor<Action, Mutation, State>>(_ closing: Closing, of reactor: R) -> Bool {
    if !markClosing(closing, of: reactor) { return false }
    notifyOwnerOfClosing()
    return true
  }

  /// Refuses what is sent from now on, and ends the waits of senders.
  ///
  /// - Returns: Whether an owner must check the mailbox once more.
  @inlinable
  func markClosing<R: Reactor<Action, Mutation, State>>(_ closing: Closing, of reactor: R) -> Bool {
    let next = mailbox.ring.lifecycle.openToClosing(by: .reactor(closing))
    // Also what an earlier call marked whose thread has not come this far.
    if mailbox.ring.lifecycle.discards {
      // Made before the stage is inserted: an action that finds it uses the pipeline.
      _ = ensurePipeline(of: reactor)
      insert(.discarding)
    }
    switch next {
    case .nothing: return false
    case .seal: if mailbox.ring.seal() { Tracepoint.close(self) }
    case .notifyOwner: break
    }
    resumeWaiters()
    return true
  }

  /// Ends the waits of senders, which find the mailbox closed.
  @usableFromInline
  func resumeWaiters() { mailbox.overflow.use { $0.waiters.resumeAll() } }

  /// Makes an owner that is about to release check once more.
  @usableFromInline
  func notifyOwnerOfClosing() {
    if state.isOwner { mailbox.ownerCheck.requestAsOwner() } else { mailbox.ownerCheck.request() }
  }

  /// Refuses what other threads send from now on, since the loop was shut down. The loop calls this in each of its rounds
  /// from then on; so does the thread whose schedule the loop has refused.
  @usableFromInline
  func closeByLoop() {
    switch mailbox.ring.lifecycle.openToClosing(by: .loop) {
    case .seal: if mailbox.ring.seal() { Tracepoint.close(self) }
    // `notifyOwner` is for closers of the reactor itself.
    case .notifyOwner, .nothing: break
    }
    resumeWaiters()
  }

  /// Closes the reactor, since a transform has ended; the reactor reports what it holds, and completes the observers of
  /// `state`. Any thread.
  @inlinable
  @inline(never)
  func closeAfterTransform<R: Reactor<Action, Mutation, State>>(
    _ transform: Failure.Transform, endedWith error: (any Error)?, of reactor: R
  ) {
    // First: an observer that is refused from now on is completed, too.
    ensurePipeline(of: reactor).states.completesAtEnd.store(true, ordering: .releasing)
    let ownerMustCheck = beginClosing(.discard, of: reactor)
    disposeDiscardedStreams()
    // Usually reported before what is discarded because of it; an owner on another thread may be faster.
    report(.transform(transform, error), nil)
    if ownerMustCheck, !state.isBusy { acquireAndRunOrSchedule(reactor) }
  }

  /// Disposes of the streams of a reactor that is closed. Any thread.
  @usableFromInline
  func disposeDiscardedStreams() {
    pipelineReference.use { pipeline in TurnMark.whileDiscarding { pipeline.disposeStreams() } }
  }

  /// Runs `action` after the end: on the thread that ends the reactor, or at once if it has ended. Any thread.
  @usableFromInline
  func whenEnded(_ action: @escaping @Sendable () -> Void) {
    if mailbox.ring.lifecycle.isOver { return action() }
    ensureTermination().whenOver(action)
  }

  /// What waits for the end; made by the first thread that waits.
  func ensureTermination() -> Termination {
    let extras = ensureExtras()
    let termination = extras.termination.use { $0 } ?? extras.termination.setIfNil(Termination())
    // The thread that ended the reactor may have found none: see ``Lifecycle``.
    if mailbox.ring.lifecycle.isOver { termination.finish() }
    return termination
  }

  /// Ends the reactor if it is sealed and nothing is left. The owner, after each turn of a reactor that is closed.
  @usableFromInline
  func endIfDone() {
    // In this order: a mailbox that is empty after it was sealed stays empty. If it is sealed after this check, the
    // closer makes the owner check again.
    guard mailbox.ring.lifecycle.mayEnd, mailbox.isInboundEmpty, mailbox.ownerQueue.isEmpty else { return }
    end()
  }

  /// Ends the reactor, unless it has ended or only its loop was shut down. The owner, or the thread that discards.
  func end() {
    guard mailbox.ring.lifecycle.sealedToEnded() else { return }
    // After the transition, so that what these send here is refused.
    extrasReference.use { $0.endHook?() }
    disposeDiscardedStreams()
    pipelineReference.use { pipeline in
      pipeline.states.completeIfNeeded()
      // After what the journal has not written yet: that is shown before.
      if let journal, pipeline.states.completesAtEnd.load(ordering: .relaxed) {
        TurnEndAction { journal.completeStates() }.runAfterTurn()
      }
    }
    // The replies of this turn leave first: a thread that waits for the end may be the one that then ends the process.
    if mailbox.turnEnds.isRequested {
      let extras = ensureExtras()
      // Those of a journal leave on other threads.
      if extras.journal == nil { extras.endingThread.store(CurrentCore.threadToken, ordering: .relaxed) }
      TurnEndAction { [self] in markOver() }.runAfterTurn()
    } else {
      markOver()
    }
  }

  /// Resumes what waits for the end. The thread that has ended the reactor; or, if replies had to leave first, the one that has
  /// let the last of them leave.
  private func markOver() {
    // In this order: see ``Lifecycle``.
    mailbox.ring.lifecycle.markOver()
    extrasReference.use { extras in
      // Relaxed: only the thread that has stored its token compares it.
      extras.endingThread.store(0, ordering: .relaxed)
      extras.termination.use { $0.finish() }
    }
  }

  /// Whether the calling thread has ended the reactor, and is about to let its last replies leave: it would wait for itself.
  var isEndingHere: Bool {
    extrasReference.use { $0.endingThread.load(ordering: .relaxed) == CurrentCore.threadToken } ?? false
  }
}

extension Reactor {
  /// Refuses what is sent from now on, and ends the reactor when what it holds was processed or discarded.
  ///
  /// Any thread, also from inside a turn of the reactor. It does not wait; on placement ``Placement/caller`` it may run
  /// the last turn. Calling it again has no effect, except that ``Closing/discard`` overrules an earlier
  /// ``Closing/drain``.
  ///
  /// Sends are refused with ``SendError/closed``. At the end, the streams that `mutate` and the transforms have returned
  /// are disposed of. ``currentState`` keeps the last state.
  @inlinable
  public func close(_ closing: Closing = .drain) { runtime.close(closing, of: self) }

  /// Returns when a reactor for which ``close(_:)`` was called has ended, and the replies of its last turn have left; those
  /// of a durable reactor may still wait for the disk. Any task. A cancellation does not end the wait: see
  /// ``suspendUntilEnded(before:)``.
  nonisolated(nonsending)
    public func waitUntilEnded() async
  {
    await SuspendedTask.suspend { task in
      runtime.whenEnded { task.resume() }
      return true
    }
  }

  /// Suspends the task until a reactor for which ``close(_:)`` was called has ended, as ``waitUntilEnded()``; but until the deadline
  /// at most, and not after the task was cancelled. Any task.
  ///
  /// - Parameter deadline: When to give up.
  /// - Returns: Whether the reactor has ended. False if the deadline, or the cancellation of the task, came first.
  nonisolated(nonsending)
    public func suspendUntilEnded(before deadline: ContinuousClock.Instant) async -> Bool
  {
    if runtime.mailbox.ring.lifecycle.isOver { return true }
    return await runtime.ensureTermination().suspend(until: deadline)
  }

  /// Waits until a reactor for which ``close(_:)`` was called has ended; returns false if the deadline comes first. Any
  /// thread, but not inside a turn of the reactor or of its loop: there it would wait for itself, and stops the program. A
  /// thread that hosts loops, such as that of a ``HostedLoop``, runs their rounds meanwhile.
  public func waitUntilEnded(before deadline: ContinuousClock.Instant) -> Bool {
    guard !runtime.isRunHere else {
      fatalError(
        """
        Problem: \(Self.self) waits for its own end inside of a turn.
        Likely cause: waitUntilEnded(before:) was called by mutate, reduce or an observer.
        Remedy: call it elsewhere; close() itself does not wait.
        """)
    }
    if runtime.mailbox.ring.lifecycle.isOver || runtime.isEndingHere { return true }
    let termination = runtime.ensureTermination()
    return HostThread.wait(until: deadline, for: { runtime.loop }, { termination.wait(until: $0) })
  }
}

/// What happens when no thread runs turns any more: actions that were accepted before the loop was found closed are
/// reported, one by one.
extension Runtime {
  /// Discards and reports what the mailbox holds, since no thread will process it. The thread that has scheduled the
  /// reactor, and whose schedule the loop has refused.
  ///
  /// It reports while it is the owner. If it released first, another thread could find the mailbox empty, and end the
  /// reactor before the last report.
  @usableFromInline
  func discardMailbox() {
    var hasAll = true
    state.acquireScheduled()
    closeByLoop()
    repeat {
      // Only the loop's thread may touch what it sent from its turns, and the count of that, until it has run its last turn.
      hasAll = loop?.hasEnded != false
      TurnMark.whileDiscarding {
        for work in hasAll ? mailbox.removeAll() : mailbox.removeFromRing() { discard(work, .closed) }
      }
      if hasAll {
        endIfEmptyAndRelease()
      } else {
        let ends = TurnMark.collectingEnds { sweepObservers() }
        state.release()
        ends.run()
      }
    } while hasAll ? tryReacquire() : !mailbox.ring.isEmpty && tryReacquire()
    if !hasAll {
      loop?.whenEnded { [self] in
        // If this fails, another thread discards, and runs this itself if it must.
        if state.trySchedule() { discardMailbox() }
      }
    }
  }

  /// Ends the reactor if nothing is left, and releases the ownership. The owner, when the loop has ended.
  private func endIfEmptyAndRelease() {
    let outer = TurnMark.enter(mailbox.turnEnds)
    sweepObservers()
    // If there is a claim that is not published yet, its sender discards it itself.
    if mailbox.isInboundEmpty { end() }
    TurnMark.leave(outer)
    // What the reactor replies at its end may tell of what is not durable yet.
    holdTurnEnds()
    releaseAndRunTurnEnds()
  }

  /// Runs a step of a reactor that is closed: its observers are still added and removed. Any thread.
  @usableFromInline
  func runAfterClose<R: Reactor<Action, Mutation, State>>(_ step: Step, of reactor: R) {
    if let loop, loop.isClosed, !loop.hasEnded {
      // What was accepted before is still processed.
      return loop.whenEnded { [self] in runAfterClose(step, of: reactor) }
    }
    guard state.tryAcquire() else { return step.discard(.closed) }
    let outer = TurnMark.enter(mailbox.turnEnds)
    step.run()
    TurnMark.leave(outer)
    if loop == nil { return runTurnsAndRelease(of: reactor) }
    if R.isDurable { holdTurnEnds() }
    releaseAndRunTurnEnds()
    // A thread that found this one to be the owner relies on it to process what it sent.
    acquireAndRunOrSchedule(reactor)
  }
}

extension Reactor {
  /// Returns what closes this reactor as a part of ``Shutdown/close(_:before:)``. Any thread.
  ///
  /// ```swift
  /// try Shutdown.close([orders.closer(), loop], before: .now + .seconds(10))
  /// ```
  ///
  /// A loop that is closed lets its reactors drain. List this as well if the streams of the reactor must be disposed of, its
  /// ``EndObserving/willEnd(_:)`` must be called, or something waits for its end; and always for a reactor on ``Placement/caller``.
  ///
  /// - Parameter closing: As that of ``close(_:)``.
  public func closer(by closing: Closing = .drain) -> some Closeable {
    ReactorCloser(reactor: self, closing: closing)
  }
}

/// A reactor, and how it is closed.
private struct ReactorCloser<R: Reactor>: Closeable {
  let reactor: R
  let closing: Closing

  func beginClosing() { reactor.close(closing) }

  func finishClosing(before deadline: ContinuousClock.Instant) -> [Unfinished] {
    let isRunHere = reactor.runtime.isRunHere
    if !isRunHere, reactor.waitUntilEnded(before: deadline) { return [] }
    // Making the name costs more than ending a reactor, and there may be a million reactors.
    let name = String(reflecting: R.self)
    if isRunHere { return [Unfinished(name: name, loop: nil, occupation: .closesItself)] }
    let count = reactor.counters.waiting
    return [Unfinished(name: name, loop: nil, occupation: .waiting(actions: count))]
  }
}
