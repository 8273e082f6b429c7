import ReactorCore

/// What a sender does. Any thread.
extension Runtime {
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

  /// A turn of one action on the sender's thread. The owner, who is not afterwards.
  @inlinable
  @inline(__always)
  func runTurn<R: Reactor<Action, Mutation, State>>(with action: Action, of reactor: R) {
    TurnMark.enter()
    Tracepoint.beginTurn(self)
    process(action, of: reactor)
    Tracepoint.endTurn(self, actions: 1)
    TurnMark.leave()
    turnCounters.countImmediate()
    finish(of: reactor)
  }

  /// Puts the action into the ring, if there is room, and sees to it that somebody processes it. Inline, so
  /// that it specialises with what is around it: this is all that a send to a loop pays for.
  @inlinable
  @inline(__always)
  func tryEnqueue<R: Reactor<Action, Mutation, State>>(_ action: Action, to reactor: R) -> Bool {
    guard mailbox.ring.entrance.trySend(Work.action(action)) else { return false }
    CurrentCore.lightFence()
    if !state.wasBusy { runOrSchedule(reactor) }
    return true
  }

  /// Out of line, so that what is inlined at each send is only the way of an idle reactor.
  @inlinable
  @inline(never)
  func sendOrReport<R: Reactor<Action, Mutation, State>>(_ action: Action, to reactor: R) {
    if loop == nil, !state.hasStarted, !DedicatedThread.stackIsLow, start(reactor) {
      // The first of all needs no mailbox either.
      if mailbox.isIdle { runTurn(with: action, of: reactor) } else { runTurns(after: action, of: reactor) }
    } else if !state.isOwner, mailbox.ring.offer(.action(action)) == .accepted {
      // The ring was not made yet, or was small.
      CurrentCore.lightFence()
      if !state.wasBusy { runOrSchedule(reactor) }
    } else if let reason = deliver(.action(action), to: reactor, .asThePolicySays) {
      refuse(action, reason)
    }
  }

  @inlinable
  func trySend<R: Reactor<Action, Mutation, State>>(_ action: Action, to reactor: R, _ patience: Patience)
    throws(SendError)
  {
    // Found out otherwise only after the action was accepted.
    if let loop, loop.isClosed, !loop.runsTurnsHere { throw .closed }
    if loop == nil, !DedicatedThread.stackIsLow, state.tryAcquire() {
      if mailbox.isIdle { return runTurn(with: action, of: reactor) }
      runTurns(of: reactor)
    }
    if let reason = deliver(.action(action), to: reactor, patience) { throw reason }
  }

  /// Ends a turn of one action on the sender's thread. The owner, who is not afterwards.
  @inlinable
  @inline(__always)
  func finish<R: Reactor<Action, Mutation, State>>(of reactor: R) {
    if mailbox.reentrant.isEmpty {
      state.release()
      // Both ends of the ring are at hand, so this look is all that an undisturbed send pays for.
      if mailbox.isEmpty || !tryReacquire() { return }
    }
    runTurns(of: reactor)
  }

  /// Others were first: the action comes after theirs. The owner, who is not afterwards.
  @inlinable
  @inline(never)
  func runTurns<R: Reactor<Action, Mutation, State>>(after action: Action, of reactor: R) {
    let isTaken = !mailbox.ring.isClosed && mailbox.tryAppendReentrant(.action(action))
    runTurns(of: reactor)
    // Closed; or at the limit of the owner's queue: that much was waiting for a claim that is not yet published.
    if !isTaken { sendOrReport(action, to: reactor) }
  }

  /// Brings something on its way, or says why not.
  @inlinable
  @inline(__always)
  func deliver<R: Reactor<Action, Mutation, State>>(_ work: Work<Action>, to reactor: R, _ patience: Patience)
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
        switch resolveOverflow(for: work, patience) {
        case .found:
          if !state.wasBusy { runOrSchedule(reactor) }
          return nil
        case .none(let reason):
          return reason
        case .inTheRing:
          break
        case .wait:
          runOrSchedule(reactor)
          if let reason = waitForRoom(after: &attempts, patience) { return reason }
        }
      }
    }
  }

  /// Whether the calling thread is the one that runs this reactor's turns, so that it must not wait.
  @inlinable
  var isRunHere: Bool { loop.map { $0.runsTurnsHere } ?? state.isOwner }

  /// What is sent from inside a turn: of this reactor, or of another on the same loop.
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

  /// Sees to it that somebody processes what was sent, if nobody is about to.
  @inlinable
  @inline(never)
  func runOrSchedule<R: Reactor<Action, Mutation, State>>(_ reactor: R) {
    let hasStartedHere = !state.hasStarted && start(reactor)
    guard let loop else {
      if DedicatedThread.stackIsLow {
        if hasStartedHere { state.release() }
        runElsewhere(reactor)
      } else if hasStartedHere || state.tryAcquire() {
        runTurns(of: reactor)
      }
      return
    }
    if hasStartedHere { state.release() }
    if state.trySchedule(), !loop.submit(scheduled(reactor)) { discardMailbox() }
  }

  /// Turns of reactors that send to each other are nested on the stack of one thread. Before that is used up,
  /// another thread goes on, where the order is the same: that of the mailbox. A thread made for it, since
  /// those of a pool may all be waiting for this.
  @inlinable
  @inline(never)
  func runElsewhere<R: Reactor<Action, Mutation, State>>(_ reactor: R) {
    _ = DedicatedThread(named: "reactor-turns") { reactor.runtime.runOrSchedule(reactor) }
  }

  /// Once, before the first action; true makes the caller the owner. The closure is made here, where the type
  /// of the reactor is known and the code specialises for it; a witness in a generic reactor's conformance
  /// would not.
  @inlinable
  @inline(never)
  func start<R: Reactor<Action, Mutation, State>>(_ reactor: R) -> Bool {
    assert(
      reactor.runtime === self,
      """
      Problem: \(R.self).runtime is another object each time.
      Likely cause: it is a computed property.
      Remedy: store it: let runtime = Runtime<Action, Mutation, State>(on: …)
      """)
    let isFirst = state.tryInitialize {
      // All of it before the state is shown: from then on other threads read it.
      binding.value.type = type(of: reactor)
      if loop != nil { binding.value.serve = makeServe(reactor) }
      #if DEBUG
        binding.value.reactor = ObjectIdentifier(reactor)
        beginChecks(of: reactor)
      #endif
      TurnMark.enter()
      defer { TurnMark.leave() }
      return prepare(reactor)
    }
    guard isFirst else { return false }
    Tracepoint.start(self, type: String(reflecting: R.self))
    return true
  }
}

/// Sending by who does not hold the reactor otherwise: what ``Reactor/action`` does.
extension WeakOwner {
  /// As ``Reactor/send(_:)``; but nothing happens if the reactor is gone, and one that goes away inside its
  /// own `mutate` reduces nothing of what that answers.
  @inlinable
  @inline(never)
  func send(_ action: Owner.Action)
  where Owner: Reactor, Part == Runtime<Owner.Action, Owner.Mutation, Owner.State> {
    guard var reactor = owner else { return }
    let runtime = part(of: reactor)
    if runtime.slowPathReasons.contains(.observedAction) {
      // As on each detour. Without observers of `action` it ends nothing.
      ThreadScope.outside { runtime.send(action, toHeld: &reactor) }
    } else {
      runtime.send(action, toHeld: &reactor)
    }
  }
}

extension Runtime {
  /// - Parameter reactor: The caller's own reference, and maybe the last one.
  @inlinable
  func send<R: Reactor<Action, Mutation, State>>(_ action: Action, toHeld reactor: inout R) {
    guard let answer = mutateNow(action, of: reactor) else { return }
    if isKnownUniquelyReferenced(&reactor) {
      // What others sent meanwhile is reported when the runtime goes away with it.
      Tracepoint.endTurn(self, actions: 1)
      state.release()
    } else {
      finish(answer, to: action, of: reactor)
    }
  }

  /// Calls `mutate` if that is the next thing to do, and answers what that answers: then the calling thread
  /// is the owner. Otherwise sends the action in the usual way, and answers nil.
  @inlinable
  func mutateNow<R: Reactor<Action, Mutation, State>>(_ action: Action, of reactor: R) -> Observable<
    Mutation
  >? {
    guard canMutateNow else {
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
    if pipelineReference.use({ announce(action, $0) }) == false {
      Tracepoint.endTurn(self, actions: 1)
      finish(of: reactor)
      return nil
    }
    #if DEBUG
      checkThreadOfAction()
    #endif
    return reactor.mutate(action: action)
  }

  /// The rest of an action's way. The owner, who is not afterwards.
  @inlinable
  func finish<R: Reactor<Action, Mutation, State>>(
    _ answer: Observable<Mutation>, to action: Action, of reactor: R
  ) {
    #if DEBUG
      let turn = beginTurn()
      defer { endTurn(turn) }
    #endif
    TurnMark.enter()
    pipelineReference.use { apply(answer, to: action, of: reactor, $0) }
    TurnMark.leave()
    Tracepoint.endTurn(self, actions: 1)
    turnCounters.countImmediate()
    finish(of: reactor)
  }

  /// Makes the calling thread the owner if the next thing to do is to call `mutate`; otherwise it is not the
  /// owner, or was before.
  @inlinable
  var canMutateNow: Bool {
    if loop != nil || state.isOwner || !slowPathReasons.isDisjoint(with: .beforeMutate) { return false }
    if DedicatedThread.stackIsLow || !state.tryAcquire() { return false }
    if mailbox.isIdle, slowPathReasons.isDisjoint(with: .beforeMutate) { return true }
    state.release()
    return false
  }
}
