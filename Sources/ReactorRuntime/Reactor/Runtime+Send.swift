import ReactorCore

/// Sending an action. Any thread.
extension Runtime {
  /// Processes the action here if the reactor is idle; otherwise puts it into the mailbox.
  @inlinable
  @inline(__always)
  func send<R: Reactor<Action, Mutation, State>>(_ action: Action, to reactor: R) {
    if loop == nil, !DedicatedThread.stackIsLow {
      if state.tryAcquire() {
        if mailbox.isIdle {
          runTurn(with: action, of: reactor)
        } else {
          runTurns(after: action, of: reactor)
        }
        return
      }
    }
    if !state.isOwner, tryEnqueue(action, to: reactor) { return }
    sendOrReport(action, to: reactor)
  }

  // MARK: An idle reactor

  /// Runs a turn of one action on the sender's thread. The owner; releases the ownership before it returns.
  @inlinable
  @inline(__always)
  func runTurn<R: Reactor<Action, Mutation, State>>(with action: Action, of reactor: R) {
    TurnMark.enter()
    Tracepoint.beginTurn(self)
    process(action, of: reactor)
    Tracepoint.endTurn(self, actions: 1)
    TurnMark.leave()
    turnCounters.countImmediate()
    releaseOrRunTurns(of: reactor)
  }

  /// Ends a turn of one action on the sender's thread, and continues with turns if more has arrived. The owner; releases
  /// the ownership before it returns.
  @inlinable
  @inline(__always)
  func releaseOrRunTurns<R: Reactor<Action, Mutation, State>>(of reactor: R) {
    if mailbox.reentrant.isEmpty {
      state.release()
      // Both ends of the ring are in this core's cache, so this check is all that an undisturbed send pays for.
      if mailbox.isEmpty || !tryReacquire() { return }
    }
    runTurns(of: reactor)
  }

  /// Runs turns for an action that found something in the mailbox: it comes after that. The owner; releases the
  /// ownership before it returns.
  @inlinable
  @inline(never)
  func runTurns<R: Reactor<Action, Mutation, State>>(after action: Action, of reactor: R) {
    let isAppended = !mailbox.ring.isClosed && mailbox.tryAppendReentrant(.action(action))
    runTurns(of: reactor)
    // The reactor is closed; or the reentrant queue is at its limit, because so much waits behind a claim that is not
    // published yet.
    if !isAppended { sendOrReport(action, to: reactor) }
  }

  // MARK: A busy reactor, or one on a loop

  /// Puts the action into the ring if there is room, and makes sure that some thread processes it. Inlined, so that it
  /// specialises with its surroundings: this is all that a send to a loop pays for.
  @inlinable
  @inline(__always)
  func tryEnqueue<R: Reactor<Action, Mutation, State>>(_ action: Action, to reactor: R) -> Bool {
    guard mailbox.ring.senderRing.trySend(Work.action(action)) else { return false }
    CurrentCore.lightFence()
    if !state.wasBusy { runOrSchedule(reactor) }
    return true
  }

  /// Runs turns here, or schedules the reactor on its loop, unless another thread is about to process what was sent.
  @inlinable
  @inline(never)
  func runOrSchedule<R: Reactor<Action, Mutation, State>>(_ reactor: R) {
    let hasStartedHere = !state.hasStarted && tryStart(reactor)
    guard let loop else {
      if DedicatedThread.stackIsLow {
        if hasStartedHere { state.release() }
        runOnNewThread(reactor)
      } else if hasStartedHere || state.tryAcquire() {
        runTurns(of: reactor)
      }
      return
    }
    if hasStartedHere { state.release() }
    if state.trySchedule(), !loop.submit(makeScheduled(reactor)) { discardMailbox() }
  }

  /// Runs turns on a thread made for them. Turns of reactors that send to each other are nested on the stack of one
  /// thread; this is called before that stack is used up. The order stays that of the mailbox. A pool would not do:
  /// all of its threads may be waiting for these turns.
  @inlinable
  @inline(never)
  func runOnNewThread<R: Reactor<Action, Mutation, State>>(_ reactor: R) {
    _ = DedicatedThread(named: "reactor-turns") { reactor.runtime.runOrSchedule(reactor) }
  }

  // MARK: The first action, a re-entrant one, or no room

  /// Sends an action that the code inlined at the send cannot handle, and reports it if it is refused. Out of line, so
  /// that only the path of an idle reactor is inlined at each send.
  @inlinable
  @inline(never)
  func sendOrReport<R: Reactor<Action, Mutation, State>>(_ action: Action, to reactor: R) {
    if loop == nil, !state.hasStarted, !DedicatedThread.stackIsLow, tryStart(reactor) {
      // The first action of all needs no mailbox either.
      if mailbox.isIdle { runTurn(with: action, of: reactor) } else { runTurns(after: action, of: reactor) }
    } else if !state.isOwner, mailbox.ring.offer(.action(action)) == .accepted {
      // The ring was not made yet, or had to grow.
      CurrentCore.lightFence()
      if !state.wasBusy { runOrSchedule(reactor) }
    } else if let reason = enqueue(.action(action), to: reactor, .byPolicy) {
      reportRefused(action, reason)
    }
  }

  /// Sends an action, and throws if it is refused. Any thread.
  @inlinable
  func trySend<R: Reactor<Action, Mutation, State>>(_ action: Action, to reactor: R, _ wait: SendWait)
    throws(SendError)
  {
    // Without this check, the thread would learn it only after the mailbox has accepted the action.
    if let loop, loop.isClosed, !loop.runsTurnsHere { throw .closed }
    if loop == nil, !DedicatedThread.stackIsLow, state.tryAcquire() {
      if mailbox.isIdle { return runTurn(with: action, of: reactor) }
      runTurns(of: reactor)
    }
    if let reason = enqueue(.action(action), to: reactor, wait) { throw reason }
  }

  /// Puts something into the mailbox, waits for room if it must, and makes sure that some thread processes it. Any
  /// thread.
  ///
  /// - Returns: Why it was refused; nil if it was accepted.
  @inlinable
  @inline(__always)
  func enqueue<R: Reactor<Action, Mutation, State>>(_ work: Work<Action>, to reactor: R, _ wait: SendWait)
    -> SendError?
  {
    if isRunHere { return enqueueReentrant(work, to: reactor) }
    var attempts = 0
    while true {
      switch mailbox.ring.offer(work) {
      case .accepted:
        CurrentCore.lightFence()
        if !state.wasBusy { runOrSchedule(reactor) }
        return nil
      case .closed:
        return .closed
      case .outOfMemory:
        return .outOfMemory
      case .full:
        if attempts == 0 { Tracepoint.full(self) }
        switch resolveOverflow(for: work, wait) {
        case .kept:
          if !state.wasBusy { runOrSchedule(reactor) }
          return nil
        case .refused(let reason):
          return reason
        case .ringHasRoom:
          break
        case .wait:
          runOrSchedule(reactor)
          if let reason = waitForRoom(after: &attempts, wait) { return reason }
        }
      }
    }
  }

  /// Whether the calling thread runs this reactor's turns, and so must not wait for room.
  @inlinable
  var isRunHere: Bool { loop.map { $0.runsTurnsHere } ?? state.isOwner }

  /// Appends what is sent from inside a turn of this reactor, or of another on the same loop, to the reentrant queue.
  ///
  /// - Returns: Why it was refused; nil if it was accepted.
  @inlinable
  @inline(never)
  func enqueueReentrant<R: Reactor<Action, Mutation, State>>(_ work: Work<Action>, to reactor: R)
    -> SendError?
  {
    if slowPathReasons.contains(.discarding)
      || (mailbox.ring.isClosed && mailbox.ring.lifecycle.refusesOwner(inTurn: isInTurn))
    {
      return .closed
    }
    if !mailbox.tryAppendReentrant(work) { return .reentrantOverflow }
    if !state.wasBusy { runOrSchedule(reactor) }
    return nil
  }

  /// Starts the reactor, once, before its first action; makes the caller the owner if it returns true.
  ///
  /// The loop's closure is made here, where the type of the reactor is known and the code specialises for it. A witness
  /// in the conformance of a generic reactor would not specialise.
  @inlinable
  @inline(never)
  func tryStart<R: Reactor<Action, Mutation, State>>(_ reactor: R) -> Bool {
    assert(
      reactor.runtime === self,
      """
      Problem: \(R.self).runtime is another object each time.
      Likely cause: it is a computed property.
      Remedy: store it: let runtime = Runtime<Action, Mutation, State>(on: …)
      """)
    let isFirst = state.tryInitialize {
      // All of this happens before the state is published: from then on other threads read it.
      binding.value.type = type(of: reactor)
      if loop != nil { binding.value.loopHandler = makeLoopHandler(reactor) }
      #if DEBUG
        binding.value.reactor = ObjectIdentifier(reactor)
        beginChecks(of: reactor)
      #endif
      TurnMark.enter()
      defer { TurnMark.leave() }
      return makeInitialState(of: reactor)
    }
    guard isFirst else { return false }
    Tracepoint.start(self, type: String(reflecting: R.self))
    return true
  }
}

/// Sending through a weak reference to the reactor, as ``Reactor/action`` does.
extension WeakOwner {
  /// Sends an action as ``Reactor/send(_:)``, unless the reactor is gone. If the reactor goes away inside its own
  /// `mutate`, it reduces nothing of what that returns.
  @inlinable
  @inline(never)
  func send(_ action: Owner.Action)
  where Owner: Reactor, Part == Runtime<Owner.Action, Owner.Mutation, Owner.State> {
    guard var reactor = owner else { return }
    let runtime = part(of: reactor)
    if runtime.slowPathReasons.contains(.observedAction) {
      // As everywhere on the slow path. Without observers of `action`, this action supersedes nothing.
      ThreadScope.outside { runtime.send(action, through: &reactor) }
    } else {
      runtime.send(action, through: &reactor)
    }
  }
}

extension Runtime {
  /// - Parameter reactor: The caller's own reference, which may be the last one.
  @inlinable
  func send<R: Reactor<Action, Mutation, State>>(_ action: Action, through reactor: inout R) {
    guard let mutations = mutateOrSend(action, of: reactor) else { return }
    if isKnownUniquelyReferenced(&reactor) {
      // The runtime goes away with the reactor, and then reports what others have sent meanwhile.
      Tracepoint.endTurn(self, actions: 1)
      state.release()
    } else {
      finishTurn(with: mutations, for: action, of: reactor)
    }
  }

  /// Calls `mutate` if nothing must come before, and returns its result: then the calling thread is the owner.
  /// Otherwise sends the action in the usual way, and returns nil.
  @inlinable
  func mutateOrSend<R: Reactor<Action, Mutation, State>>(_ action: Action, of reactor: R) -> Observable<
    Mutation
  >? {
    guard tryAcquireToMutate() else {
      send(action, to: reactor)
      return nil
    }
    #if DEBUG
      let turn = beginTurn()
      defer { endTurn(turn) }
    #endif
    Tracepoint.beginTurn(self)
    TurnMark.enter()
    defer { TurnMark.leave() }
    if pipelineReference.use({ tryAnnounce(action, $0) }) == false {
      Tracepoint.endTurn(self, actions: 1)
      releaseOrRunTurns(of: reactor)
      return nil
    }
    #if DEBUG
      checkThreadOfAction()
    #endif
    return reactor.mutate(action: action)
  }

  /// Makes the calling thread the owner if nothing must come before `mutate`. If it returns false, the ownership is as
  /// it was before.
  @inlinable
  func tryAcquireToMutate() -> Bool {
    if loop != nil || state.isOwner || !slowPathReasons.isDisjoint(with: .beforeMutate) { return false }
    if DedicatedThread.stackIsLow || !state.tryAcquire() { return false }
    if mailbox.isIdle, slowPathReasons.isDisjoint(with: .beforeMutate) { return true }
    state.release()
    return false
  }

  /// Processes what `mutate` has returned for an action, and ends the turn. The owner; releases the ownership before it
  /// returns.
  @inlinable
  func finishTurn<R: Reactor<Action, Mutation, State>>(
    with mutations: Observable<Mutation>, for action: Action, of reactor: R
  ) {
    #if DEBUG
      let turn = beginTurn()
      defer { endTurn(turn) }
    #endif
    TurnMark.enter()
    pipelineReference.use { process(mutations, for: action, of: reactor, $0) }
    TurnMark.leave()
    Tracepoint.endTurn(self, actions: 1)
    turnCounters.countImmediate()
    releaseOrRunTurns(of: reactor)
  }
}
