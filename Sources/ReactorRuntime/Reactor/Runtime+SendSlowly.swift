import ReactorCore

/// Sending an action where the undisturbed ways of `Runtime+Send.swift` do not suffice: the first action, a re-entrant one on a loop, no room,
/// and sends that say what became of the action. Any thread.
extension Runtime {
  /// Sends an action that the code inlined at the send, or that of ``sendByMailbox(_:to:)``, cannot handle, and reports it if it is
  /// refused.
  @inlinable
  @inline(never)
  func sendOrReport<R: Reactor<Action, Mutation, State>>(_ action: Action, to reactor: R) {
    if loop == nil, !state.hasStarted, !ThreadStack.isLow, tryStartAndAcquire(reactor) {
      // The first action of all needs no mailbox either.
      if mailbox.isInboundIdle {
        runTurnAndRelease(with: action, of: reactor)
      } else {
        runTurnsAndRelease(appending: action, of: reactor)
      }
    } else if !state.isOwner, mailbox.ring.offer(.action(action)) == .accepted {
      // The ring was not made yet, or had to grow.
      ensureProcessing(by: reactor, within: .usual)
    } else if let reason = enqueue(.action(action), to: reactor, .byPolicy) {
      reportRefused(action, reason)
    }
  }

  /// Sends an action, and throws if it is refused. Any thread.
  @inlinable
  func trySend<R: Reactor<Action, Mutation, State>>(
    _ action: Action, to reactor: R, _ wait: SendWait, within budget: TurnBudget = .usual
  ) throws(SendError) {
    try trySend(action, to: reactor, wait, within: budget, waitingAs: .action(action))
  }

  /// The same.
  ///
  /// - Parameter work: What is put into the mailbox if the action cannot be processed here.
  @inlinable
  @inline(__always)
  func trySend<R: Reactor<Action, Mutation, State>>(
    _ action: Action, to reactor: R, _ wait: SendWait, within budget: TurnBudget,
    waitingAs work: @autoclosure () -> Work<Action>
  ) throws(SendError) {
    // Without this check, the thread would learn that the loop is closed only after the mailbox has accepted the action.
    if withLoop({ $0.isClosed && !$0.runsTurnsHere }) == true { throw .closed }
    if loop == nil, !ThreadStack.isLow, state.tryAcquire() {
      if mailbox.isInboundIdle { return runTurnAndRelease(with: action, of: reactor, within: budget) }
      runTurnsAndRelease(of: reactor, within: budget)
    }
    if let reason = enqueue(work(), to: reactor, wait, within: budget) { throw reason }
  }

  /// Processes an action without the mailbox, of a reactor on ``Placement/caller``. It never waits.
  ///
  /// - Returns: False if the reactor has an owner, or something waits in its mailbox, or the stack of the thread is low. Then the action
  ///   is still to be sent.
  @inlinable
  @inline(never)
  func tryProcessHere<R: Reactor<Action, Mutation, State>>(
    _ action: Action, of reactor: R, within budget: TurnBudget
  ) -> Bool {
    if ThreadStack.isLow { return false }
    guard (!state.hasStarted && tryStartAndAcquire(reactor)) || state.tryAcquire() else { return false }
    if mailbox.isInboundIdle {
      runTurnAndRelease(with: action, of: reactor, within: budget)
      return true
    }
    runTurnsAndRelease(of: reactor, within: budget)
    return false
  }

  /// Puts something into the mailbox, waits for room if it must, and makes sure that some thread processes it. Any
  /// thread.
  ///
  /// - Returns: Why it was refused; nil if it was accepted.
  @inlinable
  @inline(__always)
  func enqueue<R: Reactor<Action, Mutation, State>>(
    _ work: Work<Action>, to reactor: R, _ wait: SendWait, within budget: TurnBudget = .usual
  ) -> SendError? {
    if isRunHere { return enqueueReentrant(work, to: reactor) }
    var progress = RoomWait()
    defer { if progress.attempts > 0 { endWaitForRoom(progress) } }
    while true {
      switch mailbox.ring.offer(work) {
      case .accepted:
        ensureProcessing(by: reactor, within: budget)
        return nil
      case .closed:
        return .closed
      case .outOfMemory:
        return .outOfMemory
      case .full:
        if progress.attempts == 0 { Tracepoint.full(self) }
        switch resolveOverflow(for: work, wait) {
        case .kept:
          if !state.isBusy { acquireAndRunOrSchedule(reactor, within: budget) }
          return nil
        case .refused(let reason):
          return reason
        case .ringHasRoom:
          break
        case .wait:
          acquireAndRunOrSchedule(reactor, within: budget)
          if let reason = waitForRoom(&progress, wait) { return reason }
        }
      }
    }
  }

  /// Whether the calling thread runs this reactor's turns, and so must not wait for room.
  @inlinable
  var isRunHere: Bool { withLoop { $0.runsTurnsHere } ?? state.isOwner }

  /// Appends what is sent from inside a turn of this reactor, or of another on the same loop, to the owner's queue.
  ///
  /// - Returns: Why it was refused; nil if it was accepted.
  @inlinable
  @inline(never)
  func enqueueReentrant<R: Reactor<Action, Mutation, State>>(_ work: Work<Action>, to reactor: R)
    -> SendError?
  {
    if extraStages.contains(.discarding)
      || (mailbox.ring.isClosed && mailbox.ring.lifecycle.refusesOwner(inTurn: isInTurn))
    {
      return .closed
    }
    if !mailbox.tryAppendOwn(work) { return .reentrantOverflow }
    if !state.isBusy { acquireAndRunOrSchedule(reactor) }
    return nil
  }

  /// Starts the reactor, once, before its first action; makes the caller the owner if it returns true.
  ///
  /// The loop's closure is made here, where the type of the reactor is known and the code specialises for it. A witness
  /// in the conformance of a generic reactor would not specialise.
  @inlinable
  @inline(never)
  func tryStartAndAcquire<R: Reactor<Action, Mutation, State>>(_ reactor: R) -> Bool {
    assert(
      reactor.runtime === self,
      """
      Problem: \(R.self).runtime is another object each time.
      Likely cause: it is a computed property.
      Remedy: store it: let runtime = Runtime<Action, Mutation, State>(on: …)
      """)
    let isFirst = state.tryInitialize {
      // All of this happens before the state is published: from then on other threads read it.
      bindKind(of: reactor, Self.makeLoopHandler(of: R.self))
      #if DEBUG
        checks.reactor.value = ObjectIdentifier(reactor)
        beginChecks(of: reactor)
      #endif
      let outer = TurnMark.enter()
      defer { TurnMark.leave(outer) }
      return makeInitialState(of: reactor)
    }
    guard isFirst else { return false }
    if R.isDurable { closeIfJournalHasEnded(reactor) }
    Tracepoint.start(self, type: String(reflecting: R.self))
    return true
  }
}
