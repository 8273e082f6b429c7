import ReactorCore
import Synchronization

/// What takes a reactor's actions off the shortest way. An empty set, of a reactor that is nothing but
/// `mutate` and `reduce`, costs one load and one branch per action. (Computed, not stored, so that they are
/// constants in other modules.)
@usableFromInline
struct SlowPathReasons: OptionSet, Sendable {
  @usableFromInline let rawValue: UInt8

  @inlinable
  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Somebody observes `action`.
  @inlinable static var observedAction: SlowPathReasons { SlowPathReasons(rawValue: 1) }
  /// Somebody observes `state`.
  @inlinable static var observedState: SlowPathReasons { SlowPathReasons(rawValue: 2) }
  @inlinable static var transformedAction: SlowPathReasons { SlowPathReasons(rawValue: 4) }
  @inlinable static var transformedMutation: SlowPathReasons { SlowPathReasons(rawValue: 8) }
  @inlinable static var transformedState: SlowPathReasons { SlowPathReasons(rawValue: 16) }
  /// The transforms' streams are not yet subscribed to.
  @inlinable static var unconnected: SlowPathReasons { SlowPathReasons(rawValue: 32) }
  /// What is left is reported instead of processed: the mark `discards` of the ``Lifecycle``, where the shortest way
  /// sees it.
  @inlinable static var discarding: SlowPathReasons { SlowPathReasons(rawValue: 64) }
  /// The stub takes the actions.
  @inlinable static var stubbed: SlowPathReasons { SlowPathReasons(rawValue: 128) }

  /// Where an action goes elsewhere than from its observers to `mutate`.
  @inlinable static var beforeMutate: SlowPathReasons {
    [.transformedAction, .unconnected, .discarding, .stubbed]
  }
  @inlinable static var transformed: SlowPathReasons {
    [.transformedAction, .transformedMutation, .transformedState]
  }
}

/// The way of an action with everything that may stand on it: observers, transforms, streams. The owner, in a
/// turn.
extension Runtime {
  @inlinable
  @inline(never)
  func processOnSlowPath<R: Reactor<Action, Mutation, State>>(_ action: Action, of reactor: R) {
    // Whatever makes a detour has made the pipeline before. Acquire: the other side of `insert`, which the
    // relaxed look that has led here is not.
    _ = slowPathBits.load(ordering: .acquiring)
    pipelineReference.use { pipeline in
      // What the sending thread brings through a supersede scope, a mutation that this action causes has not passed.
      ThreadScope.outside { process(action, of: reactor, pipeline) }
    }
  }

  @inlinable
  func process<R: Reactor<Action, Mutation, State>>(
    _ action: Action, of reactor: R, _ pipeline: Pipeline<Action, Mutation, State>
  ) {
    if slowPathReasons.contains(.stubbed) { return pipeline.takeAsStub(action) }
    if slowPathReasons.contains(.unconnected) { connect(reactor) }
    if slowPathReasons.contains(.discarding) { return report(.actionNotDelivered(.closed), action) }
    guard announce(action, pipeline) else { return }
    if slowPathReasons.contains(.transformedAction) {
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
    guard slowPathReasons.contains(.observedAction) else { return true }
    pipeline.announce(action)
    guard slowPathReasons.contains(.discarding) else { return true }
    report(.actionNotDelivered(.closed), action)
    return false
  }

  /// An action that came through transform(action).
  @inlinable
  func mutate<R: Reactor<Action, Mutation, State>>(
    _ action: Action, of reactor: R, _ pipeline: Pipeline<Action, Mutation, State>
  ) {
    if slowPathReasons.contains(.discarding) { return report(.actionNotDelivered(.closed), action) }
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
    if slowPathReasons.contains(.discarding) { return report(.mutationNotDelivered(.closed), action) }
    if slowPathReasons.contains(.transformedMutation) {
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
    if slowPathReasons.contains(.transformedState) {
      return commitTransformed(mutation, of: reactor, pipeline)
    }
    reduce(mutation, of: reactor)
    if slowPathReasons.contains(.observedState) { show(pipeline) }
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
    if slowPathReasons.contains(.observedState) { show(pipeline) }
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
