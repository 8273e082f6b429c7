import ReactorCore
import Synchronization

/// Receiving what streams emit. On the owner, in the middle of a turn, an event continues at once if it may; from any
/// other place it becomes a step in the mailbox. Any thread, with a reference to the reactor. The pipeline is there, since the event
/// came through it.
extension Runtime {
  /// Receives an event of a stream that `mutate` returned.
  @inlinable
  @inline(never)
  func receive<R: Reactor<Action, Mutation, State>>(
    _ event: Event<Mutation>, from stream: MutationStream<Action>, of reactor: R
  ) {
    #if DEBUG
      checkThreadOfSource()
    #endif
    switch event {
    case .next(let mutation):
      if R.isDurable { CommitScope.arrive(at: self) }
      pipelineReference.use { pipeline in
        if isInTurn, mayTransformOrReduce(pipeline),
          stream.isNext(ignoringSupersededBy: pipeline.announcement)
        {
          process(mutation, takesTurns: false, for: stream.action, of: reactor, pipeline)
          // The stream's operators continue behind it.
          return state.endAction()
        }
        enqueueStep(of: reactor, pipeline, reducing: mutation, from: stream)
      }
    case .error(let error):
      pipelineReference.use { $0.remove(stream) }
      report(.mutate(error), stream.action)
    case .completed:
      pipelineReference.use { $0.remove(stream) }
    }
  }

  /// Lets a mutation of a stream wait for its turn.
  @inlinable
  @inline(never)
  func enqueueStep<R: Reactor<Action, Mutation, State>>(
    of reactor: R, _ pipeline: Pipeline<Action, Mutation, State>, reducing mutation: Mutation,
    from stream: MutationStream<Action>
  ) {
    let waiting = stream.addWaiting()
    enqueueStep(
      of: reactor, onDequeue: { stream.removeWaiting(waiting) },
      inCommitScopes(of: R.self) { [unowned self, unowned reactor] in
        if waiting.isSuperseded(by: pipeline.announcement) { return }
        if extraStages.contains(.discarding) {
          return reportDiscarded(.mutationNotDelivered(.closed), stream.action)
        }
        process(mutation, takesTurns: false, for: stream.action, of: reactor, pipeline)
        state.endAction()
      },
      orDiscard: reporterOfLostMutation(for: stream.action))
  }

  /// Receives an event of the stream that transform(action) returned.
  @inlinable
  @inline(never)
  func receive<R: Reactor<Action, Mutation, State>>(transformedAction event: Event<Action>, of reactor: R) {
    #if DEBUG
      checkThreadOfSource()
    #endif
    guard case .next(let action) = event else {
      return closeAfterTransform(.action, endedWith: event.error, of: reactor)
    }
    pipelineReference.use { pipeline in
      if isInTurn, pipeline.progress.value.expectsTransformedAction,
        pipeline.waiting.actions.load(ordering: .relaxed) == 0
      {
        pipeline.progress.value.expectsTransformedAction = false
        mutateTransformed(action, of: reactor, pipeline)
        pipeline.progress.value.expectsTransformedAction = true
      } else {
        enqueueStep(of: reactor, pipeline, continuing: action)
      }
    }
  }

  @inlinable
  @inline(never)
  func enqueueStep<R: Reactor<Action, Mutation, State>>(
    of reactor: R, _ pipeline: Pipeline<Action, Mutation, State>, continuing action: Action
  ) {
    pipeline.waiting.actions.add(1, ordering: .relaxed)
    enqueueStep(
      of: reactor, onDequeue: { pipeline.waiting.actions.subtract(1, ordering: .relaxed) },
      { [unowned self, unowned reactor] in mutateTransformed(action, of: reactor, pipeline) },
      orDiscard: reporterOfLostAction(action))
  }

  /// Receives an event of the stream that transform(mutation) returned.
  @inlinable
  @inline(never)
  func receive<R: Reactor<Action, Mutation, State>>(transformedMutation event: Event<Mutation>, of reactor: R)
  {
    #if DEBUG
      checkThreadOfSource()
    #endif
    guard case .next(let mutation) = event else {
      return closeAfterTransform(.mutation, endedWith: event.error, of: reactor)
    }
    if R.isDurable { CommitScope.arrive(at: self) }
    pipelineReference.use { pipeline in
      if isInTurn, mayReduce(pipeline), mayOvertake(pipeline.waiting.mutations) {
        reduceAlone(mutation, of: reactor, pipeline)
      } else {
        enqueueStep(of: reactor, pipeline, reducingTransformed: mutation)
      }
    }
  }

  @inlinable
  @inline(never)
  func enqueueStep<R: Reactor<Action, Mutation, State>>(
    of reactor: R, _ pipeline: Pipeline<Action, Mutation, State>, reducingTransformed mutation: Mutation
  ) {
    let reportLost = reporterOfLostMutation(for: nil)
    pipeline.waiting.mutations.add(1, ordering: .relaxed)
    enqueueStep(
      of: reactor, onDequeue: { pipeline.waiting.mutations.subtract(1, ordering: .relaxed) },
      inCommitScopes(of: R.self) { [unowned self, unowned reactor] in
        if extraStages.contains(.discarding) { return reportDiscarded(by: reportLost) }
        reduceAlone(mutation, of: reactor, pipeline)
      },
      orDiscard: reportLost)
  }

  /// Receives an event of the stream that transform(state) returned.
  @inlinable
  @inline(never)
  func receive<R: Reactor<Action, Mutation, State>>(transformedState event: Event<State>, of reactor: R) {
    #if DEBUG
      checkThreadOfSource()
    #endif
    guard case .next(let state) = event else {
      return closeAfterTransform(.state, endedWith: event.error, of: reactor)
    }
    pipelineReference.use { pipeline in
      if isInTurn, !self.state.isChanging, !pipeline.progress.value.isBetweenTurns,
        !pipeline.states.isEmitting, mayOvertake(pipeline.waiting.states)
      {
        replaceState(state, pipeline)
      } else {
        enqueueStep(of: reactor, pipeline, replacingBy: state)
      }
    }
  }

  @inlinable
  @inline(never)
  func enqueueStep<R: Reactor<Action, Mutation, State>>(
    of reactor: R, _ pipeline: Pipeline<Action, Mutation, State>, replacingBy state: State
  ) {
    let reportLost = reporterOfLostState()
    pipeline.waiting.states.add(1, ordering: .relaxed)
    enqueueStep(
      of: reactor, onDequeue: { pipeline.waiting.states.subtract(1, ordering: .relaxed) },
      { [unowned self] in
        if extraStages.contains(.discarding) { return reportDiscarded(by: reportLost) }
        replaceState(state, pipeline)
      }, orDiscard: reportLost)
  }

  /// Reports what has waited behind a transform, and is not processed because the reactor discards: as
  /// ``reportDiscarded(_:_:)``. The owner, in a turn.
  @usableFromInline
  @inline(never)
  func reportDiscarded(by reportLost: (SendError?) -> Void) {
    TurnMark.noteDiscarding()
    reportLost(.closed)
  }

  /// Lets the effects of the element that the calling thread brings share the fate of what the reactor has just recorded. The owner, in a
  /// turn.
  @usableFromInline
  package func noteRecordOfElement() { CommitScope.noteRecord(by: self, in: mailbox.turnEnds) }

  /// Returns a closure that calls `body` inside of the ``CommitScope``s that the calling thread is inside of now. For a reactor that
  /// is not durable, returns `body` itself.
  @inlinable
  @inline(__always)
  func inCommitScopes<R: Reactor<Action, Mutation, State>>(
    of _: R.Type, _ body: @escaping @Sendable () -> Void
  ) -> @Sendable () -> Void {
    R.isDurable ? CommitScope.wrap(body) : body
  }

  // MARK: At once, or in a later turn

  /// Whether the calling thread is in a turn of this reactor.
  @inlinable
  var isInTurn: Bool { state.isOwner && (loop.map { $0.isRunning(self) } ?? true) }

  /// Whether the owner is in the middle of nothing that must end before it processes a mutation of `mutate`. The owner.
  @inlinable
  func mayTransformOrReduce(_ pipeline: Pipeline<Action, Mutation, State>) -> Bool {
    mayReduce(pipeline) && pipeline.portsReference.use { $0.mutation.isEmitting } != true
      && !extraStages.contains(.discarding)
  }

  /// Whether the owner is in the middle of nothing that must end before it reduces a mutation that came through
  /// transform(mutation). Besides `reduce` and what follows it, that is the replay of a state to a new observer, and the end of a
  /// turn. The owner.
  @inlinable
  func mayReduce(_ pipeline: Pipeline<Action, Mutation, State>) -> Bool {
    let progress = pipeline.progress.value
    return !state.isChanging && !progress.isUpdatingState && !progress.isBetweenTurns
      && !pipeline.states.isEmitting
  }

  /// Whether nothing of the same transform waits; or the reactor discards what waits, but completes the running action.
  @inlinable
  func mayOvertake(_ waiting: borrowing Atomic<Int>) -> Bool {
    waiting.load(ordering: .relaxed) == 0 || extraStages.contains(.discarding)
  }

  /// Runs a step as the owner: at once in a turn of this reactor, otherwise in a later turn.
  @inlinable
  func runOrEnqueue<R: Reactor<Action, Mutation, State>>(_ step: Step, of reactor: R, waits: Bool) {
    if isInTurn { return step.run() }
    let weakly = WeakReactor(reactor, part: self)
    let work = ClosureStep(
      step.run,
      orDiscard: { reason in
        if reason == .closed, weakly.use({ $0.runAfterClose(step, of: $1) }) { return }
        step.discard(reason)
      })
    if let reason = enqueue(work, to: reactor, waits ? .unlimited : .never) { work.discard(reason) }
  }

  /// Puts a step into the mailbox. Not inlined: no step is on the path of an action that is sent.
  ///
  /// - Returns: Why it was refused; nil if it was accepted.
  @inlinable
  @inline(never)
  func enqueue<R: Reactor<Action, Mutation, State>>(_ step: Step, to reactor: R, _ wait: SendWait)
    -> SendError?
  {
    enqueue(.step(step), to: reactor, wait)
  }

  /// Queues a step that the owner runs after what it is in the middle of, and after what was sent before. Waits for room.
  ///
  /// - Parameter onDequeue: Called once, right before the step runs or is discarded: it no longer waits.
  @inlinable
  @inline(never)
  func enqueueStep<R: Reactor<Action, Mutation, State>>(
    of reactor: R, onDequeue: @escaping @Sendable () -> Void, _ run: @escaping @Sendable () -> Void,
    orDiscard discard: @escaping @Sendable (SendError?) -> Void
  ) {
    let step = ClosureStep(
      {
        onDequeue()
        run()
      },
      orDiscard: { reason in
        onDequeue()
        discard(reason)
      })
    if let reason = enqueue(step, to: reactor, .unlimited) { step.discard(reason) }
  }
}
