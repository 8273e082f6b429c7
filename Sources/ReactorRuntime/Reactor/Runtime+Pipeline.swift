import ReactorCore
import Synchronization

/// How a runtime gets its pipeline, and how it is connected.
extension RuntimeOn {
  /// Made at the first call. Any thread; wait-free once it is there.
  @inlinable
  func pipeline<R: Reactor>(of reactor: R) -> Pipeline<Action, Mutation, State>
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    pipelineReference.use { $0 } ?? pipelineReference.setIfNil(makePipeline(of: reactor))
  }

  /// The closures are made here, where the type of the reactor is known.
  @inlinable
  @inline(never)
  func makePipeline<R: Reactor>(of reactor: R) -> Pipeline<Action, Mutation, State>
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    let weakly = WeakReactor(reactor, part: self)
    let inlets = Pipeline<Action, Mutation, State>.Inlets(
      perform: { step, waits in weakly.use { $0.perform(step, of: $1, waits: waits) } },
      send: { action in weakly.send(action) },
      mutation: { event, stream in weakly.use { $0.receive(event, from: stream, of: $1) } },
      transformedAction: { event in weakly.use { $0.receive(transformedAction: event, of: $1) } },
      transformedMutation: { event in weakly.use { $0.receive(transformedMutation: event, of: $1) } },
      transformedState: { event in weakly.use { $0.receive(transformedState: event, of: $1) } })
    return Pipeline(
      inlets, latestState: { [unowned self] in latestState },
      onUse: { [unowned self] detour, isUsed in isUsed ? insert(detour) : remove(detour) })
  }

  /// What a new observer of `state` gets.
  @usableFromInline
  var latestState: State? {
    // A transform(state) that has said nothing yet has no state to show.
    if detours.contains(.transformedState),
      pipelineReference.use({ $0.hasState.load(ordering: .relaxed) }) != true
    {
      return nil
    }
    // Whoever is told of a state finds it in `currentState`, on all threads.
    if state.isOwner, !state.isChanging { state.publish() }
    return state.read()
  }

  /// Builds the pipeline, unless it is there, and answers something of it: the first touch of
  /// ``Reactor/action`` or ``Reactor/state``. Any thread.
  @inlinable
  func touch<R: Reactor, End>(_ reactor: R, _ end: (Pipeline<Action, Mutation, State>) -> End) -> End
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    if state.hasStarted {
      #if DEBUG
        checkServes(reactor)
      #endif
      // Left over by a stub; what connects is the next turn.
      if detours.contains(.unconnected) { perform(Step {}, of: reactor, waits: false) }
    } else {
      runOrSchedule(reactor)
    }
    return pipelineReference.use(end) ?? end(pipeline(of: reactor))
  }

  /// Calls the transforms, in ReactorKit's order, and answers the state before the first action. The owner,
  /// once.
  @inlinable
  func prepare<R: Reactor>(_ reactor: R) -> State
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    let pipeline = pipeline(of: reactor)
    if detours.contains(.stubbed) {
      insert(.unconnected)
      return reactor.initialState
    }
    let action = reactor.transform(action: pipeline.actionPort.observable)
    let mutation = reactor.transform(mutation: pipeline.mutationPort.observable)
    let initial = reactor.initialState
    let state = reactor.transform(state: pipeline.statePort.observable)
    note(Pipeline.Transformed(action: action, mutation: mutation, state: state), in: pipeline)
    return initial
  }

  /// Finds out which transforms do anything: those that answer something else than they were given.
  @usableFromInline
  func note(
    _ transformed: Pipeline<Action, Mutation, State>.Transformed,
    in pipeline: Pipeline<Action, Mutation, State>
  ) {
    if !transformed.action.isIdentical(to: pipeline.actionPort) { insert(.transformedAction) }
    if !transformed.mutation.isIdentical(to: pipeline.mutationPort) { insert(.transformedMutation) }
    if !transformed.state.isIdentical(to: pipeline.statePort) { insert(.transformedState) }
    if !detours.isDisjoint(with: [.transformed, .observedState]) {
      pipeline.transformed.value = transformed
      insert(.unconnected)
    }
  }

  /// Subscribes to what the transforms answered. The owner, in its first turn, before anything else.
  @inlinable
  @inline(never)
  func connect<R: Reactor>(_ reactor: R)
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    remove(.unconnected)
    let pipeline = pipeline(of: reactor)
    if pipeline.transformed.value == nil {
      // A stub was enabled until now.
      note(
        Pipeline.Transformed(
          action: reactor.transform(action: pipeline.actionPort.observable),
          mutation: reactor.transform(mutation: pipeline.mutationPort.observable),
          state: reactor.transform(state: pipeline.statePort.observable)), in: pipeline)
      remove(.unconnected)
    }
    guard let transformed = pipeline.transformed.value.take() else { return }
    connect(pipeline, transformed)
  }

  /// From the end to the beginning, so that what is said at once has where to go.
  @usableFromInline
  func connect(
    _ pipeline: Pipeline<Action, Mutation, State>,
    _ transformed: Pipeline<Action, Mutation, State>.Transformed
  ) {
    let inlets = pipeline.inlets
    if detours.contains(.transformedState) {
      pipeline.untransformed.state.value = state.current
      pipeline.transforms.insert(transformed.state.run(AnyObserver { inlets.transformedState($0) }))
    } else if detours.contains(.observedState) {
      // Who subscribed inside a transform has come before there was a state.
      pipeline.states.deliver(state.current)
    }
    if detours.contains(.transformedMutation) {
      pipeline.transforms.insert(transformed.mutation.run(AnyObserver { inlets.transformedMutation($0) }))
    }
    if detours.contains(.transformedAction) {
      pipeline.progress.value.acceptsActions = true
      pipeline.transforms.insert(transformed.action.run(AnyObserver { inlets.transformedAction($0) }))
      pipeline.progress.value.acceptsActions = false
    }
  }
}
