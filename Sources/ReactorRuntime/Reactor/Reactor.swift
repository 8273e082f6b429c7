import ReactorCore
import Synchronization

/// ReactorKit's unidirectional state for services: an action becomes mutations, mutations change the state.
///
/// Actions may be sent from any thread. One at a time goes through ``mutate(action:)`` and
/// ``reduce(into:mutation:)``, on the thread that the placement of the ``Runtime`` decides: the owner.
///
/// Conform a `final class`: then the compiler specialises the whole path of an action, and the calls of `mutate` and
/// `reduce` are direct.
public protocol Reactor<Action, Mutation, State>: AnyObject, Sendable {
  associatedtype Action: Sendable
  associatedtype Mutation: Sendable = Action
  associatedtype State: Sendable

  /// The state before the first action. Read once at the start, by the first thread that sends, observes or closes,
  /// whatever the placement. Until then each ``currentState`` reads it, too.
  var initialState: State { get }

  /// The runtime that runs the reactor: a stored constant, `let runtime = Runtime<…>(on: …)`. A ``ReactorKitReactor`` need
  /// not have one.
  var runtime: Runtime<Action, Mutation, State> { get }

  /// The thread on which the reactor expects its actions; nil, the default, expects none.
  ///
  /// Only debug builds read it, once, at the start. They warn if an action, an observer of ``state`` or a stream runs on
  /// another thread: see ``Warning``. It does not choose the thread; the placement of the ``runtime`` does.
  var expectedThread: ExpectedThread? { get }

  /// Returns what an action does to the state, as mutations. Runs on the owner.
  ///
  /// It may send to any reactor, this one included: such an action waits for the running one. The default, for actions that
  /// are mutations, passes them on.
  func mutate(action: Action) -> Observable<Mutation>

  /// Applies a mutation to the state in place. Runs on the owner.
  func reduce(into state: inout State, mutation: Mutation)

  /// Returns the state after a mutation. The runtime calls it, on the owner, only if ``reducesByValue`` is true. The default
  /// applies ``reduce(into:mutation:)`` to a copy.
  func reduce(state: State, mutation: Mutation) -> State

  /// Whether the runtime reduces by ``reduce(state:mutation:)``. Constant. The default is false; it is true for a
  /// ``ReactorKitReactor``.
  static var reducesByValue: Bool { get }

  /// Whether a journal records the mutations. Constant. The default is false; it is true for a `DurableReactor`, of the
  /// module ReactorJournal.
  static var isDurable: Bool { get }

  /// Records a mutation that is about to be reduced. The runtime calls it, on the owner, only if ``isDurable`` is true. The
  /// default does nothing.
  func willReduce(_ mutation: Mutation)

  /// Calls `body` with the action as a mutation, and returns what it returns; returns false if they are of different types. The
  /// library's own: reactors do not implement it.
  static func withMutation(from action: Action, _ body: (Mutation) -> Bool) -> Bool

  /// Returns what the actions become before they reach `mutate`. Called once, with the stream of all actions, on the thread that
  /// first sends, observes or closes, whatever the placement. The stream that it returns is subscribed to in the first turn: on a
  /// loop, that may be after the first send has returned. It may emit on any thread. If it ends, the reactor is closed.
  func transform(action: Observable<Action>) -> Observable<Action>

  /// Returns what the mutations become before they are reduced: the place to merge other streams in. In all other
  /// respects like ``transform(action:)``.
  func transform(mutation: Observable<Mutation>) -> Observable<Mutation>

  /// Returns what the states become before ``state`` and ``currentState`` show them. `reduce` continues from the state
  /// that this was given. In all other respects like ``transform(action:)``.
  func transform(state: Observable<State>) -> Observable<State>
}

extension Reactor {
  public var expectedThread: ExpectedThread? { nil }

  @inlinable
  public static var reducesByValue: Bool { false }

  @inlinable
  public static var isDurable: Bool { false }

  @inlinable
  public func willReduce(_ mutation: Mutation) {}

  @inlinable
  public static func withMutation(from action: Action, _ body: (Mutation) -> Bool) -> Bool { false }

  @inlinable
  public func reduce(state: State, mutation: Mutation) -> State {
    var next = state
    reduce(into: &next, mutation: mutation)
    return next
  }

  @inlinable
  public func transform(action: Observable<Action>) -> Observable<Action> {
    action.notingDefault(of: ObjectIdentifier(self))
  }

  @inlinable
  public func transform(mutation: Observable<Mutation>) -> Observable<Mutation> {
    mutation.notingDefault(of: ObjectIdentifier(self))
  }

  @inlinable
  public func transform(state: Observable<State>) -> Observable<State> {
    state.notingDefault(of: ObjectIdentifier(self))
  }
}

extension Reactor where Mutation == Never {
  @inlinable
  public func reduce(into state: inout State, mutation: Mutation) {}
}

extension Reactor where Action == Mutation {
  @inlinable
  public func mutate(action: Action) -> Observable<Mutation> { passActionOn(action) }

  /// What the default `mutate` returns. From the second action with references on, the runtime rarely calls it any more.
  @inlinable
  func passActionOn(_ action: Action) -> Observable<Mutation> {
    if !_isPOD(Action.self) { runtime.noteDefaultMutate() }
    return .just(action)
  }

  // Not a cast, which would copy the action.
  @inlinable
  public static func withMutation(from action: Action, _ body: (Mutation) -> Bool) -> Bool { body(action) }
}

extension Reactor {
  /// Sends an action. Any thread.
  ///
  /// On placement ``Placement/caller`` an idle reactor processes the action before this returns, and also what other
  /// threads send meanwhile: up to 256 full turns of 1024 actions, plus what the reactor sends to itself. Then
  /// another thread continues. A busy reactor queues the action in its mailbox, and so does one whose mailbox holds an
  /// action that another thread is in the middle of sending. On every other placement the action goes into the
  /// mailbox.
  ///
  /// If the mailbox is full, this does what the ``OverflowPolicy`` says. With the default it waits: it spins, yields,
  /// then sleeps. From inside a turn it never waits. An action that a turn of this reactor, or of another on the same
  /// loop, sends here is processed after the running one. An action that a turn sends to another reactor with a full
  /// mailbox is kept beside that mailbox; with ``OverflowPolicy/fail`` or ``OverflowPolicy/dropNewest`` it is
  /// refused. Turns nest until half of the thread's stack is used; then another thread continues.
  ///
  /// An action that cannot be delivered is reported to the failure handler of the ``Runtime``.
  @inlinable
  @inline(__always)
  public func send(_ action: Action) {
    // Said to the compiler, since it retains the runtime for each send otherwise, where the reactor is a property of a generic
    // class: 14 ns, and a count that all senders share.
    withExtendedLifetime(self) { runtime.send(action, to: self) }
  }

  /// Sends an action, or throws if there is no room: this never waits. In all other respects like ``send(_:)``. Any
  /// thread.
  ///
  /// - Throws: ``SendError/full``, ``SendError/closed``, ``SendError/reentrantOverflow`` or
  ///   ``SendError/outOfMemory``; the action was not accepted then.
  @inlinable
  public func trySend(_ action: Action) throws(SendError) { try runtime.trySend(action, to: self, .never) }

  /// Sends an action, and waits for room until `deadline` at most, whatever the ``OverflowPolicy`` says. Any thread. From
  /// inside a turn it does not wait, like ``send(_:)``.
  ///
  /// On placement ``Placement/caller`` it may process other threads' actions until the deadline, and finishes the one that is
  /// running then. No deadline interrupts an action.
  ///
  /// - Throws: ``SendError``, also ``SendError/timedOut``; the action was not accepted then.
  @inlinable
  public func send(_ action: Action, before deadline: ContinuousClock.Instant) throws(SendError) {
    let deadline = MonotonicTime.at(deadline)
    try runtime.trySend(action, to: self, .until(deadline), within: .until(deadline))
  }

  /// Sends an action, whatever the ``OverflowPolicy`` says. While there is no room, the task is suspended and blocks no
  /// thread. Any task. It processes others' actions within the same limits: those of ``send(_:)``, or with a deadline
  /// those of ``send(_:before:)``.
  ///
  /// It stays on the executor of its caller: if an actor sends to an idle reactor on `.caller`, the turn runs on the actor's thread.
  /// A task on the reactor's own loop lets that run other tasks and turns while as much waits as the mailbox holds.
  ///
  /// - Parameters:
  ///   - action: The action.
  ///   - deadline: When to give up; nil waits without a limit.
  /// - Throws: ``SendError``, also ``SendError/cancelled`` if the task is cancelled before the action was
  ///   accepted, and ``SendError/timedOut``; the action was not accepted then.
  @inlinable
  nonisolated(nonsending)
    public func sendSuspending(
      _ action: Action, before deadline: ContinuousClock.Instant? = nil
    ) async throws(SendError)
  {
    try await runtime.sendSuspending(action, to: self, before: deadline)
  }

  /// The subject that takes actions and lets them be observed: `action.onNext(.increase)`, `taps.bind(to:
  /// reactor.action)`. Any thread. Returns the same object each time, but that of the ``stub`` while that is enabled. It does not retain
  /// the reactor.
  @inlinable
  public var action: ActionSubject<Action> {
    if runtime.isStubbed { return runtime.ensureStub(of: self).action }
    return runtime.startAndUsePipeline(of: self) { $0.action }
  }

  /// The stream of states: the newest one at the subscription, if there is one, then the state after each mutation, even
  /// if it is equal to the one before. It does not retain the reactor, and does not end with it. It completes only if the
  /// stream that a transform returned ends or fails; later observers then get the newest state and the completion.
  ///
  /// The owner of the reactor calls the observers, in the order in which they subscribed, after ``currentState`` has
  /// changed. On placement ``Placement/caller`` an idle reactor calls a new observer before the subscription returns; on
  /// all others that call is part of a turn as well. Any thread may subscribe and dispose. Subscribing waits for room in
  /// the mailbox, with every ``OverflowPolicy``; where waiting is impossible, the subscription fails with the
  /// ``SendError``. A closed reactor emits only the newest state.
  @inlinable
  public var state: Observable<State> {
    if runtime.isStubbed { return runtime.ensureStub(of: self).state.asObservable() }
    if Self.isDurable, let shown = runtime.runtimeToRead(of: self) { return shown.observableStates }
    return runtime.startAndUsePipeline(of: self) { $0.states.observable }
  }

  /// Whether the reactor no longer accepts actions: ``close(_:)`` was called, its loop was shut down, or one of its
  /// transforms has ended. Any thread; false may be stale.
  @inlinable
  public var isClosed: Bool { runtime.mailbox.ring.isClosed || runtime.loop?.isClosed == true }
}

extension Reactor {
  /// A whole state. Any thread. With ``SnapshotPolicy/copied`` and ``SnapshotPolicy/replayed`` it is the one after the last turn,
  /// and this never waits; with ``SnapshotPolicy/onDemand`` the one after the last action, and this may wait while the mutations of one are reduced.
  ///
  /// After a send that processed its action at once (placement ``Placement/caller``, idle), the state contains that
  /// action. Inside `mutate` it contains everything before the running action's next mutation; inside
  /// ``reduce(state:mutation:)`` it is the previous state; inside ``reduce(into:mutation:)`` it is a state that was
  /// published before, or stops the program (``SnapshotPolicy/onDemand``). Before the first action it is ``initialState``.
  ///
  /// If the state is changed on demand or replayed, a copy that is still alive at a later change makes that change copy the
  /// collections that both share. ``withCurrentState(_:)`` does not.
  ///
  /// - Complexity: One copy of the state.
  @inlinable
  @inline(__always)
  public var currentState: State {
    // As in `send`: otherwise the compiler retains and releases what it reads of a reactor that is a property of a generic class.
    defer { withExtendedLifetime(self) {} }
    if runtime.isStubbed { return runtime.stubState(of: self) }
    if Self.isDurable, let shown = runtime.runtimeToRead(of: self) {
      return shown.state.read(thenCheck: { shown.checkMailbox() }) ?? initialState
    }
    return runtime.state.read(thenCheck: { runtime.acquireAndRunOrSchedule(self) }) ?? initialState
  }

  /// Calls `body` with the state that ``currentState`` would return, without copying or retaining it:
  /// `reactor.withCurrentState { $0.items.count }`. Any thread. Whether it may wait for mutations that are being
  /// reduced is the ``SnapshotPolicy``'s.
  ///
  /// `body` should be short. While it runs, its state stays alive and unchanged. With ``SnapshotPolicy/onDemand`` the owner
  /// waits for it before it reduces, so `body` must not wait for something that the reactor or its loop does. With
  /// the other policies the owner continues in another slot; if seven threads stayed inside their bodies, each with a
  /// different state, readers would see nothing newer until one of them leaves. `body` may send actions; they do not change
  /// the state that it was given. That state must not escape from `body`: copy what you need later, and return it.
  ///
  /// `body` gets a copy only before the first action and while the ``stub`` is enabled.
  ///
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  /// - Complexity: O(1), apart from `body`.
  @inlinable
  @inline(__always)
  public func withCurrentState<Result, E: Error>(
    _ body: (borrowing State) throws(E) -> Result
  ) throws(E) -> Result {
    defer { withExtendedLifetime(self) {} }
    if runtime.isStubbed { return try body(runtime.stubState(of: self)) }
    if Self.isDurable, let shown = runtime.runtimeToRead(of: self),
      let result = try shown.state.withValue(body, thenCheck: { shown.checkMailbox() })
    {
      return result
    }
    // On demand, a thread that reads does not become the owner. So what `body` sent to an idle reactor is processed when the
    // read has ended. Otherwise a reader may be the owner for a moment, and leaves the mailbox as every owner does.
    let result = try runtime.state.withValue(body, thenCheck: { runtime.acquireAndRunOrSchedule(self) })
    if let result { return result }
    return try body(initialState)
  }
}
