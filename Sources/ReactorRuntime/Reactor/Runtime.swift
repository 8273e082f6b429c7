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
  /// The ``SlowPathReasons``. The shortest path loads them relaxed: the owner itself sets most of them. Code on the slow
  /// path loads them again, acquiring, before it uses the pipeline.
  @usableFromInline let slowPathBits = Atomic<UInt8>(0)
  @usableFromInline let policy: OverflowPolicy
  /// Whether the reactor has ReactorKit's reduce. Relaxed: if a thread does not see it, the default implementation sets
  /// it again.
  @usableFromInline let reducesByValue = Atomic(false)
  @usableFromInline let pipelineReference = AtomicOnce<Pipeline<Action, Mutation, State>>()
  /// What waits for the end of a closed reactor; made by the first thread that closes or waits.
  @usableFromInline let terminationReference = AtomicOnce<Termination>()
  private let onFailure: @Sendable (Failure) -> Void
  // A reactor may have the only reference to its loop, which ends without one.
  private let placement: Placement

  /// Makes the runtime of one reactor.
  ///
  /// Stops the program with a message if a capacity is invalid or there is no memory.
  ///
  /// - Parameters:
  ///   - placement: Which thread runs the turns.
  ///   - capacity: How many actions the mailbox holds; a power of two. Its memory is allocated when something first has
  ///     to wait there, with room for eight, and grows up to the capacity.
  ///   - policy: What `send(_:)` does with an action for which there is no room.
  ///   - reentrantCapacity: How many actions may wait that were sent from inside turns: the reactor's own, and those of
  ///     others, which are kept beside the mailbox while that is full.
  ///   - onFailure: Called once for each action, mutation or state that was lost: on the sending thread if it was
  ///     refused; on any thread if it was accepted and the reactor was then closed. It is also called when a stream of
  ///     the reactor fails, on the thread where it fails. The default is ``Hooks/defaultFailureHandler``.
  public init(
    on placement: Placement = .caller, capacity: Int = 4096, overflow policy: OverflowPolicy = .block,
    reentrantCapacity: Int = 65_536,
    onFailure: @escaping @Sendable (Failure) -> Void = { Hooks.defaultFailureHandler($0) }
  ) {
    precondition(reentrantCapacity > 0, "reentrantCapacity is \(reentrantCapacity); it must be positive")
    do {
      mailbox = try Mailbox(capacity: capacity, reentrantCapacity: reentrantCapacity)
      state = try OwnedState()
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
    pipelineReference.use { $0.dispose() }
    pipelineReference.releaseObject()
    // Only a loop that was shut down while others were sending leaves something behind.
    for work in mailbox.removeAll() { discard(work, nil) }
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

  @inlinable
  var slowPathReasons: SlowPathReasons { SlowPathReasons(rawValue: slowPathBits.load(ordering: .relaxed)) }

  // Release: publishes the pipeline, and the stub in it, to the thread that takes the slow path because of this.
  @usableFromInline
  func insert(_ reason: SlowPathReasons) { slowPathBits.bitwiseOr(reason.rawValue, ordering: .releasing) }

  // Relaxed: it publishes nothing.
  @usableFromInline
  func remove(_ reason: SlowPathReasons) { slowPathBits.bitwiseAnd(~reason.rawValue, ordering: .relaxed) }
}

#if DEBUG
  extension Runtime {
    /// Stops the program if this runtime serves another reactor. Any thread, once the reactor has started.
    @usableFromInline
    func checkServes(_ reactor: some Reactor) {
      precondition(
        binding.value.reactor == ObjectIdentifier(reactor),
        """
        Problem: one Runtime serves two reactors of type \(type(of: reactor)).
        Likely cause: both were given the same object, or runtime is a static property.
        Remedy: give each reactor a Runtime of its own.
        """)
    }
  }
#endif
