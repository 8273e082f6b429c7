import ReactorCore

/// Sending an action. Any thread.
extension Runtime {
  /// Processes the action here if the reactor is idle; otherwise puts it into the mailbox.
  @inlinable
  @inline(__always)
  func send<R: Reactor<Action, Mutation, State>>(_ action: Action, to reactor: R) {
    if loop == nil {
      if state.form == StateForm.usual(for: State.self) { return sendHere(action, to: reactor) }
      return sendHereInOtherForm(action, to: reactor)
    }
    if !isOwnerInTurn, tryEnqueue(action, to: reactor) { return }
    sendOrReport(action, to: reactor)
  }

  /// Processes the action on the sender's thread if the reactor is idle. One function per type of reactor: a program has many
  /// places that send, and each would contain the reactor's `mutate` and `reduce`. Its code is that of the form which states of this
  /// type have unless the user chooses another one.
  ///
  /// If each action is known to cause one mutation, what is rare is a call at the end: then this function saves nearly no registers. They
  /// would be stores before the next compare-and-swap, see ``OwnedState/changeOnce(_:as:_:)``.
  @inlinable
  @inline(never)
  func sendHere<R: Reactor<Action, Mutation, State>>(_ action: Action, to reactor: R) {
    // Inside of a read, the thread must not become the owner of everything; and a stream that is being delivered must have nothing to do
    // with this turn. The stack comes besides: deinitializers that send are inside of nothing.
    if _slowPath(!ThreadScope.isOutsideOfAll) || _slowPath(ThreadStack.mayBeLow) {
      return state.isOwner ? sendByMailbox(action, to: reactor) : sendHereFromInside(action, to: reactor)
    }
    if _slowPath(!state.tryAcquireOutside()) { return sendByMailbox(action, to: reactor) }
    if _slowPath(!mailbox.isInboundIdle) { return runTurnsAndRelease(appending: action, of: reactor) }
    let form = StateForm.usual(for: State.self)
    // With one place, readers may read the state while it is reduced by value.
    if R.isDurable || (R.reducesByValue && form == .onePlace) {
      return runTurnAndRelease(with: action, of: reactor, as: form, isOutside: true)
    }
    if _slowPath(!extraStages.isEmpty) { return runTurnThroughStagesAndRelease(with: action, of: reactor) }
    runUsualTurnAndRelease(with: action, of: reactor)
  }

  /// The same of a thread that is inside of something, as a turn, a round, a read or the delivery of a stream, or whose stack is low.
  @inlinable
  @inline(never)
  func sendHereFromInside<R: Reactor<Action, Mutation, State>>(_ action: Action, to reactor: R) {
    sendHere(action, to: reactor, as: StateForm.usual(for: State.self))
  }

  /// ``sendHere(_:to:)`` of any thread, if the user has chosen another form. So the usual one pays for no branch of the others.
  @inlinable
  @inline(never)
  func sendHereInOtherForm<R: Reactor<Action, Mutation, State>>(_ action: Action, to reactor: R) {
    sendHere(action, to: reactor, as: state.form)
  }

  /// Both of these: the thread may be inside of anything.
  @inlinable
  @inline(__always)
  func sendHere<R: Reactor<Action, Mutation, State>>(_ action: Action, to reactor: R, as form: StateForm) {
    if _slowPath(ThreadStack.isLow) || _slowPath(!state.tryAcquire(as: form)) {
      return sendByMailbox(action, to: reactor)
    }
    if _slowPath(!mailbox.isInboundIdle) { return runTurnsAndRelease(appending: action, of: reactor) }
    runTurnAndRelease(with: action, of: reactor, as: form)
  }

  /// The rest of ``sendHere(_:to:)``: the reactor has an owner, or was never started, or the stack is low, or the thread reads
  /// states. Out of line, so that the path of an idle reactor needs few registers.
  @inlinable
  @inline(never)
  func sendByMailbox<R: Reactor<Action, Mutation, State>>(_ action: Action, to reactor: R) {
    if isOwnerInTurn {
      // On a loop this would not be enough: there its thread guards the owner's queue.
      if let reason = enqueueReentrant(.action(action), to: reactor) { reportRefused(action, reason) }
    } else if !tryEnqueue(action, to: reactor) {
      sendOrReport(action, to: reactor)
    }
  }

  /// Whether the calling thread is the owner, and inside of a turn or a job: then it must not put anything into the ring, which
  /// it would have to empty itself. What it sends as the owner at the end of a turn may go there, if there is room.
  ///
  /// The mark is asked first, since it is the thread's own, while the owner may have the cache line of the other word.
  @inlinable
  @inline(__always)
  var isOwnerInTurn: Bool { TurnMark.isSet && state.isOwner }

  // MARK: An idle reactor

  /// ``runUsualTurnAndRelease(with:of:)`` of a reactor that has extra stages.
  @inlinable
  @inline(never)
  func runTurnThroughStagesAndRelease<R: Reactor<Action, Mutation, State>>(with action: Action, of reactor: R)
  {
    _ = enterTurn(with: mailbox.turnEnds, isOutside: true)
    #if DEBUG
      checkServes(reactor)
      let turn = beginTurn()
    #endif
    processThroughStages(action, of: reactor)
    #if DEBUG
      endTurn(turn)
    #endif
    leaveTurnAndRelease(of: reactor)
  }

  /// Runs a turn of one action on the sender's thread, of a reactor without extra stages, whose state has its usual form; the thread is
  /// inside of nothing. The owner; releases the ownership before it returns.
  ///
  /// It does what ``runTurnAndRelease(with:of:within:)`` does, but one mutation by ``OwnedState/changeOnce(_:as:_:)``.
  @inlinable
  @inline(__always)
  func runUsualTurnAndRelease<R: Reactor<Action, Mutation, State>>(with action: Action, of reactor: R) {
    // Loaded once: after the reactor's code, the compiler would load them again each time.
    let (form, ends, counters) = (StateForm.usual(for: State.self), mailbox.turnEnds, turnCounters)
    _ = enterTurn(with: ends, isOutside: true)
    #if DEBUG
      checkServes(reactor)
      let turn = beginTurn()
      checkThreadOfAction()
    #endif
    // Nil if there were several changes, or none.
    var slot: SlotToChange?
    if !_isPOD(Action.self), let found = state.slotToChangeOnce(as: form),
      passOn(action, of: R.self, { mutation in reduceOnce(mutation, in: found, of: reactor) })
    {
      slot = found
    } else {
      // The switch consumes the stream: with one that borrows it, the compiler keeps it in memory and copies it there, even if it is known
      // which case it is.
      switch reactor.mutate(action: action).source {
      case .one(let mutation):
        // `mutate` may have subscribed to a stream of the reactor, or caused an event of one, which changes the state.
        if _fastPath(extraStages.subtracting(.discarding).isEmpty),
          let found = state.slotToChangeOnce(as: form)
        {
          reduceOnce(mutation, in: found, of: reactor)
          if _isPOD(Mutation.self) || form == .onePlace {
            slot = found
          } else {
            // What the mutation refers to is destroyed when this case ends, and may cause an event, which changes the state.
            state.continueTurn(as: form)
          }
        } else {
          #if DEBUG
            deliver(.just(mutation), for: action, of: reactor, as: form)
          #else
            return deliverAndRelease(consume mutation, for: action, of: reactor)
          #endif
        }
      case let source:
        deliver(Observable(source), for: action, of: reactor, as: form)
      }
      if slot == nil { state.endAction(as: form) }
    }
    // Below, foreign code may follow that causes events, too: the handler of a warning, or a backend of metrics.
    #if Metrics
      if slot != nil, turnTimes.isSet {
        state.continueTurn(as: form)
        slot = nil
      }
    #endif
    #if DEBUG
      if let duration = durationIfLong(ending: turn) {
        if slot != nil { state.continueTurn(as: form) }
        slot = nil
        warnOfLongTurn(duration)
      }
    #endif
    guard let slot else { return leaveTurnAndRelease(of: reactor) }
    leaveTurn(.outside, after: 1)
    counters.countImmediate()
    if _slowPath(!ends.isQuiet) { return continueTurnAndRelease(of: reactor) }
    if _slowPath(!state.tryReleaseLightly(slot, as: form)) { return releaseHeavilyOrContinue(of: reactor) }
    // Both ends of the ring are in this core's cache, so this check is all that an undisturbed send pays for.
    if _slowPath(!mailbox.isInboundEmptyAfterRelease) { continueAfterRelease(of: reactor) }
  }

  /// Applies the only mutation of a turn. The owner.
  @inlinable
  @inline(__always)
  func reduceOnce<R: Reactor<Action, Mutation, State>>(
    _ mutation: Mutation, in slot: SlotToChange, of reactor: R
  ) {
    let form = StateForm.usual(for: State.self)
    #if DEBUG
      beginReduce()
      defer { endReduce() }
    #endif
    state.changeOnce(slot, as: form) { state in
      if R.reducesByValue {
        state = reactor.reduce(state: state, mutation: mutation)
      } else {
        reactor.reduce(into: &state, mutation: mutation)
      }
    }
    // The mutation and the checks may read the state.
    state.endChangeOnce(as: form)
  }

  /// The rest of ``runUsualTurnAndRelease(with:of:)`` if something rare is to be done for the mutation, which is destroyed before the end
  /// of the turn. The owner; releases the ownership before it returns.
  @inlinable
  @inline(never)
  func deliverAndRelease<R: Reactor<Action, Mutation, State>>(
    _ mutation: consuming Mutation, for action: Action, of reactor: R
  ) {
    let form = StateForm.usual(for: State.self)
    deliver(.just(consume mutation), for: action, of: reactor, as: form)
    state.endAction(as: form)
    leaveTurnAndRelease(of: reactor)
  }

  /// Ends a turn of one action that may have made several changes. The owner; releases the ownership before it returns.
  @inlinable
  @inline(__always)
  func leaveTurnAndRelease<R: Reactor<Action, Mutation, State>>(of reactor: R) {
    let (form, ends, counters) = (StateForm.usual(for: State.self), mailbox.turnEnds, turnCounters)
    leaveTurn(.outside, after: 1)
    counters.countImmediate()
    releaseOrContinue(of: reactor, as: form, after: ends, turns: counters.wasImmediate)
  }

  /// Ends a turn of one change that has left something to do. The owner; releases the ownership before it returns.
  @inlinable
  @inline(never)
  func continueTurnAndRelease<R: Reactor<Action, Mutation, State>>(of reactor: R) {
    state.continueTurn(as: StateForm.usual(for: State.self))
    endTurnAndRelease(of: reactor, within: .usual)
  }

  /// Ends a turn of one change of a state whose word is not light. The owner; releases the ownership before it returns.
  @inlinable
  @inline(never)
  func releaseHeavilyOrContinue<R: Reactor<Action, Mutation, State>>(of reactor: R) {
    state.releaseHeavily(afterTurns: turnCounters.wasImmediate)
    if _slowPath(!mailbox.isInboundEmptyAfterRelease) { continueAfterRelease(of: reactor) }
  }

  /// Runs turns for what has arrived before the calling thread released the ownership.
  @inlinable
  @inline(never)
  func continueAfterRelease<R: Reactor<Action, Mutation, State>>(of reactor: R) {
    if tryReacquire() { runTurnsAndRelease(of: reactor, within: .usual) }
  }

  /// Runs a turn of one action on the sender's thread. The owner; releases the ownership before it returns.
  @inlinable
  @inline(never)
  func runTurnAndRelease<R: Reactor<Action, Mutation, State>>(
    with action: Action, of reactor: R, within budget: TurnBudget = .usual
  ) {
    runTurnAndRelease(with: action, of: reactor, as: state.form, within: budget)
  }

  /// The same, with the form of the state as a constant where the caller knows it. The owner.
  @inlinable
  @inline(__always)
  func runTurnAndRelease<R: Reactor<Action, Mutation, State>>(
    with action: Action, of reactor: R, as form: StateForm, within budget: TurnBudget = .usual,
    isOutside: Bool = false
  ) {
    // Loaded once: after the reactor's code, the compiler would load them again each time.
    let (ends, counters) = (mailbox.turnEnds, turnCounters)
    let outer = enterTurn(with: ends, isOutside: isOutside)
    leaveScopes(unless: isOutside) { process(action, of: reactor, as: form) }
    leaveTurn(outer, after: 1)
    counters.countImmediate()
    releaseOrContinue(of: reactor, as: form, after: ends, turns: counters.wasImmediate, within: budget)
  }

  /// Calls `body`, which processes actions: they have nothing to do with what the thread is in the middle of, such as the delivery of a
  /// stream. What they make streams emit is emitted before they end.
  @inlinable
  @inline(__always)
  func leaveScopes(unless isOutside: Bool = false, _ body: () -> Void) {
    if isOutside { body() } else { ThreadScope.leaveAll(body) }
  }

  /// Begins a turn of the sender's own actions. Returns what ``leaveTurn(_:after:)`` needs. The owner.
  ///
  /// - Parameter ends: ``Mailbox/turnEnds``.
  @inlinable
  @inline(__always)
  func enterTurn(with ends: TurnEnds, isOutside: Bool = false) -> TurnMark.Outer {
    let outer = isOutside ? TurnMark.enterFromOutside(ends) : TurnMark.enter(ends)
    Tracepoint.beginTurn(self)
    beginTiming()
    return outer
  }

  /// Ends it, after so many actions. The owner.
  @inlinable
  @inline(__always)
  func leaveTurn(_ outer: TurnMark.Outer, after count: Int) {
    endTiming(count)
    Tracepoint.endTurn(self, actions: count)
    TurnMark.leave(outer)
  }

  /// Takes one action through mutate and reduce that waited beside the ring, or that a timer sends. The owner. Not inlined, so that
  /// there are fewer copies of the reactor's `mutate` and `reduce`.
  @inlinable
  @inline(never)
  func processAlone<R: Reactor<Action, Mutation, State>>(_ action: Action, of reactor: R) {
    process(action, of: reactor)
  }

  /// Ends a turn of the sender's own actions, and continues with turns if more has arrived. The owner; releases the ownership
  /// before it returns.
  ///
  /// - Parameters:
  ///   - form: The form of the state, as a constant where the caller knows it.
  ///   - ends: ``Mailbox/turnEnds``.
  ///   - turns: How many turns of this kind there were: see ``OwnedState/release(as:afterTurns:)``.
  @inlinable
  @inline(__always)
  func releaseOrContinue<R: Reactor<Action, Mutation, State>>(
    of reactor: R, as form: StateForm, after ends: TurnEnds, turns: @autoclosure () -> Int,
    within budget: TurnBudget = .usual
  ) {
    if _fastPath(ends.isQuiet) {
      if R.isDurable { state.release() } else { state.release(as: form, afterTurns: turns()) }
      // Both ends of the ring are in this core's cache, so this check is all that an undisturbed send pays for.
      if _fastPath(mailbox.isInboundEmptyAfterRelease) || !tryReacquire() { return }
    }
    endTurnAndRelease(of: reactor, within: budget)
  }

  /// Ends a turn that has left something to do, at its end or in turns of the reactor's own; and runs turns for what has
  /// arrived. The owner; releases the ownership before it returns.
  @inlinable
  @inline(never)
  func endTurnAndRelease<R: Reactor<Action, Mutation, State>>(of reactor: R, within budget: TurnBudget) {
    if mailbox.turnEnds.isQuiet { return runTurnsAndRelease(of: reactor, within: budget) }
    if mailbox.turnEnds.isObserved {
      let outer = TurnMark.enter(mailbox.turnEnds)
      state.publish()
      leaveScopes { notifyTurnObserver() }
      TurnMark.leave(outer)
    }
    if R.isDurable, holdTurnEndsOrGiveUpOwnership() { return }
    if !mailbox.holdsOwn {
      releaseAndRunTurnEnds()
      if mailbox.isInboundEmptyAfterRelease || !tryReacquire() { return }
    }
    runTurnsAndRelease(of: reactor, within: budget)
  }

  /// Runs turns for an action that found something in the mailbox: it comes after that. The owner; releases the
  /// ownership before it returns.
  @inlinable
  @inline(never)
  func runTurnsAndRelease<R: Reactor<Action, Mutation, State>>(appending action: Action, of reactor: R) {
    let isAppended = !mailbox.ring.isClosed && mailbox.tryAppendOwn(.action(action))
    runTurnsAndRelease(of: reactor)
    // The reactor is closed; or the owner's own actions are at their limit, because so many wait behind a claim that is
    // not published yet.
    if !isAppended { sendOrReport(action, to: reactor) }
  }

  // MARK: A busy reactor, or one on a loop

  /// Puts the action into the ring if there is room, and makes sure that some thread processes it. Inlined, so that it
  /// specialises with its surroundings: this is all that a send to a loop pays for.
  @inlinable
  @inline(__always)
  func tryEnqueue<R: Reactor<Action, Mutation, State>>(_ action: Action, to reactor: R) -> Bool {
    guard mailbox.ring.senderRing.trySend(Work.action(action)) else { return false }
    ensureProcessing(by: reactor, within: .usual)
    return true
  }

  /// Makes sure that some thread processes what the calling thread has just put into the ring: runs turns here, or
  /// schedules the reactor on its loop, unless it has an owner. Any thread.
  ///
  /// The fence is one half of a pair: either this thread finds no owner, or the owner finds the claim when it has released.
  @inlinable
  @inline(__always)
  func ensureProcessing<R: Reactor<Action, Mutation, State>>(by reactor: R, within budget: TurnBudget) {
    CurrentCore.lightFence()
    if !state.isBusy { acquireAndRunOrSchedule(reactor, within: budget) }
  }

  /// Runs turns here or on a new thread, or schedules the reactor on its loop, unless another thread is about to process what was
  /// sent.
  @inlinable
  @inline(never)
  func acquireAndRunOrSchedule<R: Reactor<Action, Mutation, State>>(_ reactor: R) {
    acquireAndRunOrSchedule(reactor, within: .usual)
  }

  /// The same, and spends no more than a budget on the turns.
  @inlinable
  @inline(never)
  func acquireAndRunOrSchedule<R: Reactor<Action, Mutation, State>>(_ reactor: R, within budget: TurnBudget) {
    let hasStartedHere = !state.hasStarted && tryStartAndAcquire(reactor)
    guard loop != nil else {
      if !ThreadStack.isLow, hasStartedHere || state.tryAcquireOrRely() {
        runTurnsAndRelease(of: reactor, within: budget)
      } else if ThreadStack.isLow || state.isReaderOfAnother {
        if hasStartedHere { state.release() }
        if state.isBusy || tryRunTurnsOnNewThread(reactor) { return }
        if ThreadStack.isLow {
          fatalError("turns are nested too deeply, and the system gives no thread to continue them")
        }
        // If this makes a circle of waits, it is found before the thread sleeps.
        if state.tryAcquireAgain() { runTurnsAndRelease(of: reactor, within: budget) }
      }
      return
    }
    if hasStartedHere { state.release() }
    if state.trySchedule(), withLoop({ $0.submit(makeLoopReactor(reactor)) }) == false { discardMailbox() }
  }
}
