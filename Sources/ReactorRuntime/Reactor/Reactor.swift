import ReactorCore
import Synchronization

/// ReactorKit's unidirectional state for services: an action becomes mutations, mutations change the state.
///
/// Actions may be sent from any thread. One at a time goes through ``mutate(action:)`` and
/// ``reduce(into:mutation:)``, on the thread that the ``Runtime``'s placement says.
///
/// Conform a `final class`: then the whole way of an action specialises, and the calls of `mutate` and
/// `reduce` are direct.
public protocol Reactor<Action, Mutation, State>: AnyObject, Sendable {
  associatedtype Action: Sendable
  associatedtype Mutation: Sendable = Action
  associatedtype State: Sendable

  /// The state before the first action. Read once for the first send, on its thread, and by every
  /// ``currentState`` before that.
  var initialState: State { get }

  /// What makes a reactor of the object: a stored constant, `let runtime = Runtime<…>(on: …)`.
  var runtime: Runtime<Action, Mutation, State> { get }

  /// Where the reactor expects its actions, if it does: nil without it. Read once, at the start, by debug
  /// builds only, which warn if an action, an observer of ``state`` or a stream is elsewhere: see
  /// ``Warning``. It changes nothing; what does is the placement of the ``runtime``.
  var expectedThread: ExpectedThread? { get }

  /// What an action does to the state, as mutations. Runs on the owner; may send to any reactor, this one
  /// included: such an action waits for the running one. Without it, actions that are mutations are passed
  /// on, and others have no effect.
  func mutate(action: Action) -> Observable<Mutation>

  /// Applies a mutation to the state in place. Runs on the owner. Without it,
  /// ``reduce(state:mutation:)`` is used.
  func reduce(into state: inout State, mutation: Mutation)

  /// The state after a mutation: ReactorKit's form. Without it, the state stays as it is.
  func reduce(state: State, mutation: Mutation) -> State

  /// What the actions become before they reach `mutate`. Called once, when the reactor is first touched, with
  /// the stream of all actions; what it answers may emit from any thread. If that ends, the reactor is
  /// closed.
  func transform(action: Observable<Action>) -> Observable<Action>

  /// What the mutations become before they are reduced: the place to merge other streams in. Otherwise as
  /// ``transform(action:)``.
  func transform(mutation: Observable<Mutation>) -> Observable<Mutation>

  /// What the states become before they are seen, by ``state`` and ``currentState``; `reduce` goes on from
  /// the state that this was given. Otherwise as ``transform(action:)``.
  func transform(state: Observable<State>) -> Observable<State>
}

extension Reactor {
  public var expectedThread: ExpectedThread? { nil }

  @inlinable
  public func mutate(action: Action) -> Observable<Mutation> { .empty() }

  @inlinable
  public func reduce(state: State, mutation: Mutation) -> State { state }

  @inlinable
  public func reduce(into state: inout State, mutation: Mutation) {
    // From the next mutation on the runtime calls the other form itself, so that the state before can be read
    // inside of it.
    runtime.reducesByValue.store(true, ordering: .relaxed)
    state = reduce(state: state, mutation: mutation)
  }

  @inlinable
  public func transform(action: Observable<Action>) -> Observable<Action> { action }

  @inlinable
  public func transform(mutation: Observable<Mutation>) -> Observable<Mutation> { mutation }

  @inlinable
  public func transform(state: Observable<State>) -> Observable<State> { state }
}

extension Reactor where Action == Mutation {
  @inlinable
  public func mutate(action: Action) -> Observable<Mutation> { .just(action) }
}

extension Reactor {
  /// Sends an action. Any thread.
  ///
  /// On placement ``Placement/caller`` an idle reactor processes it before this returns, and with it what
  /// others send meanwhile; a busy one takes it into its mailbox, and so does one whose mailbox holds an
  /// action that another thread has not finished putting there. Every other placement takes it into the
  /// mailbox. While the mailbox is full this does what the ``OverflowPolicy`` says: without another one it
  /// waits, spins, yields, then sleeps. From inside a turn it never waits: what goes to this reactor from one
  /// of its own turns, or of another reactor's on the same loop, is processed after the running one; what
  /// goes to another reactor with a full mailbox is kept beside that. Turns nest only until half of the
  /// thread's stack is used; then another thread goes on.
  ///
  /// An action that cannot be delivered reaches the failure handler of the ``Runtime``.
  @inlinable
  @inline(__always)
  public func send(_ action: Action) { runtime.send(action, to: self) }

  /// Sends an action if that is possible without waiting for room; otherwise as ``send(_:)``. Any thread.
  ///
  /// - Throws: ``SendError/full``, ``SendError/closed``, ``SendError/reentrantOverflow`` or
  ///   ``SendError/outOfMemory``; the action was not accepted then.
  @inlinable
  public func trySend(_ action: Action) throws(SendError) { try runtime.trySend(action, to: self, .none) }

  /// Sends an action, and waits for room at most until `deadline`, whatever the ``OverflowPolicy`` says. Any
  /// thread; from inside a turn it does not wait, as ``send(_:)``.
  ///
  /// - Throws: ``SendError``, also ``SendError/timedOut``; the action was not accepted then.
  @inlinable
  public func send(_ action: Action, before deadline: ContinuousClock.Instant) throws(SendError) {
    try runtime.trySend(action, to: self, .until(deadline))
  }

  /// Sends an action; while there is no room, the task is suspended, and blocks no thread. Whatever the
  /// ``OverflowPolicy`` says. Any task.
  ///
  /// - Parameters:
  ///   - action: The action.
  ///   - deadline: When to give up; nil: never.
  /// - Throws: ``SendError``, also ``SendError/cancelled`` if the task is cancelled before the action was
  ///   accepted, and ``SendError/timedOut``; the action was not accepted then.
  @inlinable
  public func sendSuspending(
    _ action: Action, before deadline: ContinuousClock.Instant? = nil
  ) async throws(SendError) {
    try await runtime.sendSuspending(action, to: self, before: deadline)
  }

  /// Where actions go, and where they can be observed: `action.onNext(.increase)`, `taps.bind(to:
  /// reactor.action)`. Any thread. The same object each time; it does not retain the reactor.
  @inlinable
  public var action: ActionSubject<Action> {
    isStubEnabled ? stub.action : runtime.touch(self) { $0.action }
  }

  /// The states: the newest at the subscription, if there is one, then each state after each mutation, equal
  /// ones too. Never ends, not even with the reactor, which it does not retain.
  ///
  /// Observers are called by the reactor's owner, in the order in which they subscribed, after
  /// ``currentState`` has changed. On placement ``Placement/caller`` an idle reactor calls a new observer
  /// before the subscription returns; everywhere else that, too, happens in a turn. Any thread may subscribe
  /// and dispose. Subscribing waits for room in the mailbox, with every ``OverflowPolicy``; where that is
  /// impossible, the subscription fails with the ``SendError``. Of a closed reactor there is only the newest
  /// state.
  @inlinable
  public var state: Observable<State> {
    isStubEnabled ? stub.state.asObservable() : runtime.touch(self) { $0.states.observable }
  }

  /// Whether the reactor accepts nothing any more: ``close(_:)`` was called, its loop was shut down, or one of
  /// its transforms has ended. Any thread; false may be stale.
  @inlinable
  public var isClosed: Bool { runtime.mailbox.ring.isClosed || runtime.loop?.isClosed == true }
}

extension Reactor {
  /// A whole state, from any thread and without waiting: what the last turn left, or published on its way.
  ///
  /// After a send that ran at once (placement ``Placement/caller``, idle) it contains that action. Inside
  /// `mutate` it contains everything before the running action's next mutation; inside
  /// ``reduce(state:mutation:)`` it is the state before; inside ``reduce(into:mutation:)``, a state before
  /// this turn. Before the first action it is ``initialState``.
  @inlinable
  public var currentState: State {
    if runtime.slowPathReasons.contains(.stubbed) { return stub.state.value }
    return runtime.state.read() ?? initialState
  }

  /// Calls `body` with the state that ``currentState`` would answer, without copying or retaining it:
  /// `reactor.withCurrentState { $0.items.count }`. Any thread; never waits for the owner.
  ///
  /// `body` should be short. While it runs, the state that it was given stays alive and as it is, and the owner
  /// goes on elsewhere; if seven threads stayed inside their bodies, each with another state, readers would see
  /// nothing newer. `body` may send actions; they do not change what it was given. What it was given must not
  /// escape: what is needed later is copied out, as the result.
  ///
  /// Only before the first action, and while the ``stub`` stands in, `body` gets a copy.
  ///
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  /// - Complexity: O(1), apart from `body`.
  @inlinable
  @inline(__always)
  public func withCurrentState<Result, E: Error>(
    _ body: (borrowing State) throws(E) -> Result
  ) throws(E) -> Result {
    if runtime.slowPathReasons.contains(.stubbed) { return try body(stub.state.value) }
    if let result = try runtime.state.withValue(body) { return result }
    return try body(initialState)
  }
}
