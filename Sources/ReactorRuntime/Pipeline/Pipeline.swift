import ReactorCore
import Synchronization

/// Connects a reactor to streams: the observers of `action` and `state`, the transforms, and the streams that its
/// actions have started.
///
/// It is made when a reactor first needs it. It belongs to the runtime and does not retain the reactor. The path of an
/// action through it is documented in ARCHITECTURE.md.
@usableFromInline
final class Pipeline<Action: Sendable, Mutation: Sendable, State: Sendable>: Sendable {
  /// The entry points for streams and observers. Any thread; they do nothing once the reactor is gone.
  @usableFromInline
  struct Inlets: Sendable {
    @usableFromInline let runStep: @Sendable (_ step: Step, _ waitsForRoom: Bool) -> Void
    @usableFromInline let requestSweep: @Sendable () -> Void
    @usableFromInline let send: @Sendable (Action) -> Void
    @usableFromInline let mutation: @Sendable (Event<Mutation>, MutationStream<Action>) -> Void
    @usableFromInline let transformedAction: @Sendable (Event<Action>) -> Void
    @usableFromInline let transformedMutation: @Sendable (Event<Mutation>) -> Void
    @usableFromInline let transformedState: @Sendable (Event<State>) -> Void

    @usableFromInline
    init(
      runStep: @escaping @Sendable (_ step: Step, _ waitsForRoom: Bool) -> Void,
      requestSweep: @escaping @Sendable () -> Void, send: @escaping @Sendable (Action) -> Void,
      mutation: @escaping @Sendable (Event<Mutation>, MutationStream<Action>) -> Void,
      transformedAction: @escaping @Sendable (Event<Action>) -> Void,
      transformedMutation: @escaping @Sendable (Event<Mutation>) -> Void,
      transformedState: @escaping @Sendable (Event<State>) -> Void
    ) {
      self.runStep = runStep
      self.requestSweep = requestSweep
      self.send = send
      self.mutation = mutation
      self.transformedAction = transformedAction
      self.transformedMutation = transformedMutation
      self.transformedState = transformedState
    }
  }

  /// How much of what each transform has emitted waits in the mailbox. What it emits meanwhile is queued behind that,
  /// even where it could continue at once.
  ///
  /// Relaxed: a source emits serially, so the emitting thread knows of what the source has emitted before. The owner
  /// processes what waits, and only the owner may continue at once.
  @usableFromInline
  struct WaitingCounts: ~Copyable, Sendable {
    @usableFromInline let actions = Atomic(0)
    @usableFromInline let mutations = Atomic(0)
    @usableFromInline let states = Atomic(0)

    @usableFromInline init() {}
  }

  /// Where the owner is on the path of an action.
  @usableFromInline
  struct Progress: Sendable {
    /// Whether the owner is inside transform(action), which may emit at once, but not inside what that has emitted.
    @usableFromInline var expectsTransformedAction = false
    /// Whether the owner is inside reduce, transform(state) or the observers of `state`.
    @usableFromInline var isUpdatingState = false
    /// Whether the owner is between two turns, and does what the first of them has left to do at its end: see
    /// ``Runtime/runTurnEndsAsOwner()``.
    @usableFromInline var isBetweenTurns = false
    /// Whether the owner calls the transforms of a reactor that has a state already. An observer that subscribes there is told
    /// the state when they are connected.
    @usableFromInline var isCallingTransforms = false
  }

  @usableFromInline let inlets: Inlets
  /// The observers of `action` and `state`.
  @usableFromInline let actions: OwnerMulticast<Action>
  @usableFromInline let states: OwnerMulticast<State>
  /// Made when a transform's stream is first subscribed to: most reactors that have observers have no transform.
  @usableFromInline let portsReference = AtomicReference<TransformPorts<Action, Mutation, State>>()
  @usableFromInline let action: ActionSubject<Action>
  /// The owner is inside of it (see `ThreadScope`) while it announces an action.
  @usableFromInline let announcement = SupersedeCause()

  // Only the owner uses the next three.
  @usableFromInline let progress = OwnerIsolated(Progress())
  /// The streams that the transforms have returned, until they are subscribed to.
  @usableFromInline let transformed = OwnerIsolated<TransformStreams<Action, Mutation, State>?>(nil)
  @usableFromInline let untransformed = Untransformed<State>()
  @usableFromInline let waiting = WaitingCounts()

  /// The subscriptions to the streams that the transforms returned.
  @usableFromInline let transforms = CompositeDisposable()
  /// The subscriptions to the streams that `mutate` returned.
  private let streams = RunningStreams()
  @usableFromInline let stubReference = AtomicReference<StubCore<Action, State>>()
  /// Whether transform(state) has emitted a state, so that there is one to replay to a new observer of `state`. Relaxed:
  /// the owner writes and reads it, and other threads only use it once the reactor is closed, where a stale value means
  /// no replay.
  @usableFromInline let hasTransformedState = Atomic(false)

  /// - Parameters:
  ///   - readState: Returns the newest state; called by the owner, or by any thread once the reactor is closed.
  ///   - onUseOfActions: Called by the owner when `action` gets its first observer, with true, and when it has lost its
  ///     last one.
  ///   - onUseOfStates: The same for `state`.
  @usableFromInline
  init(
    _ inlets: Inlets, readState: @escaping @Sendable () -> State?,
    onUseOfActions: @escaping @Sendable (Bool) -> Void, onUseOfStates: @escaping @Sendable (Bool) -> Void
  ) {
    self.inlets = inlets
    let (runStep, requestSweep) = (inlets.runStep, inlets.requestSweep)
    actions = OwnerMulticast(runStep: runStep, requestSweep: requestSweep, onUse: onUseOfActions)
    states = OwnerMulticast(
      runStep: runStep, requestSweep: requestSweep, latest: readState, last: readState, onUse: onUseOfStates)
    action = ActionSubject(send: inlets.send, stream: actions.observable)
  }

  deinit {
    stubReference.releaseObject()
    portsReference.releaseObject()
  }

  /// Returns the ports; makes them at the first call. Any thread.
  @usableFromInline
  func ensurePorts() -> TransformPorts<Action, Mutation, State> {
    portsReference.use { $0 } ?? portsReference.setIfNil(TransformPorts(inlets, untransformed))
  }

  /// Notifies the observers of `action` of the next one. The owner.
  @inlinable
  func announce(_ action: Action) { ThreadScope.enter(announcement) { actions.emit(action) } }

  /// Keeps the subscription to a stream that did not end at once. The owner.
  @usableFromInline
  func insert(_ stream: MutationStream<Action>) { streams.insert(stream) }

  /// Disposes of the subscription to a stream that has ended. Any thread.
  @usableFromInline
  func remove(_ stream: MutationStream<Action>) {
    stream.dispose()
    streams.remove(stream)
  }

  /// Disposes of all streams. Any thread.
  @usableFromInline
  func disposeStreams() {
    transforms.dispose()
    streams.dispose()
  }

  /// Releases the observers that were disposed of. The owner.
  func removeDisposedObservers() {
    actions.removeDisposed()
    states.removeDisposed()
    portsReference.use { $0.removeDisposed() }
  }

  /// Disposes of everything. The runtime, when it goes away: then there is no owner any more.
  @usableFromInline
  func dispose() {
    disposeStreams()
    actions.removeAll()
    states.removeAll()
    // A stream that a transform made of a port often retains the port.
    portsReference.use { $0.removeAll() }
  }

  /// Gives an action to the enabled stub. The owner.
  @usableFromInline
  func sendToStub(_ action: Action) { stubReference.use { $0.action.onNext(action) } }
}

/// The sources of the streams that the transforms are given.
@usableFromInline
final class TransformPorts<Action: Sendable, Mutation: Sendable, State: Sendable>: Sendable {
  @usableFromInline let action: OwnerMulticast<Action>
  @usableFromInline let mutation: OwnerMulticast<Mutation>
  @usableFromInline let state: OwnerMulticast<State>

  init(_ inlets: Pipeline<Action, Mutation, State>.Inlets, _ untransformed: Untransformed<State>) {
    let (runStep, requestSweep) = (inlets.runStep, inlets.requestSweep)
    action = OwnerMulticast(runStep: runStep, requestSweep: requestSweep)
    mutation = OwnerMulticast(runStep: runStep, requestSweep: requestSweep)
    state = OwnerMulticast(
      runStep: runStep, requestSweep: requestSweep, latest: { untransformed.state.value.first })
  }

  /// Releases the observers that were disposed of. The owner.
  func removeDisposed() {
    action.removeDisposed()
    mutation.removeDisposed()
    state.removeDisposed()
  }

  /// Releases all observers. The runtime, when it goes away.
  func removeAll() {
    action.removeAll()
    mutation.removeAll()
    state.removeAll()
  }
}

/// The state from which reduce continues, if transform(state) changes what is shown. Only the owner uses it.
@usableFromInline
final class Untransformed<State: Sendable>: Sendable {
  /// The state; empty if there is none. Not an optional: for each optional, enum or tuple of a state the compiler makes
  /// code that grows with the square of the state's size.
  @usableFromInline let state = OwnerIsolated<[State]>([])

  @inlinable var isEmpty: Bool { state.value.isEmpty }
}

/// The streams that the three transforms are given, or return.
@usableFromInline
struct TransformStreams<Action: Sendable, Mutation: Sendable, State: Sendable>: Sendable {
  @usableFromInline let action: Observable<Action>
  @usableFromInline let mutation: Observable<Mutation>
  @usableFromInline let state: Observable<State>

  @usableFromInline
  init(action: Observable<Action>, mutation: Observable<Mutation>, state: Observable<State>) {
    self.action = action
    self.mutation = mutation
    self.state = state
  }
}

/// The identity of a stream that a transform was given.
@usableFromInline
final class PortIdentity: Sendable {
  /// Whether the transform is the default one, which returns the stream unchanged. Relaxed: the thread that calls the transforms
  /// reads it.
  fileprivate let isOfDefault = Atomic(false)
  fileprivate let reactor: ObjectIdentifier

  @usableFromInline
  init(of reactor: ObjectIdentifier) { self.reactor = reactor }
}

extension Observable {
  /// Returns this stream, and notes that the reactor's default transform was given it. A transform of a user may call that of
  /// another reactor, which notes nothing then; it cannot call its own, which has the same name.
  @usableFromInline
  func notingDefault(of reactor: ObjectIdentifier) -> Observable {
    if let port = portIdentity, port.reactor == reactor { port.isOfDefault.store(true, ordering: .relaxed) }
    return self
  }

  fileprivate var isOfDefault: Bool { portIdentity?.isOfDefault.load(ordering: .relaxed) ?? false }

  private var portIdentity: PortIdentity? {
    if case .stream(_, let identity?) = source { identity as? PortIdentity } else { nil }
  }
}

extension TransformStreams {
  /// Whether default transforms were given all of them.
  var areOfDefaults: Bool { action.isOfDefault && mutation.isOfDefault && state.isOfDefault }
}

/// The streams of a reactor that have not ended.
@usableFromInline
final class RunningStreams: Sendable {
  private struct Members: Sendable {
    var streams: [ObjectIdentifier: SingleAssignmentDisposable] = [:]
    var isDisposed = false
  }

  private let members = SystemMutex(Members())

  /// The owner, in a turn.
  func insert(_ stream: SingleAssignmentDisposable) {
    let isLate = members.withLock { members in
      if !members.isDisposed { members.streams[ObjectIdentifier(stream)] = stream }
      return members.isDisposed
    }
    if isLate {
      // The reactor was closed meanwhile, so the action that has started the stream ends with it: a ``Reply`` in it fails for that reason.
      TurnMark.noteDiscarding()
      stream.dispose()
    }
    // It may have ended on another thread before it was inserted, so that it could not be removed then.
    if stream.isDisposed { remove(stream) }
  }

  /// Any thread.
  func remove(_ stream: SingleAssignmentDisposable) {
    let removed = members.withLock { $0.streams.removeValue(forKey: ObjectIdentifier(stream)) }
    removed?.dispose()
  }

  /// Disposes of all streams, and of those that are inserted later. Any thread.
  func dispose() {
    let ended = members.withLock { members in
      members.isDisposed = true
      defer { members.streams = [:] }
      return members.streams
    }
    for stream in ended.values { stream.dispose() }
  }
}

/// The storage of a stub, generic over actions and states rather than over the reactor.
@usableFromInline
final class StubCore<Action: Sendable, State: Sendable>: Sendable {
  @usableFromInline let state: StateRelay<State>
  @usableFromInline let action = ActionSubject<Action>()
  let recorded = SystemMutex<[Action]>([])
  /// Whether the state was set since the stub was disabled, or made.
  let isSet = SystemMutex(false)

  init(_ state: State) {
    self.state = StateRelay(value: state)
    action.subscribe(onNext: { [recorded] action in recorded.withLock { $0.append(action) } })
    // Without an operator, whose subscription would retain itself for ever: a relay never ends.
    self.state.subscribe(onNext: { [isSet] _ in isSet.withLock { $0 = true } })
    // The first value is the reactor's.
    isSet.withLock { $0 = false }
  }
}
