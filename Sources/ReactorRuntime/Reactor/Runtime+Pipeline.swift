import ReactorCore
import Synchronization

/// How a runtime gets its pipeline, and how it is connected.
extension Runtime {
  /// Returns the pipeline; makes it at the first call. Any thread; wait-free once it is there.
  @inlinable
  func ensurePipeline<R: Reactor<Action, Mutation, State>>(of reactor: R) -> Pipeline<Action, Mutation, State>
  {
    pipelineReference.use { $0 } ?? pipelineReference.setIfNil(makePipeline(of: reactor))
  }

  /// Calls `body` with the pipeline, and does not retain it if it is there. As ``ensurePipeline(of:)``.
  @inlinable
  @inline(__always)
  func usePipeline<R: Reactor<Action, Mutation, State>, Result>(
    of reactor: R, _ body: (Pipeline<Action, Mutation, State>) -> Result
  ) -> Result {
    pipelineReference.use(body) ?? body(ensurePipeline(of: reactor))
  }

  /// The closures are made here, where the type of the reactor is known.
  @inlinable
  @inline(never)
  func makePipeline<R: Reactor<Action, Mutation, State>>(of reactor: R) -> Pipeline<Action, Mutation, State> {
    let (weakly, identity) = (WeakReactor(reactor, part: self), ObjectIdentifier(reactor))
    let inlets = Pipeline<Action, Mutation, State>.Inlets(
      runStep: { step, waits in weakly.use { $0.runOrEnqueue(step, of: $1, waits: waits) } },
      requestSweep: { weakly.use { $0.requestSweep(of: $1) } },
      send: { action in weakly.send(action) },
      // Streams that run although the reactor is gone end now: without a stored runtime, that goes away up to a second later.
      // Written out in each: a common closure would cost 7 % of an action with transforms.
      mutation: { event, stream in
        if !weakly.use({ $0.receive(event, from: stream, of: $1) }) { Self.endStreams(ofAttached: identity) }
      },
      transformedAction: { event in
        if !weakly.use({ $0.receive(transformedAction: event, of: $1) }) {
          Self.endStreams(ofAttached: identity)
        }
      },
      transformedMutation: { event in
        if !weakly.use({ $0.receive(transformedMutation: event, of: $1) }) {
          Self.endStreams(ofAttached: identity)
        }
      },
      transformedState: { event in
        if !weakly.use({ $0.receive(transformedState: event, of: $1) }) {
          Self.endStreams(ofAttached: identity)
        }
      })
    return Pipeline(
      inlets, readState: { [unowned self] in publishAndReadState() },
      onUseOfActions: { [unowned self] in $0 ? insert(.observedAction) : remove(.observedAction) },
      onUseOfStates: { [unowned self] in $0 ? insert(.observedState) : remove(.observedState) })
  }

  /// The state that a new observer of `state` gets; nil if there is none, or if the observer subscribes inside a transform: it is
  /// told when that is connected. The owner, or any thread once the reactor is closed.
  @usableFromInline
  func publishAndReadState() -> State? {
    // A transform(state) that has emitted nothing yet has no state to show.
    if extraStages.contains(.transformedState),
      pipelineReference.use({ $0.hasTransformedState.load(ordering: .relaxed) }) != true
    {
      return nil
    }
    if state.isOwner, pipelineReference.use({ $0.progress.value.isCallingTransforms }) == true { return nil }
    #if DEBUG
      checkThreadOfObservers()
    #endif
    // Publishes first, so that `currentState` returns the state on every thread when the observer gets it.
    if state.isOwner, !state.isChanging { state.publish() }
    return state.read(thenCheck: { checkMailbox() })
  }

  /// Makes sure that some thread processes what the mailbox holds, where the reactor is not known. It has a pipeline. Any thread.
  @usableFromInline
  @inline(never)
  func checkMailbox() { pipelineReference.use { $0.inlets.requestSweep() } }

  /// Makes an owner release the observers that were disposed of, although the mailbox has refused a step that does so. Any
  /// thread.
  @usableFromInline
  func requestSweep<R: Reactor<Action, Mutation, State>>(of reactor: R) {
    // In this order: the owner loads it after it has withdrawn the request to check. Release: the flags of the observers.
    isSweepRequested.store(true, ordering: .releasing)
    mailbox.ownerCheck.request()
    if !state.isBusy { acquireAndRunOrSchedule(reactor) }
  }

  /// Releases the observers that were disposed of without a step. The owner, in a turn.
  @usableFromInline
  @inline(never)
  func sweepObservers() {
    // Acquire: the other side of `requestSweep(of:)`.
    if isSweepRequested.exchange(false, ordering: .acquiring) {
      pipelineReference.use { $0.removeDisposedObservers() }
    }
  }

  /// Starts the reactor and makes the pipeline, unless that was done before, and returns what `body` returns for the
  /// pipeline: the first use of ``Reactor/action`` or ``Reactor/state``. Any thread.
  @inlinable
  func startAndUsePipeline<R: Reactor<Action, Mutation, State>, Result>(
    of reactor: R, _ body: (Pipeline<Action, Mutation, State>) -> Result
  ) -> Result {
    if state.hasStarted {
      #if DEBUG
        checkServes(reactor)
      #endif
      // A stub has kept the transforms unconnected.
      if extraStages.contains(.unconnected) { connectInStep(reactor) }
    } else {
      acquireAndRunOrSchedule(reactor)
    }
    return usePipeline(of: reactor, body)
  }

  /// Calls the transforms, in ReactorKit's order, and returns the state before the first action. The owner, once.
  @inlinable
  @inline(never)
  func makeInitialState<R: Reactor<Action, Mutation, State>>(of reactor: R) -> State {
    if extraStages.contains(.stubbed) {
      insert(.unconnected)
      return firstState(of: reactor)
    }
    // The streams for the transforms cost more than all the rest of a reactor's start.
    if hasDefaultTransforms {
      let initial = firstState(of: reactor)
      // An initial state that observes `state` needs them none the less.
      if !extraStages.contains(.observedState) { return initial }
      let owner = PortReactor(reactor, part: self)
      let ports = ports(of: owner)
      noteTransforms(ports, given: ports, of: reactor)
      owner.makeWeak()
      return initial
    }
    var owner = PortReactor(reactor, part: self)
    let initial = callTransforms(of: reactor, owner)
    if !isKnownUniquelyReferenced(&owner) { owner.makeWeak() }
    return initial
  }

  /// Calls the transforms and returns the state before the first action. A function of its own, so that it holds no port
  /// any more when the caller checks the references to `owner`.
  @inlinable
  @inline(never)
  func callTransforms<R: Reactor<Action, Mutation, State>>(of reactor: R, _ owner: PortReactor<R>) -> State {
    let ports = ports(of: owner)
    let action = reactor.transform(action: ports.action)
    let mutation = reactor.transform(mutation: ports.mutation)
    let initial = firstState(of: reactor)
    let state = reactor.transform(state: ports.state)
    noteTransforms(
      TransformStreams(action: action, mutation: mutation, state: state), given: ports, of: reactor)
    return initial
  }

  /// The state before the first action. The owner.
  @inlinable
  @inline(__always)
  func firstState<R: Reactor<Action, Mutation, State>>(of reactor: R) -> State {
    R.isDurable ? recoverState(of: reactor) : reactor.initialState
  }

  /// Returns the streams that the transforms are given. They use the pipeline only when they are subscribed to: most
  /// reactors have no transform, and then need no pipeline.
  @inlinable
  @inline(never)
  func ports<R: Reactor<Action, Mutation, State>>(of owner: PortReactor<R>) -> TransformStreams<
    Action, Mutation, State
  > {
    TransformStreams(
      action: port(of: owner) { $0.action }, mutation: port(of: owner) { $0.mutation },
      state: port(of: owner) { $0.state })
  }

  @inlinable
  func port<R: Reactor<Action, Mutation, State>, Element>(
    of owner: PortReactor<R>,
    _ source: @escaping @Sendable (TransformPorts<Action, Mutation, State>) -> OwnerMulticast<Element>
  ) -> Observable<Element> {
    Observable(identity: PortIdentity(of: owner.identity)) { observer in
      var subscription: any Disposable = Disposables.create()
      owner.use { subscription = source($0.ensurePipeline(of: $1).ensurePorts()).subscribe(observer) }
      return subscription
    }
  }

  /// Notes which transforms do anything: those that return another stream than they were given.
  @inlinable
  @inline(never)
  func noteTransforms<R: Reactor<Action, Mutation, State>>(
    _ transformed: TransformStreams<Action, Mutation, State>,
    given ports: TransformStreams<Action, Mutation, State>, of reactor: R
  ) {
    var found: ExtraStages = []
    if !transformed.action.isIdentical(to: ports.action) { found.insert(.transformedAction) }
    if !transformed.mutation.isIdentical(to: ports.mutation) { found.insert(.transformedMutation) }
    if !transformed.state.isIdentical(to: ports.state) { found.insert(.transformedState) }
    if found.isEmpty { noteDefaults(ports) }
    if R.isDurable {
      guard !found.contains(.transformedState) else {
        fatalError(
          """
          Problem: the states of \(R.self) would not be those that its journal contains.
          Likely cause: a durable reactor has a transform(state:).
          Remedy: transform the stream `state` where it is observed.
          """)
      }
    }
    if found.isEmpty, !extraStages.contains(.observedState) { return }
    ensurePipeline(of: reactor).transformed.value = transformed
    insert(found.union(.unconnected))
  }

  /// Subscribes to the streams that the transforms returned. The owner, in its first turn, before anything else.
  @inlinable
  @inline(never)
  func connect<R: Reactor<Action, Mutation, State>>(_ reactor: R) {
    let pipeline = ensurePipeline(of: reactor)
    // First of all: a transform may subscribe to `state` or `action`, and that step must not connect once more.
    remove(.unconnected)
    if pipeline.transformed.value == nil {
      // A stub was enabled when the reactor started, so the transforms have not been called.
      pipeline.progress.value.isCallingTransforms = true
      let owner = PortReactor(reactor, part: self)
      let ports = ports(of: owner)
      noteTransforms(
        TransformStreams(
          action: reactor.transform(action: ports.action),
          mutation: reactor.transform(mutation: ports.mutation),
          state: reactor.transform(state: ports.state)), given: ports, of: reactor)
      owner.makeWeak()
      pipeline.progress.value.isCallingTransforms = false
      // Noting the transforms has inserted it again.
      remove(.unconnected)
    }
    guard let transformed = pipeline.transformed.value.take() else { return }
    connect(pipeline, transformed)
  }

  /// Connects the transforms, as soon as the reactor may run a step, unless they are connected by then. Any thread, for code that
  /// uses ``Reactor/action`` or ``Reactor/state`` while no stub is enabled. A stub that is enabled before the step runs delays
  /// nothing: an observer that comes behind the step would be told the first state then, and once more when they are connected.
  @usableFromInline
  @inline(never)
  func connectInStep<R: Reactor<Action, Mutation, State>>(_ reactor: R) {
    // What runs a step holds both.
    let step = ClosureStep { [unowned self, unowned reactor] in
      if extraStages.contains(.unconnected) { connect(reactor) }
    }
    runOrEnqueue(step, of: reactor, waits: true)
  }

  /// Whether the transforms are to be connected in a turn that begins: not while a stub is enabled, unless they have been called
  /// before it was. The owner, if they are not connected.
  @usableFromInline
  @inline(never)
  var connectsInTurn: Bool {
    !extraStages.contains(.stubbed) || pipelineReference.use { $0.transformed.value != nil } == true
  }

  /// Subscribes to the last transform first, so that what a stream emits at once reaches the transforms behind it. Observers that
  /// subscribed before, inside a transform or before the first turn, are told the first state here. The owner.
  @usableFromInline
  func connect(
    _ pipeline: Pipeline<Action, Mutation, State>, _ transformed: TransformStreams<Action, Mutation, State>
  ) {
    let inlets = pipeline.inlets
    // One queue for all three: what the streams emit in turns comes when all of them are connected.
    EmissionQueue.open {
      if extraStages.contains(.transformedState) {
        pipeline.untransformed.state.value = [state.current]
        pipeline.transforms.insert(transformed.state.run(AnyObserver { inlets.transformedState($0) }))
      } else if extraStages.contains(.observedState) {
        pipeline.states.emit(state.current)
      }
      if extraStages.contains(.transformedMutation) {
        pipeline.transforms.insert(transformed.mutation.run(AnyObserver { inlets.transformedMutation($0) }))
      }
      guard extraStages.contains(.transformedAction) else { return }
      pipeline.progress.value.expectsTransformedAction = true
      pipeline.transforms.insert(transformed.action.run(AnyObserver { inlets.transformedAction($0) }))
    }
    pipeline.progress.value.expectsTransformedAction = false
  }
}
