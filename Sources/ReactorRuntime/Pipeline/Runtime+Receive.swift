import ReactorCore
import Synchronization

/// What streams bring: on the owner, in the middle of a turn, where it may go on at once; or from anywhere
/// else, where it becomes a step in the mailbox. Any thread, with a reference to the reactor.
extension Runtime {
  /// Whether the calling thread is in a turn of this reactor.
  @inlinable
  var isInTurn: Bool { state.isOwner && (loop.map { $0.isRunning(self) } ?? true) }

  /// Runs a step as the owner: at once, if this is the owner in a turn; else in its turn.
  @inlinable
  func perform<R: Reactor<Action, Mutation, State>>(_ step: Step, of reactor: R, waits: Bool) {
    if isInTurn { return run(step, of: reactor) }
    let weakly = WeakReactor(reactor, part: self)
    let work = Step(
      step.run,
      orLose: { reason in
        if reason == .closed, weakly.use({ $0.performAfterClose(step, of: $1) }) { return }
        step.lose(reason)
      })
    if let reason = deliver(.step(work), to: reactor, waits ? .unlimited : .none) { work.lose(reason) }
  }

  /// Runs a step as the owner, after what it is in the middle of, and what was sent before.
  ///
  /// - Parameter settle: Called once, right before it runs or is lost: it waits no longer.
  @inlinable
  func enqueue<R: Reactor<Action, Mutation, State>>(
    of reactor: R, settling settle: @escaping @Sendable () -> Void, _ run: @escaping @Sendable () -> Void,
    orLose lose: @escaping @Sendable (SendError?) -> Void
  ) {
    let step = Step(
      {
        settle()
        run()
      },
      orLose: { reason in
        settle()
        lose(reason)
      })
    if let reason = deliver(.step(step), to: reactor, .unlimited) { step.lose(reason) }
  }

  /// From a stream that mutate answered.
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
      let pipeline = pipeline(of: reactor)
      if isInTurn, canAccept(pipeline), stream.isNext(after: pipeline.announcement) {
        return accept(mutation, for: stream.action, of: reactor, pipeline)
      }
      let waiting = stream.wait()
      enqueue(
        of: reactor, settling: { stream.goOn(waiting) },
        { [unowned self, unowned reactor] in
          if waiting.isVoid(after: pipeline.announcement) { return }
          accept(mutation, for: stream.action, of: reactor, pipeline)
        },
        orLose: lossOfMutation(stream.action))
    case .error(let error):
      pipelineReference.use { $0.forget(stream) }
      report(.mutate(error), stream.action)
    case .completed:
      pipelineReference.use { $0.forget(stream) }
    }
  }

  /// Whether a mutation need not wait for what the owner is in the middle of.
  @inlinable
  func canAccept(_ pipeline: Pipeline<Action, Mutation, State>) -> Bool {
    canCommit(pipeline) && !pipeline.mutationPort.isDelivering && !slowPathReasons.contains(.discarding)
  }

  /// As ``canAccept(_:)``, of one that came through transform(mutation). An observer of `state` may be inside
  /// its first one, too.
  @inlinable
  func canCommit(_ pipeline: Pipeline<Action, Mutation, State>) -> Bool {
    !state.isChanging && !pipeline.progress.value.isCommitting && !pipeline.states.isDelivering
  }

  /// From what transform(action) answered.
  @inlinable
  @inline(never)
  func receive<R: Reactor<Action, Mutation, State>>(transformedAction event: Event<Action>, of reactor: R) {
    #if DEBUG
      checkThreadOfSource()
    #endif
    let pipeline = pipeline(of: reactor)
    guard case .next(let action) = event else { return breakDown(.action, event.error, of: reactor) }
    if isInTurn, pipeline.progress.value.acceptsActions,
      pipeline.waiting.actions.load(ordering: .relaxed) == 0
    {
      pipeline.progress.value.acceptsActions = false
      mutate(action, of: reactor, pipeline)
      pipeline.progress.value.acceptsActions = true
      return
    }
    pipeline.waiting.actions.add(1, ordering: .relaxed)
    enqueue(
      of: reactor, settling: { pipeline.waiting.actions.subtract(1, ordering: .relaxed) },
      { [unowned self, unowned reactor] in mutate(action, of: reactor, pipeline) },
      orLose: lossOfAction(action))
  }

  /// From what transform(mutation) answered.
  @inlinable
  @inline(never)
  func receive<R: Reactor<Action, Mutation, State>>(transformedMutation event: Event<Mutation>, of reactor: R)
  {
    #if DEBUG
      checkThreadOfSource()
    #endif
    let pipeline = pipeline(of: reactor)
    guard case .next(let mutation) = event else { return breakDown(.mutation, event.error, of: reactor) }
    if isInTurn, canCommit(pipeline), pipeline.waiting.mutations.load(ordering: .relaxed) == 0 {
      return commit(mutation, of: reactor, pipeline)
    }
    pipeline.waiting.mutations.add(1, ordering: .relaxed)
    enqueue(
      of: reactor, settling: { pipeline.waiting.mutations.subtract(1, ordering: .relaxed) },
      { [unowned self, unowned reactor] in commit(mutation, of: reactor, pipeline) },
      orLose: lossOfMutation(nil))
  }

  /// From what transform(state) answered.
  @inlinable
  @inline(never)
  func receive<R: Reactor<Action, Mutation, State>>(transformedState event: Event<State>, of reactor: R) {
    #if DEBUG
      checkThreadOfSource()
    #endif
    let pipeline = pipeline(of: reactor)
    guard case .next(let state) = event else { return breakDown(.state, event.error, of: reactor) }
    if isInTurn, !self.state.isChanging, !pipeline.states.isDelivering,
      pipeline.waiting.states.load(ordering: .relaxed) == 0
    {
      return commit(state, pipeline)
    }
    pipeline.waiting.states.add(1, ordering: .relaxed)
    enqueue(
      of: reactor, settling: { pipeline.waiting.states.subtract(1, ordering: .relaxed) },
      { [unowned self] in commit(state, pipeline) }, orLose: lossOfState())
  }
}
