import ReactorCore
import Synchronization

/// How a runtime gets its pipeline, and how it is connected.
extension Runtime {
  /// Returns the pipeline; makes it at the first call. Any thread; wait-free once it is there.
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
      runStep: { step, waits in weakly.use { $0.runOrEnqueue(step, of: $1, waits: waits) } },
      send: { action in weakly.send(action) },
      mutation: { event, stream in weakly.use { $0.receive(event, from: stream, of: $1) } },
      transformedAction: { event in weakly.use { $0.receive(transformedAction: event, of: $1) } },
      transformedMutation: { event in weakly.use { $0.receive(transformedMutation: event, of: $1) } },
      transformedState: { event in weakly.use { $0.receive(transformedState: event, of: $1) } })
    return Pipeline(
      inlets, latestState: { [unowned self] in latestState },
      onUse: { [unowned self] reason, isUsed in isUsed ? insert(reason) : remove(reason) })
  }

  /// The state that a new observer of `state` gets; nil if there is none. The owner, or any thread once the reactor is
  /// closed.
  @usableFromInline
  var latestState: State? {
    // A transform(state) that has emitted nothing yet has no state to show.
    if slowPathReasons.contains(.transformedState),
      pipelineReference.use({ $0.hasTransformedState.load(ordering: .relaxed) }) != true
    {
      return nil
    }
    #if DEBUG
      checkThreadOfObservers()
    #endif
    // Publishes first, so that `currentState` returns the state on every thread when the observer gets it.
    if state.isOwner, !state.isChanging { state.publish() }
    return state.read()
  }

  /// Starts the reactor and makes the pipeline, unless that was done before, and returns what `body` returns for the
  /// pipeline: the first use of ``Reactor/action`` or ``Reactor/state``. Any thread.
  @inlinable
  func withPipeline<R: Reactor<Action, Mutation, State>, Result>(
    of reactor: R, _ body: (Pipeline<Action, Mutation, State>) -> Result
  ) -> Result {
    if state.hasStarted {
      #if DEBUG
        checkServes(reactor)
      #endif
      // A stub has kept the transforms unconnected. The next turn connects them.
      if slowPathReasons.contains(.unconnected) { runOrEnqueue(Step {}, of: reactor, waits: false) }
    } else {
      runOrSchedule(reactor)
    }
    return pipelineReference.use(body) ?? body(pipeline(of: reactor))
  }

  /// Calls the transforms, in ReactorKit's order, and returns the state before the first action. The owner, once.
  @inlinable
  func makeInitialState<R: Reactor<Action, Mutation, State>>(of reactor: R) -> State {
    if slowPathReasons.contains(.stubbed) {
      insert(.unconnected)
      return reactor.initialState
    }
    var owner = PortOwner(reactor, part: self)
    let initial = callTransforms(of: reactor, owner)
    if !isKnownUniquelyReferenced(&owner) { owner.makeWeak() }
    return initial
  }

  /// Calls the transforms and returns the state before the first action. A function of its own, so that it holds no port
  /// any more when the caller checks the references to `owner`.
  @inlinable
  @inline(never)
  func callTransforms<R: Reactor<Action, Mutation, State>>(of reactor: R, _ owner: PortOwner<R>) -> State {
    let ports = ports(of: owner)
    let action = reactor.transform(action: ports.action)
    let mutation = reactor.transform(mutation: ports.mutation)
    let initial = reactor.initialState
    let state = reactor.transform(state: ports.state)
    noteTransforms(
      TransformStreams(action: action, mutation: mutation, state: state), given: ports, of: reactor)
    return initial
  }

  /// Returns the streams that the transforms are given. They use the pipeline only when they are subscribed to: most
  /// reactors have no transform, and then need no pipeline.
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

  /// Notes which transforms do anything: those that return another stream than they were given.
  @inlinable
  func noteTransforms<R: Reactor<Action, Mutation, State>>(
    _ transformed: TransformStreams<Action, Mutation, State>,
    given ports: TransformStreams<Action, Mutation, State>, of reactor: R
  ) {
    var found: SlowPathReasons = []
    if !transformed.action.isIdentical(to: ports.action) { found.insert(.transformedAction) }
    if !transformed.mutation.isIdentical(to: ports.mutation) { found.insert(.transformedMutation) }
    if !transformed.state.isIdentical(to: ports.state) { found.insert(.transformedState) }
    if found.isEmpty, !slowPathReasons.contains(.observedState) { return }
    pipeline(of: reactor).transformed.value = transformed
    insert(found.union(.unconnected))
  }

  /// Subscribes to the streams that the transforms returned. The owner, in its first turn, before anything else.
  @inlinable
  @inline(never)
  func connect<R: Reactor<Action, Mutation, State>>(_ reactor: R) {
    let pipeline = pipeline(of: reactor)
    // First of all: a transform may subscribe to `state` or `action`, and that step must not connect once more.
    remove(.unconnected)
    let wasStubbed = pipeline.transformed.value == nil
    if wasStubbed {
      // A stub was enabled until now, so the transforms have not been called.
      let owner = PortOwner(reactor, part: self)
      let ports = ports(of: owner)
      noteTransforms(
        TransformStreams(
          action: reactor.transform(action: ports.action),
          mutation: reactor.transform(mutation: ports.mutation),
          state: reactor.transform(state: ports.state)), given: ports, of: reactor)
      owner.makeWeak()
      // Noting the transforms has inserted it again.
      remove(.unconnected)
    }
    guard let transformed = pipeline.transformed.value.take() else { return }
    connect(pipeline, transformed, emitsState: !wasStubbed)
  }

  /// Subscribes to the last transform first, so that what a stream emits at once reaches the transforms behind it. The
  /// owner.
  ///
  /// - Parameter emitsState: Whether observers that subscribed inside a transform have not been told the state yet: they
  ///   came before there was one. While a stub was enabled there was one, and they were told it when they subscribed.
  @usableFromInline
  func connect(
    _ pipeline: Pipeline<Action, Mutation, State>,
    _ transformed: TransformStreams<Action, Mutation, State>, emitsState: Bool
  ) {
    let inlets = pipeline.inlets
    if slowPathReasons.contains(.transformedState) {
      pipeline.untransformed.state.value = state.current
      pipeline.transforms.insert(transformed.state.run(AnyObserver { inlets.transformedState($0) }))
    } else if emitsState, slowPathReasons.contains(.observedState) {
      pipeline.states.emit(state.current)
    }
    if slowPathReasons.contains(.transformedMutation) {
      pipeline.transforms.insert(transformed.mutation.run(AnyObserver { inlets.transformedMutation($0) }))
    }
    if slowPathReasons.contains(.transformedAction) {
      pipeline.progress.value.expectsTransformedAction = true
      pipeline.transforms.insert(transformed.action.run(AnyObserver { inlets.transformedAction($0) }))
      pipeline.progress.value.expectsTransformedAction = false
    }
  }
}

/// The reference to the reactor in the streams that its transforms are given: the ports. It does not retain the reactor.
///
/// While the transforms are called, the reactor certainly exists, so an uncounted reference is enough. A port that
/// outlives the calls needs a weak reference. It is made only then: each retain and release of an object is slower once
/// it was referenced weakly.
@usableFromInline
final class PortOwner<R: Reactor>: Sendable {
  private enum Reference: Sendable {
    /// Valid while the transforms are called.
    case uncounted(UncountedReference<R>, UncountedReference<Runtime<R.Action, R.Mutation, R.State>>)
    case weak(WeakReactor<R>)

    var asWeak: WeakReactor<R> {
      switch self {
      case .uncounted(let reactor, let runtime):
        reactor.use { reactor in runtime.use { WeakOwner(reactor, part: $0) } }
      case .weak(let reactor): reactor
      }
    }
  }

  private let reference: SystemMutex<Reference>

  @usableFromInline
  init(_ reactor: R, part runtime: Runtime<R.Action, R.Mutation, R.State>) {
    reference = SystemMutex(.uncounted(UncountedReference(reactor), UncountedReference(runtime)))
  }

  /// Calls `body` with both, unless the reactor is gone. Any thread.
  @usableFromInline
  func use(_ body: (Runtime<R.Action, R.Mutation, R.State>, R) -> Void) { weakReference().use(body) }

  /// Makes the reference weak, since the reactor may be released from now on. The thread that called the transforms,
  /// before it releases the reactor.
  @usableFromInline
  func makeWeak() { _ = weakReference() }

  private func weakReference() -> WeakReactor<R> {
    // Under the mutex, the thread that called the transforms cannot get past `makeWeak()`, so the reactor exists.
    reference.withLock { reference in
      let weak = reference.asWeak
      reference = .weak(weak)
      return weak
    }
  }
}

/// A reference to a reactor and its runtime that retains neither, for streams.
@usableFromInline
typealias WeakReactor<R: Reactor> = WeakOwner<R, Runtime<R.Action, R.Mutation, R.State>>
