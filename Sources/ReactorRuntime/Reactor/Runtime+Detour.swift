import ReactorCore
import Synchronization

/// The way of an action with everything that may stand on it: observers, transforms, streams. The owner, in a
/// turn.
extension Runtime {
  @inlinable
  @inline(never)
  func processOnDetour<R: Reactor<Action, Mutation, State>>(_ action: Action, of reactor: R) {
    // Whatever makes a detour has made the pipeline before. Acquire: the other side of `insert`, which the
    // relaxed look that has led here is not.
    _ = detourBits.load(ordering: .acquiring)
    pipelineReference.use { pipeline in
      // What the sending thread brings through a cut, a mutation that this action causes has not passed.
      ThreadScope.outside { process(action, of: reactor, pipeline) }
    }
  }

  @inlinable
  func process<R: Reactor<Action, Mutation, State>>(
    _ action: Action, of reactor: R, _ pipeline: Pipeline<Action, Mutation, State>
  ) {
    if detours.contains(.stubbed) { return pipeline.takeAsStub(action) }
    if detours.contains(.unconnected) { connect(reactor) }
    if detours.contains(.broken) { return report(.actionNotDelivered(.closed), action) }
    guard announce(action, pipeline) else { return }
    if detours.contains(.transformedAction) {
      pipeline.progress.value.acceptsActions = true
      pipeline.actionPort.deliver(action)
      pipeline.progress.value.acceptsActions = false
    } else {
      mutate(action, of: reactor, pipeline)
    }
  }

  /// Tells the observers of `action`. False, and the action is reported, if that has ended a transform.
  @inlinable
  func announce(_ action: Action, _ pipeline: Pipeline<Action, Mutation, State>) -> Bool {
    guard detours.contains(.observedAction) else { return true }
    pipeline.announce(action)
    guard detours.contains(.broken) else { return true }
    report(.actionNotDelivered(.closed), action)
    return false
  }

  /// An action that came through transform(action).
  @inlinable
  func mutate<R: Reactor<Action, Mutation, State>>(
    _ action: Action, of reactor: R, _ pipeline: Pipeline<Action, Mutation, State>
  ) {
    if detours.contains(.broken) { return report(.actionNotDelivered(.closed), action) }
    #if DEBUG
      checkThreadOfAction()
    #endif
    apply(reactor.mutate(action: action), to: action, of: reactor, pipeline)
  }

  /// What mutate answered for an action.
  @inlinable
  func apply<R: Reactor<Action, Mutation, State>>(
    _ mutations: Observable<Mutation>, to action: Action, of reactor: R,
    _ pipeline: Pipeline<Action, Mutation, State>
  ) {
    mutations.deliver(
      to: { mutation in accept(mutation, for: action, of: reactor, pipeline) },
      orStream: { mutations in start(mutations, for: action, pipeline) })
  }

  /// A mutation that mutate answered.
  @inlinable
  func accept<R: Reactor<Action, Mutation, State>>(
    _ mutation: Mutation, for action: Action, of reactor: R, _ pipeline: Pipeline<Action, Mutation, State>
  ) {
    // The mutation before it may have ended a transform.
    if detours.contains(.broken) { return report(.mutationNotDelivered(.closed), action) }
    if detours.contains(.transformedMutation) {
      pipeline.mutationPort.deliver(mutation)
    } else {
      commit(mutation, of: reactor, pipeline)
    }
  }

  /// A mutation that came through transform(mutation).
  @inlinable
  func commit<R: Reactor<Action, Mutation, State>>(
    _ mutation: Mutation, of reactor: R, _ pipeline: Pipeline<Action, Mutation, State>
  ) {
    if detours.contains(.transformedState) { return commitTransformed(mutation, of: reactor, pipeline) }
    reduce(mutation, of: reactor)
    if detours.contains(.observedState) { show(pipeline) }
  }

  /// reduce goes on from the state that transform(state) has not seen.
  @inlinable
  @inline(never)
  func commitTransformed<R: Reactor<Action, Mutation, State>>(
    _ mutation: Mutation, of reactor: R, _ pipeline: Pipeline<Action, Mutation, State>
  ) {
    guard var state = pipeline.untransformed.state.value.take() else {
      preconditionFailure("reduced before the transforms were connected")
    }
    pipeline.progress.value.isCommitting = true
    #if DEBUG
      beginReduce()
    #endif
    reactor.reduce(into: &state, mutation: mutation)
    #if DEBUG
      endReduce()
    #endif
    pipeline.untransformed.state.value = state
    pipeline.statePort.deliver(state)
    pipeline.progress.value.isCommitting = false
  }

  /// A state that came through transform(state).
  @inlinable
  func commit(_ state: State, _ pipeline: Pipeline<Action, Mutation, State>) {
    self.state.replace { _ in state }
    pipeline.hasState.store(true, ordering: .relaxed)
    if detours.contains(.observedState) { show(pipeline) }
  }

  /// Tells the observers of `state`, who, and whose other threads, see it in `currentState` already.
  @inlinable
  func show(_ pipeline: Pipeline<Action, Mutation, State>) {
    #if DEBUG
      checkThreadOfObservers()
    #endif
    let wasCommitting = pipeline.progress.value.isCommitting
    pipeline.progress.value.isCommitting = true
    state.publish()
    pipeline.states.deliver(state.current)
    pipeline.progress.value.isCommitting = wasCommitting
  }

  /// Subscribes to a stream that is not known at once.
  @inlinable
  @inline(never)
  func start(
    _ mutations: Observable<Mutation>, for action: Action, _ pipeline: Pipeline<Action, Mutation, State>
  ) {
    let stream = MutationStream(for: action)
    let take = pipeline.inlets.mutation
    ThreadScope.enter(stream.identity) {
      stream.hold(mutations.run(AnyObserver { event in take(event, stream) }))
    }
    if !stream.isDisposed { pipeline.keep(stream) }
  }
}
