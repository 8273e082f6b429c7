import ReactorCore
import Synchronization

/// The path of an action with everything that may be on it: observers, transforms, streams. The owner, in a turn.
///
/// ```
///   processThroughStages(action) ─▶ tryAnnounce ─▶ [transform(action)] ─▶ mutate ─▶ deliver(mutations)
///     for each mutation: process ─▶ [transform(mutation)] ─▶ reduceAndPublish
///       ─▶ [reduceUntransformed ─▶ transform(state) ─▶ replaceState] ─▶ [publishAndNotify]
/// ```
extension Runtime {
  @inlinable
  @inline(never)
  func processThroughStages<R: Reactor<Action, Mutation, State>>(_ action: Action, of reactor: R) {
    // Every stage is inserted after the pipeline was made. Acquire: the other side of `insert`, since the load that led
    // here was relaxed.
    _ = extraStageBits.load(ordering: .acquiring)
    pipelineReference.use { pipeline in
      // A mutation that this action causes has not passed the supersede scopes that the sending thread is inside of.
      ThreadScope.leaveAll { processThroughStages(action, of: reactor, pipeline) }
    }
    state.endAction()
  }

  @inlinable
  @inline(__always)
  func processThroughStages<R: Reactor<Action, Mutation, State>>(
    _ action: Action, of reactor: R, _ pipeline: Pipeline<Action, Mutation, State>
  ) {
    if extraStages.contains(.stubbed) { return pipeline.sendToStub(action) }
    if extraStages.contains(.unconnected) { connect(reactor) }
    if extraStages.contains(.discarding) { return reportDiscarded(.actionNotDelivered(.closed), action) }
    guard tryAnnounce(action, pipeline) else { return }
    if extraStages.contains(.transformedAction) {
      pipeline.progress.value.expectsTransformedAction = true
      EmissionQueue.open { pipeline.portsReference.use { $0.action.emit(action) } }
      pipeline.progress.value.expectsTransformedAction = false
    } else {
      mutate(action, of: reactor, pipeline)
    }
  }

  /// Notifies the observers of `action`. If one of them has ended a transform, reports the action and returns false.
  @inlinable
  func tryAnnounce(_ action: Action, _ pipeline: Pipeline<Action, Mutation, State>) -> Bool {
    guard extraStages.contains(.observedAction) else { return true }
    pipeline.announce(action)
    guard extraStages.contains(.discarding) else { return true }
    reportDiscarded(.actionNotDelivered(.closed), action)
    return false
  }

  /// Calls `mutate` with an action that came through transform(action), and processes the result. Not inlined: it is called
  /// where such an action arrives and where it was waiting.
  @inlinable
  @inline(never)
  func mutateTransformed<R: Reactor<Action, Mutation, State>>(
    _ action: Action, of reactor: R, _ pipeline: Pipeline<Action, Mutation, State>
  ) {
    mutate(action, of: reactor, pipeline)
  }

  /// Calls `mutate` and processes the result.
  @inlinable
  @inline(__always)
  func mutate<R: Reactor<Action, Mutation, State>>(
    _ action: Action, of reactor: R, _ pipeline: Pipeline<Action, Mutation, State>
  ) {
    if extraStages.contains(.discarding) { return reportDiscarded(.actionNotDelivered(.closed), action) }
    #if DEBUG
      checkThreadOfAction()
    #endif
    if passOn(action, of: R.self, { deliver(.just($0), for: action, of: reactor, pipeline) }) { return }
    deliver(reactor.mutate(action: action), for: action, of: reactor, pipeline)
  }

  /// Processes what `mutate` has returned for an action: known mutations one by one; to any other stream it subscribes.
  /// Inlined where `mutate` is called, so that a stream of known mutations is never made.
  @inlinable
  @inline(__always)
  func deliver<R: Reactor<Action, Mutation, State>>(
    _ mutations: Observable<Mutation>, for action: Action, of reactor: R,
    _ pipeline: Pipeline<Action, Mutation, State>
  ) {
    // A queue of its own: what the mutations cause in the transforms and observers takes turns with them, and ends before
    // the next action begins.
    EmissionQueue.open {
      let isImmediate = mutations.isImmediate
      mutations.deliver(
        to: { mutation in process(mutation, takesTurns: !isImmediate, for: action, of: reactor, pipeline) },
        orStream: { mutations in subscribe(to: mutations, for: action, pipeline) })
      state.endAction()
    }
  }

  /// The same for an action that met no stage before `mutate`, which has inserted some. The owner.
  @inlinable
  @inline(never)
  func deliverThroughStages<R: Reactor<Action, Mutation, State>>(
    _ mutations: Observable<Mutation>, for action: Action, of reactor: R
  ) {
    // As for an action that meets stages from the beginning.
    _ = extraStageBits.load(ordering: .acquiring)
    pipelineReference.use { pipeline in
      ThreadScope.leaveAll { deliver(mutations, for: action, of: reactor, pipeline) }
    }
    state.endAction()
  }

  /// Sends a mutation of `mutate` through transform(mutation), if there is one, or reduces it. Not inlined: a delivery calls
  /// it in a dozen places.
  ///
  /// - Parameter takesTurns: Whether another mutation is known, which comes after what waits in the ``EmissionQueue``.
  @inlinable
  @inline(never)
  func process<R: Reactor<Action, Mutation, State>>(
    _ mutation: Mutation, takesTurns: Bool, for action: Action, of reactor: R,
    _ pipeline: Pipeline<Action, Mutation, State>
  ) {
    if extraStages.contains(.discarding), hasEndedTransform(pipeline) {
      // Perhaps the mutation before it has done so.
      reportDiscarded(.mutationNotDelivered(.closed), action)
    } else if extraStages.contains(.transformedMutation) {
      pipeline.portsReference.use { $0.mutation.emit(mutation) }
    } else {
      reduceAndPublish(mutation, of: reactor, pipeline)
    }
    if !takesTurns || !EmissionQueue.hasWaiting { return }
    // Code of the user's continues.
    state.endAction()
    EmissionQueue.emitWaiting()
  }

  /// Whether the reactor discards because one of its transforms has ended, so that a mutation would be lost there. Otherwise the action
  /// that is running when the reactor discards is completed, as where no stages are.
  @inlinable
  @inline(never)
  func hasEndedTransform(_ pipeline: Pipeline<Action, Mutation, State>) -> Bool {
    // Acquire: the other side of `insert`, before which the thread that ended the transform has noted that.
    _ = extraStageBits.load(ordering: .acquiring)
    return pipeline.states.completesAtEnd.load(ordering: .relaxed)
  }

  /// ``reduceAndPublish(_:of:_:)`` of a mutation behind which code of the user's continues: the operators of a stream.
  @inlinable
  @inline(never)
  func reduceAlone<R: Reactor<Action, Mutation, State>>(
    _ mutation: Mutation, of reactor: R, _ pipeline: Pipeline<Action, Mutation, State>
  ) {
    reduceAndPublish(mutation, of: reactor, pipeline)
    state.endAction()
  }

  /// Reduces a mutation that came through transform(mutation), and publishes the state if it has observers.
  @inlinable
  @inline(__always)
  func reduceAndPublish<R: Reactor<Action, Mutation, State>>(
    _ mutation: Mutation, of reactor: R, _ pipeline: Pipeline<Action, Mutation, State>
  ) {
    if extraStages.contains(.transformedState) {
      return reduceUntransformed(mutation, of: reactor, pipeline)
    }
    let isObserved = extraStages.contains(.observedState)
    if isObserved { TurnMark.beginReduce() }
    reduce(mutation, of: reactor)
    if isObserved { TurnMark.endReduce() }
    if extraStages.contains(.observedState) { publishAndNotify(pipeline) }
  }

  /// Applies a mutation to the state that transform(state) was given last, and gives it the result.
  @inlinable
  @inline(never)
  func reduceUntransformed<R: Reactor<Action, Mutation, State>>(
    _ mutation: Mutation, of reactor: R, _ pipeline: Pipeline<Action, Mutation, State>
  ) {
    precondition(!pipeline.untransformed.isEmpty, "reduced before the transforms were connected")
    pipeline.progress.value.isUpdatingState = true
    #if DEBUG
      beginReduce()
    #endif
    let isObserved = extraStages.contains(.observedState)
    if isObserved { TurnMark.beginReduce() }
    if R.reducesByValue {
      let before = pipeline.untransformed.state.value[0]
      pipeline.untransformed.state.value[0] = reactor.reduce(state: before, mutation: mutation)
    } else {
      reactor.reduce(into: &pipeline.untransformed.state.value[0], mutation: mutation)
    }
    if isObserved { TurnMark.endReduce() }
    #if DEBUG
      endReduce()
    #endif
    pipeline.portsReference.use { $0.state.emit(pipeline.untransformed.state.value[0]) }
    pipeline.progress.value.isUpdatingState = false
  }

  /// Makes a state that came through transform(state) the reactor's state.
  @inlinable
  func replaceState(_ state: State, _ pipeline: Pipeline<Action, Mutation, State>) {
    self.state.forgetMutations()
    self.state.replace { _ in state }
    pipeline.hasTransformedState.store(true, ordering: .relaxed)
    if extraStages.contains(.observedState) { publishAndNotify(pipeline) }
    // A transform's operators may still have to do something.
    self.state.endAction()
  }

  /// Notifies the observers of `state`. `currentState` already returns this state on every thread.
  @inlinable
  func publishAndNotify(_ pipeline: Pipeline<Action, Mutation, State>) {
    #if DEBUG
      checkThreadOfObservers()
    #endif
    let wasUpdatingState = pipeline.progress.value.isUpdatingState
    pipeline.progress.value.isUpdatingState = true
    state.publish()
    pipeline.states.emit(state.current)
    pipeline.progress.value.isUpdatingState = wasUpdatingState
  }

  /// Subscribes to a stream of mutations that are not known at once.
  @inlinable
  @inline(never)
  func subscribe(
    to mutations: Observable<Mutation>, for action: Action, _ pipeline: Pipeline<Action, Mutation, State>
  ) {
    let stream = MutationStream(for: action)
    let receive = pipeline.inlets.mutation
    ThreadScope.enter(stream.identity) {
      // Not `join`: this may run inside of a queue of another reactor, which goes on only after this turn.
      EmissionQueue.open { stream.hold(mutations.run(AnyObserver { event in receive(event, stream) })) }
    }
    if !stream.isDisposed { pipeline.insert(stream) }
  }
}
