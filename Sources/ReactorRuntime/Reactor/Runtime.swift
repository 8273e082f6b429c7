import ReactorCore
import Synchronization

/// What runs a reactor: its mailbox, its state, and the rule of who processes its actions.
///
/// A reactor stores one as a constant. It serves that reactor only, and does not retain it.
///
/// The way of an action through it stands in ARCHITECTURE.md.
public final class Runtime<Action: Sendable, Mutation: Sendable, State: Sendable>: Sendable {
  @usableFromInline let mailbox: Mailbox<Action>
  @usableFromInline let state: OwnedState<State>
  /// Nil on placement ``Placement/caller``.
  @usableFromInline let loop: LoopState?
  /// What this serves; set at the start.
  @usableFromInline let binding = OwnerIsolated(ReactorBinding())
  @usableFromInline let turnCounters = TurnCounters()
  #if DEBUG
    @usableFromInline let checks = RuntimeChecks()
  #endif
  @usableFromInline let turnLimit: Int
  /// What is not empty sends actions another way than the shortest. Read relaxed on the shortest way: the
  /// owner sets most of it; who goes another way because of it first makes sure that it sees the pipeline.
  @usableFromInline let slowPathBits = Atomic<UInt8>(0)
  @usableFromInline let policy: OverflowPolicy
  /// Whether the reactor has ReactorKit's reduce. Relaxed: each thread may find out anew.
  @usableFromInline let reducesByValue = Atomic(false)
  @usableFromInline let pipelineReference = AtomicOnce<Pipeline<Action, Mutation, State>>()
  /// Of a reactor that is closed; made when somebody closes it.
  @usableFromInline let endingReference = AtomicOnce<Ending>()
  private let onFailure: @Sendable (Failure) -> Void
  // A reactor without another reference to its loop keeps it running.
  private let placement: Placement

  /// Makes the runtime of one reactor.
  ///
  /// Stops the program, with a sentence, if a capacity is invalid or there is no memory.
  ///
  /// - Parameters:
  ///   - placement: Who runs the turns.
  ///   - capacity: How many actions the mailbox holds; a power of two. Its memory is allocated when something
  ///     has to wait there, and grows with what does: first room for eight.
  ///   - policy: What `send(_:)` does with an action for which there is no room.
  ///   - reentrantCapacity: How many actions may wait that were sent from inside turns: the reactor's own;
  ///     and, beside the mailbox while that is full, those of others.
  ///   - onFailure: Called once for each action, mutation or state that was lost: on the sending thread if it
  ///     was refused; on any thread if it was accepted and the reactor was then closed. Also called when a
  ///     stream of the reactor's fails, on the thread where it does. Without it,
  ///     ``Hooks/defaultFailureHandler`` is.
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
    // Left behind only by a loop that was shut down while others were sending.
    for work in mailbox.removeAll() { lose(work, nil) }
    mailbox.letGo()
    endingReference.use { $0.finish() }
    endingReference.releaseObject()
  }

  /// Reports what was accepted and will not be done. Without a reason if the reactor is gone.
  @usableFromInline
  func lose(_ work: Work<Action>, _ reason: SendError?) {
    switch work {
    case .action(let action): report(.actionNotDelivered(.closed), action)
    case .step(let step): step.lose(reason)
    }
  }

  @usableFromInline
  @inline(never)
  func report(_ cause: Failure.Cause, _ action: Action?) {
    onFailure(Failure(reactor: bindingNow.name, cause: cause, action: action))
  }

  /// What is to be done about a mutation that is lost; does not retain the runtime, which may be going away.
  @usableFromInline
  func lossOfMutation(_ action: Action?) -> @Sendable (SendError?) -> Void {
    loss(action) { .mutationNotDelivered($0) }
  }

  /// As ``lossOfMutation(_:)``, of an action.
  @usableFromInline
  func lossOfAction(_ action: Action) -> @Sendable (SendError?) -> Void {
    loss(action) { .actionNotDelivered($0) }
  }

  /// As ``lossOfMutation(_:)``, of a state of transform(state).
  @usableFromInline
  func lossOfState() -> @Sendable (SendError?) -> Void { loss(nil) { .stateNotDelivered($0) } }

  private func loss(
    _ action: Action?, _ cause: @escaping @Sendable (SendError) -> Failure.Cause
  ) -> @Sendable (SendError?) -> Void {
    let (onFailure, binding) = (onFailure, bindingNow)
    return { reason in
      onFailure(Failure(reactor: binding.name, cause: cause(reason ?? .closed), action: action))
    }
  }
}

/// What a runtime learns at the start of its reactor.
@usableFromInline
struct ReactorBinding: Sendable {
  /// What the loop's thread calls.
  @usableFromInline var serve: @Sendable (LoopCall) -> Int = { _ in 0 }
  /// For reports. The reactor itself may be gone.
  @usableFromInline var type: (any AnyObject.Type)?
  #if DEBUG
    /// The one reactor whose turns are run.
    @usableFromInline var reactor: ObjectIdentifier?
  #endif

  @usableFromInline init() {}

  var name: String { type.map { String(reflecting: $0) } ?? "a reactor that was never started" }
}

extension Runtime {
  /// For reports. Any thread: before the start, which another thread may be in the middle of, it is empty.
  var bindingNow: ReactorBinding { state.hasStarted || state.isOwner ? binding.value : ReactorBinding() }

  var reactorType: any AnyObject.Type { bindingNow.type ?? Runtime.self }

  @inlinable
  var slowPathReasons: SlowPathReasons { SlowPathReasons(rawValue: slowPathBits.load(ordering: .relaxed)) }

  // Release: the pipeline, and the stub in it, to who takes the detour.
  @usableFromInline
  func insert(_ detour: SlowPathReasons) { slowPathBits.bitwiseOr(detour.rawValue, ordering: .releasing) }

  @usableFromInline
  func remove(_ detour: SlowPathReasons) { slowPathBits.bitwiseAnd(~detour.rawValue, ordering: .relaxed) }
}

#if DEBUG
  extension Runtime {
    /// Any thread, once the reactor has started.
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
