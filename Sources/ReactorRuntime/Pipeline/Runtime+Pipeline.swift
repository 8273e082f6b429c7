import ReactorCore
import Synchronization

/// How a runtime gets its pipeline, and how it is connected.
extension Runtime {
  /// Made at the first call. Any thread; wait-free once it is there.
  @inlinable
  func pipeline<R: Reactor<Action, Mutation, State>>(of reactor: R) -> Pipeline<Action, Mutation, State> {
    pipelineReference.use { $0 } ?? pipelineReference.setIfNil(makePipeline(of: reactor))
  }

  /// The closures are made here, where the type of the reactor is known.
  @inlinable
  @inline(never)
  func makePipeline<R: Reactor<Action, Mutation, State>>(of reactor: R) -> Pipeline<Action, Mutation, State> {
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
    if slowPathReasons.contains(.transformedState),
      pipelineReference.use({ $0.hasState.load(ordering: .relaxed) }) != true
    {
      return nil
    }
    #if DEBUG
      checkThreadOfObservers()
    #endif
    // Whoever is told of a state finds it in `currentState`, on all threads.
    if state.isOwner, !state.isChanging { state.publish() }
    return state.read()
  }

  /// Builds the pipeline, unless it is there, and answers something of it: the first touch of
  /// ``Reactor/action`` or ``Reactor/state``. Any thread.
  @inlinable
  func touch<R: Reactor<Action, Mutation, State>, End>(
    _ reactor: R, _ end: (Pipeline<Action, Mutation, State>) -> End
  ) -> End {
    if state.hasStarted {
      #if DEBUG
        checkServes(reactor)
      #endif
      // Left over by a stub; what connects is the next turn.
      if slowPathReasons.contains(.unconnected) { perform(Step {}, of: reactor, waits: false) }
    } else {
      runOrSchedule(reactor)
    }
    return pipelineReference.use(end) ?? end(pipeline(of: reactor))
  }

  /// Calls the transforms, in ReactorKit's order, and answers the state before the first action. The owner,
  /// once.
  @inlinable
  func prepare<R: Reactor<Action, Mutation, State>>(_ reactor: R) -> State {
    if slowPathReasons.contains(.stubbed) {
      insert(.unconnected)
      return reactor.initialState
    }
    var owner = PortOwner(reactor, part: self)
    let initial = transform(reactor, owner)
    if !isKnownUniquelyReferenced(&owner) { owner.endLoan() }
    return initial
  }

  /// Answers the state before the first action. Holds no port afterwards that nobody else does.
  @inlinable
  @inline(never)
  func transform<R: Reactor<Action, Mutation, State>>(_ reactor: R, _ owner: PortOwner<R>) -> State {
    let ports = ports(of: owner)
    let action = reactor.transform(action: ports.action)
    let mutation = reactor.transform(mutation: ports.mutation)
    let initial = reactor.initialState
    let state = reactor.transform(state: ports.state)
    note(TransformStreams(action: action, mutation: mutation, state: state), made: ports, of: reactor)
    return initial
  }

  /// What the transforms are given. It reaches the pipeline only when it is subscribed to: most reactors have no
  /// transform, and then need none.
  @inlinable
  func ports<R: Reactor<Action, Mutation, State>>(of owner: PortOwner<R>) -> TransformStreams<
    Action, Mutation, State
  > {
    TransformStreams(
      action: port(of: owner) { $0.actionPort }, mutation: port(of: owner) { $0.mutationPort },
      state: port(of: owner) { $0.statePort })
  }

  @inlinable
  func port<R: Reactor<Action, Mutation, State>, Element>(
    of owner: PortOwner<R>,
    _ source: @escaping @Sendable (Pipeline<Action, Mutation, State>) -> OwnerMulticast<Element>
  ) -> Observable<Element> {
    Observable(identity: PortIdentity()) { observer in
      var subscription: any Disposable = Disposables.create()
      owner.use { subscription = source($0.pipeline(of: $1)).observable.run(observer) }
      return subscription
    }
  }

  /// Finds out which transforms do anything: those that answer something else than they were given.
  @inlinable
  func note<R: Reactor<Action, Mutation, State>>(
    _ transformed: TransformStreams<Action, Mutation, State>,
    made ports: TransformStreams<Action, Mutation, State>, of reactor: R
  ) {
    var found: SlowPathReasons = []
    if !transformed.action.isIdentical(to: ports.action) { found.insert(.transformedAction) }
    if !transformed.mutation.isIdentical(to: ports.mutation) { found.insert(.transformedMutation) }
    if !transformed.state.isIdentical(to: ports.state) { found.insert(.transformedState) }
    if found.isEmpty, !slowPathReasons.contains(.observedState) { return }
    pipeline(of: reactor).transformed.value = transformed
    insert(found.union(.unconnected))
  }

  /// Subscribes to what the transforms answered. The owner, in its first turn, before anything else.
  @inlinable
  @inline(never)
  func connect<R: Reactor<Action, Mutation, State>>(_ reactor: R) {
    let pipeline = pipeline(of: reactor)
    if pipeline.transformed.value == nil {
      // A stub was enabled until now.
      let owner = PortOwner(reactor, part: self)
      let ports = ports(of: owner)
      note(
        TransformStreams(
          action: reactor.transform(action: ports.action),
          mutation: reactor.transform(mutation: ports.mutation),
          state: reactor.transform(state: ports.state)), made: ports, of: reactor)
      owner.endLoan()
    }
    remove(.unconnected)
    guard let transformed = pipeline.transformed.value.take() else { return }
    connect(pipeline, transformed)
  }

  /// From the end to the beginning, so that what is said at once has where to go.
  @usableFromInline
  func connect(
    _ pipeline: Pipeline<Action, Mutation, State>,
    _ transformed: TransformStreams<Action, Mutation, State>
  ) {
    let inlets = pipeline.inlets
    if slowPathReasons.contains(.transformedState) {
      pipeline.untransformed.state.value = state.current
      pipeline.transforms.insert(transformed.state.run(AnyObserver { inlets.transformedState($0) }))
    } else if slowPathReasons.contains(.observedState) {
      // Who subscribed inside a transform has come before there was a state.
      pipeline.states.deliver(state.current)
    }
    if slowPathReasons.contains(.transformedMutation) {
      pipeline.transforms.insert(transformed.mutation.run(AnyObserver { inlets.transformedMutation($0) }))
    }
    if slowPathReasons.contains(.transformedAction) {
      pipeline.progress.value.acceptsActions = true
      pipeline.transforms.insert(transformed.action.run(AnyObserver { inlets.transformedAction($0) }))
      pipeline.progress.value.acceptsActions = false
    }
  }
}

/// The reactor behind the ports that its transforms are given. It is not retained, and only while the transforms
/// are called it is sure to be there; so what outlives them needs a weak reference. That is made only if a port
/// does: an object that a weak reference was made of is slower for ever, in each retain and release.
@usableFromInline
final class PortOwner<R: Reactor>: Sendable {
  private enum Reference: Sendable {
    /// While the transforms are called.
    case borrowed(UncountedReference<R>, UncountedReference<Runtime<R.Action, R.Mutation, R.State>>)
    case weakly(WeakReactor<R>)

    var lasting: WeakReactor<R> {
      switch self {
      case .borrowed(let reactor, let runtime):
        reactor.use { reactor in runtime.use { WeakOwner(reactor, part: $0) } }
      case .weakly(let reactor): reactor
      }
    }
  }

  private let reference: SystemMutex<Reference>

  @usableFromInline
  init(_ reactor: R, part runtime: Runtime<R.Action, R.Mutation, R.State>) {
    reference = SystemMutex(.borrowed(UncountedReference(reactor), UncountedReference(runtime)))
  }

  /// Calls `body` with both, unless the reactor is gone. Any thread.
  @usableFromInline
  func use(_ body: (Runtime<R.Action, R.Mutation, R.State>, R) -> Void) { lasting.use(body) }

  /// From now on the reactor may go. Whoever called the transforms, before it lets go of the reactor.
  @usableFromInline
  func endLoan() { _ = lasting }

  private var lasting: WeakReactor<R> {
    // Under the mutex the loan does not end.
    reference.withLock { reference in
      let lasting = reference.lasting
      reference = .weakly(lasting)
      return lasting
    }
  }
}

/// A reactor and its runtime as streams hold them: not retained.
@usableFromInline
typealias WeakReactor<R: Reactor> = WeakOwner<R, Runtime<R.Action, R.Mutation, R.State>>
