import ReactorCore
import Synchronization

/// Runs a reactor: holds its mailbox and its state, and decides which thread processes its actions.
///
/// A reactor stores one as a constant. A runtime serves that reactor only, and does not retain it.
///
/// The path of an action through it is documented in ARCHITECTURE.md.
public final class Runtime<Action: Sendable, Mutation: Sendable, State: Sendable>: Sendable {
  // Sized for millions of instances: 128 bytes, in this order. What runtimes of one kind share is in objects that are made
  // once, and what most of them never need in objects that are made when they are needed.
  @usableFromInline let mailbox: Mailbox<Action>
  @usableFromInline let state: OwnedState<State>
  /// The ``ExtraStages``. Each action loads them relaxed: the owner itself sets most of them. Code that finds one loads
  /// them again, acquiring, before it uses the pipeline.
  @usableFromInline let extraStageBits = Atomic<UInt8>(0)
  /// Whether the owner must release observers although the mailbox has refused that step: see ``requestSweep(of:)``.
  @usableFromInline let isSweepRequested = Atomic(false)
  @usableFromInline let policy: OverflowPolicy
  /// How many threads were made to run turns, doubled; plus 1 while one is being made. See ``tryRunTurnsOnNewThread(_:)``.
  @usableFromInline let newThreads = Atomic<UInt32>(0)
  /// Nil on placement ``Placement/caller``. A reactor may have the only reference to its loop, which ends without one.
  @usableFromInline let placedLoop: Loop?
  @usableFromInline let pipelineReference = AtomicReference<Pipeline<Action, Mutation, State>>()
  @usableFromInline let extrasReference = AtomicReference<RuntimeExtras>()
  /// The kind of the reactor that this serves; set at the start. Kinds are permanent.
  @usableFromInline let kindReference = AtomicReference<ReactorKind>()
  #if Metrics
    /// Measures turns, from the moment that it is set.
    @usableFromInline let turnTimes = AtomicReference<TurnTimes>()
  #endif
  private let failureHandler: FailureHandler
  #if DEBUG
    @usableFromInline let checks = RuntimeChecks()
  #endif

  /// Makes the runtime of one reactor.
  ///
  /// Stops the program with a message if a capacity is invalid or there is no memory.
  ///
  /// - Parameters:
  ///   - placement: Which thread runs the turns.
  ///   - snapshots: How the state is shown to readers on other threads.
  ///   - capacity: How many actions the mailbox holds; a power of two. Its memory is allocated when something first has
  ///     to wait there, with room for eight, and grows up to the capacity.
  ///   - policy: What `send(_:)` does with an action for which there is no room.
  ///   - reentrantCapacity: How many actions that were sent from inside turns may wait beside the mailbox. There are two
  ///     limits of this size: one for what the reactor and others on its loop send, and one for what turns on other threads
  ///     send while the mailbox is full. Together with what ``OverflowPolicy/dropOldest`` keeps, this bounds what the reactor holds.
  ///   - onFailure: Called once for each action, mutation or state that was lost: on the sending thread if it was
  ///     refused; on any thread if it was accepted, and then dropped for a newer one (``OverflowPolicy/dropOldest``) or
  ///     discarded when the reactor was closed. It is also called when a stream of
  ///     the reactor fails, on the thread where it fails. It must not itself send an action again: ``ActionFailure``. The default
  ///     is ``Hooks/defaultFailureHandler``.
  public init(
    on placement: Placement = .caller, snapshots: SnapshotPolicy = .automatic, capacity: Int = 4096,
    overflow policy: OverflowPolicy = .block, reentrantCapacity: Int = 65_536,
    onFailure: @escaping @Sendable (Failure) -> Void = { Hooks.defaultFailureHandler($0) }
  ) {
    guard reentrantCapacity > 0 else {
      fatalError("reentrantCapacity is \(reentrantCapacity); it must be positive")
    }
    do {
      mailbox = try Mailbox(capacity: capacity, reentrantCapacity: reentrantCapacity)
      state =
        switch snapshots.form(of: State.self) {
        case .slots: try OwnedState()
        case .onePlace: try OwnedState(inOnePlace: true)
        case .replayed: try OwnedState(replaying: Mutation.self)
        }
    } catch {
      fatalError("a Runtime with capacity \(capacity) cannot be made: \(error)")
    }
    self.policy = policy
    failureHandler = .of(onFailure)
    placedLoop =
      switch placement {
      case .caller: nil
      case .loop(let loop): loop
      }
  }

  /// Makes the runtime of one reactor, with a handler that knows the type of the actions. In all other respects like
  /// ``init(on:snapshots:capacity:overflow:reentrantCapacity:onFailure:)``.
  ///
  /// - Parameters:
  ///   - placement: Which thread runs the turns.
  ///   - snapshots: How the state is shown to readers on other threads.
  ///   - capacity: How many actions the mailbox holds; a power of two.
  ///   - policy: What `send(_:)` does with an action for which there is no room.
  ///   - reentrantCapacity: How many actions that were sent from inside turns may wait beside the mailbox.
  ///   - onActionFailure: Called as `onFailure`.
  // Disfavored: a closure without a label is `onFailure`, as it was before this initializer came.
  @_disfavoredOverload
  public convenience init(
    on placement: Placement = .caller, snapshots: SnapshotPolicy = .automatic, capacity: Int = 4096,
    overflow policy: OverflowPolicy = .block, reentrantCapacity: Int = 65_536,
    onActionFailure: @escaping @Sendable (ActionFailure<Action>) -> Void
  ) {
    self.init(
      on: placement, snapshots: snapshots, capacity: capacity, overflow: policy,
      reentrantCapacity: reentrantCapacity, onFailure: { onActionFailure(ActionFailure($0)) })
  }

  deinit {
    // This code is not specialised, so it looks up the metadata of types. The checks avoid that where there is nothing to discard.
    if pipelineReference.isSet || mailbox.mayHoldAny { discardAll() }
    mailbox.turnEnds.take().run()
    // Not earlier: what was discarded may have used the mailbox.
    mailbox.free()
    if extrasReference.isSet { endExtras() }
    #if Metrics
      turnTimes.releaseObject()
    #endif
  }

  /// Ends the pipeline and reports what waits. The deinitializer.
  private func discardAll() {
    TurnMark.whileDiscarding {
      pipelineReference.use { $0.dispose() }
      pipelineReference.releaseObject()
      // Something is left if a loop was shut down while others were sending, or if the last reference to the reactor went
      // away inside its own `mutate`.
      for work in mailbox.removeAll() { discard(work, nil) }
    }
  }

  /// The deinitializer.
  private func endExtras() {
    extrasReference.use { extras in extras.termination.use { $0.finish() } }
    extrasReference.releaseObject()
  }

  /// Nil on placement ``Placement/caller``.
  @inlinable
  @inline(__always)
  var loop: LoopState? { placedLoop?.state }

  /// Calls `body` with the loop without retaining it, unless there is none: the threads that send to any reactor of a loop would
  /// wait for each other to count the references to it.
  @inlinable
  @inline(__always)
  func withLoop<Result>(_ body: (LoopState) -> Result) -> Result? {
    guard let placedLoop else { return nil }
    return UncountedReference(placedLoop.state).use(body)
  }

  /// How many actions a turn processes at most.
  @inlinable
  var turnLimit: Int { placedLoop?.state.turnLimit ?? 1024 }

  @inlinable
  @inline(__always)
  var turnCounters: TurnCounters { mailbox.ownerQueue.turnCounters }

  /// Reports something that was accepted and will not be processed. The reason is nil if the reactor is gone.
  @usableFromInline
  func discard(_ work: Work<Action>, _ reason: SendError?) {
    switch work {
    case .action(let action): report(.actionNotDelivered(.closed), action)
    case .step(let step): step.discard(reason)
    }
  }

  /// Calls the failure handler. Any thread.
  @usableFromInline
  @inline(never)
  func report(_ cause: Failure.Cause, _ action: Action?) {
    failureHandler.body(Failure(reactor: reactorName, cause: cause, action: action))
  }

  /// Reports what a turn does not process because the reactor is closed. Called by the owner in a turn. The action is
  /// destroyed by the end of that turn, and a ``Reply`` in it then fails with the same reason.
  @usableFromInline
  @inline(never)
  func reportDiscarded(_ cause: Failure.Cause, _ action: Action) {
    TurnMark.noteDiscarding()
    report(cause, action)
  }

  /// Returns a closure that reports a mutation as lost. It does not retain the runtime, which may be going away.
  @usableFromInline
  func reporterOfLostMutation(for action: Action?) -> @Sendable (SendError?) -> Void {
    reporter(of: action) { .mutationNotDelivered($0) }
  }

  /// As ``reporterOfLostMutation(for:)``, of an action.
  @usableFromInline
  func reporterOfLostAction(_ action: Action) -> @Sendable (SendError?) -> Void {
    reporter(of: action) { .actionNotDelivered($0) }
  }

  /// As ``reporterOfLostMutation(for:)``, of a state that transform(state) emitted.
  @usableFromInline
  func reporterOfLostState() -> @Sendable (SendError?) -> Void {
    reporter(of: nil) { .stateNotDelivered($0) }
  }

  private func reporter(
    of action: Action?, _ cause: @escaping @Sendable (SendError) -> Failure.Cause
  ) -> @Sendable (SendError?) -> Void {
    let handler = failureHandler
    let type: (any AnyObject.Type)? = kindReference.use { $0.type }
    return { reason in
      handler.body(Failure(reactor: Self.name(of: type), cause: cause(reason ?? .closed), action: action))
    }
  }
}

extension StateForm {
  /// The size up to which ``SnapshotPolicy/automatic`` copies a state without references.
  @inlinable static var largestCopied: Int { 256 }

  /// How ``SnapshotPolicy/automatic`` changes a state of that type: a constant where the type is known.
  @inlinable
  @inline(__always)
  static func usual<State>(for _: State.Type) -> StateForm {
    !_isPOD(State.self) || MemoryLayout<State>.size > largestCopied ? .onePlace : .slots
  }
}

/// What few runtimes need; made when it is needed first.
@usableFromInline
final class RuntimeExtras: @unchecked Sendable {
  // Unchecked: the journal is set before another thread knows the runtime; the hooks are set and removed by the owner, at the start,
  // and only the owner reads them.
  /// Of a durable reactor. Any thread reads it.
  @usableFromInline var journal: (any RuntimeJournal)?
  /// Of a reactor that is ``TurnObserving``: calls its hook.
  var turnHook: (@Sendable () -> Void)?
  /// Of a reactor that is ``EndObserving``: calls its hook.
  var endHook: (@Sendable () -> Void)?
  /// What waits for the end of a closed reactor; made by the first thread that waits.
  let termination = AtomicReference<Termination>()
  /// The thread that has ended the reactor and has not let its last replies leave yet; 0 if there is none.
  let endingThread = Atomic<UInt64>(0)

  @usableFromInline init() {}

  deinit { termination.releaseObject() }
}

extension Runtime {
  /// Any thread.
  @usableFromInline
  func ensureExtras() -> RuntimeExtras {
    extrasReference.use { $0 } ?? extrasReference.setIfNil(RuntimeExtras())
  }

  /// Notes the kind of the reactor. The owner, at the start. Not inlinable: each reactor type would contain it.
  @usableFromInline
  func bindKind(of reactor: any AnyObject & Sendable, _ handler: @escaping LoopHandler) {
    let kind = ReactorKind.of(type(of: reactor), handler)
    kindReference.setPermanent(kind)
    if kind.use({ $0.isTurnObserving }) { bindTurnObserver(of: reactor) }
    if kind.use({ $0.isEndObserving }) { bindEndObserver(of: reactor) }
  }

  /// Whether the reactor's transforms are known to be the default ones. The owner, at the start.
  @usableFromInline
  var hasDefaultTransforms: Bool {
    kindReference.use { $0.hasDefaultTransforms.load(ordering: .relaxed) } ?? false
  }

  /// Notes for the reactor's kind whether its transforms are the default ones. The owner, at the start.
  @usableFromInline
  func noteDefaults(_ ports: TransformStreams<Action, Mutation, State>) {
    if ports.areOfDefaults {
      kindReference.use { $0.hasDefaultTransforms.store(true, ordering: .relaxed) }
    }
  }

  /// Whether `mutate` is known to be the default one. The owner.
  @inlinable
  @inline(__always)
  var hasDefaultMutate: Bool {
    kindReference.use { $0.hasDefaultMutate.load(ordering: .relaxed) } ?? false
  }

  /// Notes that the reactor has the default `mutate`, from which this is called. A `mutate` of the user's that forwards to another
  /// reactor's default notes it for that one. Any thread.
  @usableFromInline
  @inline(never)
  func noteDefaultMutate() { kindReference.use { $0.hasDefaultMutate.store(true, ordering: .relaxed) } }

  private static func name(of type: (any AnyObject.Type)?) -> String {
    type.map { String(reflecting: $0) } ?? "a reactor that was never started"
  }

  /// For reports: the reactor itself may be gone. Any thread.
  private var reactorName: String { Self.name(of: kindReference.use { $0.type }) }

  var reactorType: any AnyObject.Type { kindReference.use { $0.type } ?? Runtime.self }

  /// Whether the stub takes the actions. Any thread.
  @inlinable
  @inline(__always)
  var isStubbed: Bool { extraStages.contains(.stubbed) }

  @inlinable
  var extraStages: ExtraStages { ExtraStages(rawValue: extraStageBits.load(ordering: .relaxed)) }

  // Release: publishes the pipeline, and the stub in it, to the thread that finds the stage.
  @usableFromInline
  func insert(_ stages: ExtraStages) { extraStageBits.bitwiseOr(stages.rawValue, ordering: .releasing) }

  // Relaxed: it publishes nothing.
  @usableFromInline
  func remove(_ stages: ExtraStages) { extraStageBits.bitwiseAnd(~stages.rawValue, ordering: .relaxed) }
}

/// What an action of the reactor meets besides `mutate` and `reduce`: observers, transforms, a stub, the end. A reactor
/// that has nothing of that pays one load and one branch per action. (The values are computed, not stored, so that they
/// are constants in other modules.)
@usableFromInline
struct ExtraStages: OptionSet, Sendable {
  @usableFromInline let rawValue: UInt8

  @inlinable
  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// `action` has observers.
  @inlinable static var observedAction: ExtraStages { ExtraStages(rawValue: 1) }
  /// `state` has observers.
  @inlinable static var observedState: ExtraStages { ExtraStages(rawValue: 2) }
  @inlinable static var transformedAction: ExtraStages { ExtraStages(rawValue: 4) }
  @inlinable static var transformedMutation: ExtraStages { ExtraStages(rawValue: 8) }
  @inlinable static var transformedState: ExtraStages { ExtraStages(rawValue: 16) }
  /// The streams that the transforms returned are not subscribed to yet.
  @inlinable static var unconnected: ExtraStages { ExtraStages(rawValue: 32) }
  /// What the reactor holds is reported instead of processed: the mark `discards` of the ``Lifecycle``, where every
  /// action sees it.
  @inlinable static var discarding: ExtraStages { ExtraStages(rawValue: 64) }
  /// The stub takes the actions.
  @inlinable static var stubbed: ExtraStages { ExtraStages(rawValue: 128) }

  /// Those that come between the observers of an action and `mutate`.
  @inlinable static var beforeMutate: ExtraStages {
    [.transformedAction, .unconnected, .discarding, .stubbed]
  }
}
