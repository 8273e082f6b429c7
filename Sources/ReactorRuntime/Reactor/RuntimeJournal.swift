import ReactorCore

/// What a journal does for the runtime of a reactor whose ``Reactor/isDurable`` is true. The module ReactorJournal
/// implements it.
@usableFromInline
package protocol RuntimeJournal: AnyObject, Sendable {
  /// Returns the state that the journal contains, of the reactor's type. The owner, once, at the start.
  func start(_ reactor: any AnyObject & Sendable) -> any Sendable

  /// Whether the journal has ended, or is being closed, so that the reactor must discard what is sent to it. The owner, right after the start.
  var hasEnded: Bool { get }

  /// Whether what ``start(_:)`` has returned is the reactor's state. Otherwise the journal has ended before it was read. The owner,
  /// right after the start.
  var hasState: Bool { get }

  /// The runtime whose states other threads see instead, a `Runtime<Mutation, Mutation, State>`; nil if they see the owner's.
  /// Any thread, after the start.
  var shownRuntime: AnyObject? { get }

  /// Completes the observers of the states that others see instead, since a transform has ended. Everything that the reactor has
  /// recorded is shown. Any thread.
  func completeStates()

  /// Whether the turn has recorded so much that it must end. The owner, in a turn.
  var mustEndTurn: Bool { get }

  /// Hands over what the turn has recorded, and takes out of `ends` what must wait until that is durable. The owner, at the end
  /// of a turn.
  func endTurn(_ ends: TurnEnds)

  /// Whether the reactor must wait until the journal has room. The owner, between two turns.
  var isFull: Bool { get }

  /// Calls ``Runtime/resumeTurns(of:)`` as soon as there is room, which may be at once. The thread that was the owner and
  /// has left the reactor scheduled.
  func resumeWhenThereIsRoom()

  /// Withdraws ``resumeWhenThereIsRoom()``: a loop that was shut down does not wait for room. Any thread.
  ///
  /// - Returns: False if ``Runtime/resumeTurns(of:)`` was called, or is about to be.
  func tryTakeBack() -> Bool
}

/// What the runtime of a durable reactor does besides. None of it is compiled for a reactor that is not durable.
extension Runtime {
  /// Connects the runtime to a journal. Right after it was made.
  package func connect(to journal: any RuntimeJournal) {
    ensureExtras().journal = journal
    mailbox.turnEnds.markObserved()
  }

  /// The journal that the runtime was connected to. Any thread.
  @usableFromInline
  package var journal: (any RuntimeJournal)? { extrasReference.use { $0.journal } ?? nil }

  /// The state with which a durable reactor begins. The owner.
  @usableFromInline
  @inline(never)
  func recoverState(of reactor: any AnyObject & Sendable) -> State {
    guard let journal else {
      fatalError(
        """
        Problem: \(type(of: reactor)) is durable, and its runtime has no journal.
        Likely cause: the runtime was made without the argument `journal`.
        Remedy: let runtime = Runtime<…>(journal: journal.entry("…"))
        """)
    }
    guard let state = journal.start(reactor) as? State else {
      preconditionFailure("the journal has recovered another type of state")
    }
    return state
  }

  /// Closes the reactor if its journal has ended, before its first turn: that finds the reactor closed. The owner, right after the
  /// start, outside of turns.
  @inlinable
  @inline(never)
  func closeIfJournalHasEnded<R: Reactor<Action, Mutation, State>>(_ reactor: R) {
    guard let journal, journal.hasEnded else { return }
    if !journal.hasState { removeHooks() }
    _ = beginClosing(.discard, of: reactor)
  }

  /// Tells the reactor of no turn and of no end: what it would be given is not its state. The owner.
  @usableFromInline
  func removeHooks() { extrasReference.use { ($0.turnHook, $0.endHook) = (nil, nil) } }

  /// After how many elements a turn of a durable reactor checks how much it has recorded.
  @usableFromInline static var journalShare: Int { 8 }

  /// Whether the turn has recorded so much that it must end: what it has recorded is one row of the journal. The owner, in a
  /// turn.
  @usableFromInline
  @inline(never)
  func hasRecordedEnough() -> Bool { journal?.mustEndTurn == true }

  /// Keeps for the journal what is left to do at the end of the turn. The owner, after a turn.
  @usableFromInline
  @inline(never)
  func holdTurnEnds() {
    if mailbox.turnEnds.isRequested { journal?.endTurn(mailbox.turnEnds) }
  }

  /// Does the same; and if the journal is full, leaves the reactor scheduled until there is room. The owner, after a turn.
  ///
  /// - Parameter reactor: On a loop, the reactor.
  /// - Returns: Whether the calling thread is no longer the owner.
  @usableFromInline
  @inline(never)
  func holdTurnEndsOrGiveUpOwnership(onLoop reactor: (any AnyObject & Sendable)? = nil) -> Bool {
    holdTurnEnds()
    // A loop that was shut down runs what it has accepted.
    guard let journal, journal.isFull, loop?.isClosed != true else { return false }
    if mailbox.turnEnds.isRequested { runTurnEndsAsOwner() }
    state.reschedule()
    if let loop, let reactor { loop.inbox.noteSuspended(makeLoopReactor(reactor)) }
    journal.resumeWhenThereIsRoom()
    return true
  }

  /// Withdraws that the reactor waits for room. The loop, which then is the owner again; false if the reactor is about to come back.
  @usableFromInline
  @inline(never)
  func tryTakeBack() -> Bool { journal?.tryTakeBack() == true }

  /// Whether the loop must not run a turn, since the journal is full. The owner.
  @usableFromInline var isSuspendedOnLoop: Bool { journal?.isFull == true && loop?.isClosed != true }

  /// Continues the turns of a reactor that ``holdTurnEndsOrGiveUpOwnership()`` has left scheduled. Any thread; it runs none of them
  /// itself, unless the system gives no other thread.
  @inlinable
  package func resumeTurns<R: Reactor<Action, Mutation, State>>(of reactor: R) {
    // Also a loop that was shut down meanwhile: it does not end before.
    if let loop { return loop.inbox.resume(ObjectIdentifier(self)) }
    let run = { @Sendable in
      let runtime = reactor.runtime
      runtime.state.acquireScheduled()
      runtime.runTurnsAndRelease(of: reactor, within: .unlimited)
    }
    if !DedicatedThread.tryDetach(named: "reactor-turns", run) { run() }
  }

  /// The runtime whose states the calling thread sees; nil if that is this one. Starts the reactor. Any thread.
  @usableFromInline
  @inline(never)
  func runtimeToRead<R: Reactor<Action, Mutation, State>>(of reactor: R) -> Runtime<
    Mutation, Mutation, State
  >? {
    if state.isOwner, isInTurn || !state.hasStarted { return nil }
    ensureStarted(reactor)
    return journal?.shownRuntime as? Runtime<Mutation, Mutation, State>
  }

  /// Starts the reactor, or waits until another thread has started it. Any thread that is not starting it itself.
  package func ensureStarted<R: Reactor<Action, Mutation, State>>(_ reactor: R) {
    while !state.hasStarted {
      acquireAndRunOrSchedule(reactor)
      if !state.hasStarted { DedicatedThread.yield() }
    }
  }

  /// The state with the owner's changes. Starts the reactor. Any thread.
  package func readLatest<R: Reactor<Action, Mutation, State>, Result>(
    of reactor: R, _ body: (borrowing State) -> Result
  ) -> Result {
    ensureStarted(reactor)
    guard let result = state.withValue(body, thenCheck: { acquireAndRunOrSchedule(reactor) }) else {
      preconditionFailure("a reactor that has started has a state")
    }
    return result
  }
}

/// What the journal does as the owner, in steps.
extension Runtime {
  /// Runs `body` as the owner, in a turn, on this thread or another one; behind everything that was sent before. Never waits.
  /// Any thread.
  ///
  /// - Returns: Why it will not run; nil if it will, or `discard` is called.
  @inlinable
  package func enqueueStep<R: Reactor<Action, Mutation, State>>(
    of reactor: R, _ body: @escaping @Sendable () -> Void,
    orDiscard discard: @escaping @Sendable (SendError?) -> Void
  ) -> SendError? {
    enqueue(ClosureStep(body, orDiscard: discard), to: reactor, .never)
  }

  /// The same, and suspends the task while there is no room.
  @inlinable
  nonisolated(nonsending)
    package func enqueueStepSuspending<R: Reactor<Action, Mutation, State>>(
      of reactor: R, _ body: @escaping @Sendable () -> Void,
      orDiscard discard: @escaping @Sendable (SendError?) -> Void
    ) async throws(SendError)
  {
    let step = ClosureStep(body, orDiscard: discard)
    try await retryUntilRoom(in: reactor, before: nil, within: .usual) { () throws(SendError) in
      if let reason = enqueue(step, to: reactor, .never) { throw reason }
    }
  }

  /// Takes an action through mutate and reduce. The owner, in a step.
  ///
  /// - Returns: False if the reactor discards what it holds.
  @inlinable
  package func processInStep<R: Reactor<Action, Mutation, State>>(_ action: Action, of reactor: R) -> Bool {
    if extraStages.contains(.discarding) { return false }
    process(action, of: reactor)
    return true
  }

  /// Whether `state` has observers. The owner.
  package var hasStateObservers: Bool { extraStages.contains(.observedState) }

  /// Reduces a mutation, and notifies the observers of `state`. The owner, in a step.
  package func reduceInStep<R: Reactor<Action, Mutation, State>>(_ mutation: Mutation, of reactor: R) {
    pipelineReference.use { reduceAlone(mutation, of: reactor, $0) }
  }

  /// Changes the state, and notifies nobody. The owner, in a step.
  package func changeInStep(_ body: (inout State) -> Void) {
    TurnMark.beginReduce()
    state.change(body)
    TurnMark.endReduce()
    state.endAction()
  }

  /// Completes the observers of `state`, and those that come later. The owner, in a step; nothing changes the state any more.
  package func completeStatesInStep() {
    pipelineReference.use { pipeline in
      pipeline.states.completesAtEnd.store(true, ordering: .releasing)
      pipeline.states.completeIfNeeded()
    }
  }

  /// Makes the pipeline, so that ``observableStates`` is there. Before other threads know the runtime.
  package func preparePipeline<R: Reactor<Action, Mutation, State>>(of reactor: R) {
    ensureStarted(reactor)
    _ = ensurePipeline(of: reactor)
  }

  /// The stream `state` of the reactor, after ``preparePipeline(of:)``. Any thread.
  @usableFromInline
  var observableStates: Observable<State> {
    guard let states = pipelineReference.use({ $0.states.observable }) else {
      preconditionFailure("the pipeline was not prepared")
    }
    return states
  }

  /// The state that other threads see, after ``preparePipeline(of:)``. Any thread.
  package var shownState: State {
    guard let state = state.read(thenCheck: { checkMailbox() }) else {
      preconditionFailure("the reactor has not started")
    }
    return state
  }

  /// Calls `body` on a thread of its own, as the owner, between two turns, if there is no owner now; and then, when it has released the
  /// ownership, what that returns. Any thread.
  ///
  /// - Returns: Whether `body` will be called.
  package func tryRunAlone<R: Reactor<Action, Mutation, State>>(
    _ reactor: R, named name: String, _ body: @escaping @Sendable () -> (() -> Void)?
  ) -> Bool {
    guard state.trySchedule() else { return false }
    let run = { @Sendable (runs: Bool) in
      let runtime = reactor.runtime
      runtime.state.acquireScheduled()
      let rest = runs ? body() : nil
      runtime.runTurnsAndRelease(of: reactor, within: .unlimited)
      rest?()
    }
    let isStarted = DedicatedThread.tryDetach(named: name) { run(true) }
    if !isStarted { run(false) }
    return isStarted
  }
}
