import ReactorCore
import Synchronization

/// Runs a reactor: holds its mailbox and its state, and decides which thread processes its actions.
///
/// A reactor stores one as a constant. A runtime serves that reactor only, and does not retain it.
///
/// The path of an action through it is documented in ARCHITECTURE.md.
public final class Runtime<Action: Sendable, Mutation: Sendable, State: Sendable>: Sendable {
  @usableFromInline let mailbox: Mailbox<Action>
  @usableFromInline let state: OwnedState<State>
  /// Nil on placement ``Placement/caller``.
  @usableFromInline let loop: LoopState?
  /// The reactor that this serves; set at the start.
  @usableFromInline let binding = OwnerIsolated(ReactorBinding())
  @usableFromInline let turnCounters = TurnCounters()
  #if DEBUG
    @usableFromInline let checks = RuntimeChecks()
  #endif
  @usableFromInline let turnLimit: Int
  /// The ``ExtraStages``. Each action loads them relaxed: the owner itself sets most of them. Code that finds one loads
  /// them again, acquiring, before it uses the pipeline.
  @usableFromInline let extraStageBits = Atomic<UInt8>(0)
  /// Whether the owner must release observers although the mailbox has refused that step: see ``requestSweep(of:)``.
  @usableFromInline let isSweepRequested = Atomic(false)
  /// How many threads were made to run turns, doubled; plus 1 while one is being made. See ``tryRunTurnsOnNewThread(_:)``.
  @usableFromInline let newThreads = Atomic<UInt32>(0)
  @usableFromInline let policy: OverflowPolicy
  @usableFromInline let pipelineReference = AtomicReference<Pipeline<Action, Mutation, State>>()
  /// What waits for the end of a closed reactor; made by the first thread that closes or waits.
  @usableFromInline let terminationReference = AtomicReference<Termination>()
  private let onFailure: @Sendable (Failure) -> Void
  // A reactor may have the only reference to its loop, which ends without one.
  private let placement: Placement

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
  ///     the reactor fails, on the thread where it fails. The default is ``Hooks/defaultFailureHandler``.
  public init(
    on placement: Placement = .caller, snapshots: SnapshotPolicy = .automatic, capacity: Int = 4096,
    overflow policy: OverflowPolicy = .block, reentrantCapacity: Int = 65_536,
    onFailure: @escaping @Sendable (Failure) -> Void = { Hooks.defaultFailureHandler($0) }
  ) {
    precondition(reentrantCapacity > 0, "reentrantCapacity is \(reentrantCapacity); it must be positive")
    do {
      mailbox = try Mailbox(capacity: capacity, reentrantCapacity: reentrantCapacity)
      state = try OwnedState(inOnePlace: snapshots.hasOnePlace(State.self))
    } catch {
      fatalError("a Runtime with capacity \(capacity) cannot be made: \(error)")
    }
    self.policy = policy
    self.placement = placement
    self.onFailure = onFailure
    switch placement {
    case .caller:
      loop = nil
      turnLimit = 1024
    case .loop(let loop):
      self.loop = loop.state
      turnLimit = loop.state.turnLimit
    }
  }

  deinit {
    TurnMark.whileDiscarding {
      pipelineReference.use { $0.dispose() }
      pipelineReference.releaseObject()
      // Something is left if a loop was shut down while others were sending, or if the last reference to the reactor went
      // away inside its own `mutate`.
      for work in mailbox.removeAll() { discard(work, nil) }
    }
    mailbox.turnEnds.take().run()
    mailbox.free()
    terminationReference.use { $0.finish() }
    terminationReference.releaseObject()
  }

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
    onFailure(Failure(reactor: currentBinding.name, cause: cause, action: action))
  }

  /// Reports what a turn does not process because the reactor is closed. The owner, in the turn, at whose end the action is
  /// gone: a ``Reply`` in it tells its asker the same reason.
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
    let (onFailure, binding) = (onFailure, currentBinding)
    return { reason in
      onFailure(Failure(reactor: binding.name, cause: cause(reason ?? .closed), action: action))
    }
  }
}

/// What a runtime learns at the start of its reactor.
@usableFromInline
struct ReactorBinding: Sendable {
  /// Handles the calls of the loop's thread.
  @usableFromInline var loopHandler: @Sendable (LoopCall) -> Int = { _ in 0 }
  /// For reports. The reactor itself may be gone.
  @usableFromInline var type: (any AnyObject.Type)?
  /// Of a reactor that is ``TurnObserving``.
  @usableFromInline var turnObserver: TurnObserver?
  #if DEBUG
    /// The one reactor that the runtime serves.
    @usableFromInline var reactor: ObjectIdentifier?
  #endif

  @usableFromInline init() {}

  var name: String { type.map { String(reflecting: $0) } ?? "a reactor that was never started" }
}

extension Runtime {
  /// The binding, for reports. Any thread. It is empty before the start, which may be running on another thread.
  var currentBinding: ReactorBinding {
    state.hasStarted || state.isOwner ? binding.value : ReactorBinding()
  }

  var reactorType: any AnyObject.Type { currentBinding.type ?? Runtime.self }

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
