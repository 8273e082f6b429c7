import ReactorCore
import Synchronization

/// What a reactor has to do with streams: its ends, its transforms, and the streams that its actions have
/// started.
///
/// One for each reactor that needs it, made when it does. It belongs to the runtime and does not retain the reactor.
/// Where everything passes stands in ARCHITECTURE.md.
@usableFromInline
final class Pipeline<Action: Sendable, Mutation: Sendable, State: Sendable>: Sendable {
  /// The ways into a reactor, from any thread; they do nothing once it is gone.
  @usableFromInline
  struct Inlets: Sendable {
    @usableFromInline let perform: @Sendable (_ step: Step, _ waitsForRoom: Bool) -> Void
    @usableFromInline let send: @Sendable (Action) -> Void
    @usableFromInline let mutation: @Sendable (Event<Mutation>, MutationStream<Action>) -> Void
    @usableFromInline let transformedAction: @Sendable (Event<Action>) -> Void
    @usableFromInline let transformedMutation: @Sendable (Event<Mutation>) -> Void
    @usableFromInline let transformedState: @Sendable (Event<State>) -> Void

    @usableFromInline
    init(
      perform: @escaping @Sendable (_ step: Step, _ waitsForRoom: Bool) -> Void,
      send: @escaping @Sendable (Action) -> Void,
      mutation: @escaping @Sendable (Event<Mutation>, MutationStream<Action>) -> Void,
      transformedAction: @escaping @Sendable (Event<Action>) -> Void,
      transformedMutation: @escaping @Sendable (Event<Mutation>) -> Void,
      transformedState: @escaping @Sendable (Event<State>) -> Void
    ) {
      self.perform = perform
      self.send = send
      self.mutation = mutation
      self.transformedAction = transformedAction
      self.transformedMutation = transformedMutation
      self.transformedState = transformedState
    }
  }

  /// How much of what each transform has sent waits in the mailbox: what it sends meanwhile comes after that,
  /// also where it could go on at once.
  ///
  /// Relaxed: a source sends one after the other, so who sends knows of what it has sent before; and who
  /// processes that is the owner, as is who may go on at once.
  @usableFromInline
  struct Waiting: ~Copyable, Sendable {
    @usableFromInline let actions = Atomic(0)
    @usableFromInline let mutations = Atomic(0)
    @usableFromInline let states = Atomic(0)

    @usableFromInline init() {}
  }

  /// Where the owner is in the way of an action.
  @usableFromInline
  struct Progress: Sendable {
    /// Inside transform(action), which may emit at once, and not inside what that has emitted.
    @usableFromInline var acceptsActions = false
    /// Inside reduce, transform(state) or the observers of `state`.
    @usableFromInline var isCommitting = false
  }

  @usableFromInline let inlets: Inlets
  /// The observers of `action` and `state`.
  @usableFromInline let actions: OwnerMulticast<Action>
  @usableFromInline let states: OwnerMulticast<State>
  /// What the transforms are given.
  @usableFromInline let actionPort: OwnerMulticast<Action>
  @usableFromInline let mutationPort: OwnerMulticast<Mutation>
  @usableFromInline let statePort: OwnerMulticast<State>
  @usableFromInline let action: ActionSubject<Action>
  @usableFromInline let announcement = SupersedeCause()

  // The owner's.
  @usableFromInline let progress = OwnerIsolated(Progress())
  /// What the transforms have answered, until it is subscribed to.
  @usableFromInline let transformed = OwnerIsolated<TransformStreams<Action, Mutation, State>?>(nil)
  @usableFromInline let untransformed: Untransformed<State>
  @usableFromInline let waiting = Waiting()

  /// The subscriptions to what the transforms answered.
  @usableFromInline let transforms = CompositeDisposable()
  /// The subscriptions to what mutate answered.
  private let streams = RunningStreams<Action>()
  @usableFromInline let stubReference = AtomicOnce<StubCore<Action, State>>()
  /// Whether transform(state) has said anything, so that there is something to replay to who subscribes to
  /// `state`.
  @usableFromInline let hasState = Atomic(false)

  /// - Parameters:
  ///   - latestState: The newest state; called by the owner, or by any thread once the reactor is closed.
  ///   - onUse: Called by the owner when something begins or ceases to be observed.
  @usableFromInline
  init(
    _ inlets: Inlets, latestState: @escaping @Sendable () -> State?,
    onUse: @escaping @Sendable (SlowPathReasons, Bool) -> Void
  ) {
    self.inlets = inlets
    let untransformed = Untransformed<State>()
    self.untransformed = untransformed
    actions = OwnerMulticast(perform: inlets.perform, onUse: { onUse(.observedAction, $0) })
    states = OwnerMulticast(
      perform: inlets.perform, latest: latestState, last: latestState,
      onUse: { onUse(.observedState, $0) })
    actionPort = OwnerMulticast(perform: inlets.perform)
    mutationPort = OwnerMulticast(perform: inlets.perform)
    statePort = OwnerMulticast(perform: inlets.perform, latest: { untransformed.state.value })
    action = ActionSubject(send: inlets.send, stream: actions.observable)
  }

  deinit { stubReference.releaseObject() }

  /// Tells the observers of `action` what comes next. The owner.
  @inlinable
  func announce(_ action: Action) { ThreadScope.enter(announcement) { actions.deliver(action) } }

  /// A stream has started, and not ended at once. The owner.
  @usableFromInline
  func keep(_ stream: MutationStream<Action>) { streams.insert(stream) }

  /// A stream has ended. Any thread.
  @usableFromInline
  func forget(_ stream: MutationStream<Action>) {
    stream.dispose()
    streams.remove(stream)
  }

  /// Ends all streams. Any thread.
  @usableFromInline
  func endStreams() {
    transforms.dispose()
    streams.dispose()
  }

  /// Ends everything. The runtime, when it goes away: nobody is the owner any more.
  @usableFromInline
  func dispose() {
    endStreams()
    actions.removeAll()
    states.removeAll()
    // What was made of a port often holds the port.
    actionPort.removeAll()
    mutationPort.removeAll()
    statePort.removeAll()
  }

  /// What an enabled stub does with an action.
  @usableFromInline
  func takeAsStub(_ action: Action) { stubReference.use { $0.action.onNext(action) } }
}

/// What reduce goes on from, if transform(state) makes something else of it; else nil. The owner's.
@usableFromInline
final class Untransformed<State: Sendable>: Sendable {
  @usableFromInline let state = OwnerIsolated<State?>(nil)
}

/// The streams that the three transforms are given, or answer.
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

/// By which a stream is known that a transform was given.
@usableFromInline
final class PortIdentity: Sendable {
  @usableFromInline init() {}
}

/// The streams of a reactor that have not ended.
@usableFromInline
final class RunningStreams<Action: Sendable>: Sendable {
  private struct Members: Sendable {
    var streams: [ObjectIdentifier: MutationStream<Action>] = [:]
    var isDisposed = false
  }

  private let members = SystemMutex(Members())

  /// Any thread.
  func insert(_ stream: MutationStream<Action>) {
    let isLate = members.withLock { members in
      if !members.isDisposed { members.streams[ObjectIdentifier(stream)] = stream }
      return members.isDisposed
    }
    if isLate { stream.dispose() }
    // It may have ended on another thread meanwhile, when it was not yet there to be removed.
    if stream.isDisposed { remove(stream) }
  }

  /// Any thread.
  func remove(_ stream: MutationStream<Action>) {
    let removed = members.withLock { $0.streams.removeValue(forKey: ObjectIdentifier(stream)) }
    removed?.dispose()
  }

  /// Ends all, and what comes later.
  func dispose() {
    let ended = members.withLock { members in
      members.isDisposed = true
      defer { members.streams = [:] }
      return members.streams
    }
    for stream in ended.values { stream.dispose() }
  }
}

/// A reactor's telling the observers of `action` what comes next. One object for each reactor; a thread is
/// inside of it (see `ThreadScope`) while it does so.
@usableFromInline
final class Announcement: Sendable {
  /// That which the calling thread is inside of.
  static var current: Announcement? { ThreadScope.innermost(Announcement.self) }
}
