import ReactorCore

/// ReactorKit's unidirectional state for services: an action becomes mutations, mutations change the state.
///
/// Actions may be sent from any thread. One at a time goes through ``mutate(action:)`` and
/// ``reduce(into:mutation:)``, on the thread that the ``Runtime``'s placement says.
///
/// Conform a `final class`: then the whole way of an action specialises, and the calls of `mutate` and
/// `reduce` are direct.
public protocol Reactor: AnyObject, Sendable {
  associatedtype Action: Sendable
  associatedtype Mutation: Sendable = Action
  associatedtype State: Sendable
  /// The core that the runtime stands on; it follows from the type of ``runtime``.
  associatedtype Backing: Core

  /// The state before the first action. Read once for the first send, on its thread, and by every
  /// ``currentState`` before that.
  var initialState: State { get }

  /// What makes a reactor of the object: a stored constant, `let runtime = Runtime<…>(on: …)`.
  var runtime: RuntimeOn<Backing, Action, Mutation, State> { get }

  /// What an action does to the state, as mutations. Runs on the owner; may send to any reactor, this one
  /// included: such an action waits for the running one. Without it, actions that are mutations are passed
  /// on, and others have no effect.
  func mutate(action: Action) -> Observable<Mutation>

  /// Applies a mutation to the state in place. Runs on the owner. Without it,
  /// ``reduce(state:mutation:)`` is used.
  func reduce(into state: inout State, mutation: Mutation)

  /// The state after a mutation: ReactorKit's form. Without it, the state stays as it is.
  func reduce(state: State, mutation: Mutation) -> State
}

extension Reactor {
  @inlinable
  public func mutate(action: Action) -> Observable<Mutation> { .empty() }

  @inlinable
  public func reduce(state: State, mutation: Mutation) -> State { state }

  @inlinable
  public func reduce(into state: inout State, mutation: Mutation) {
    state = reduce(state: state, mutation: mutation)
  }
}

extension Reactor where Action == Mutation {
  @inlinable
  public func mutate(action: Action) -> Observable<Mutation> { .just(action) }
}

extension Reactor {
  /// Sends an action. Any thread.
  ///
  /// On placement ``PlacementOn/caller`` an idle reactor processes it before this returns, and with it what
  /// others send meanwhile; a busy one takes it into its mailbox, and so does one whose mailbox holds an
  /// action that another thread has not finished putting there. Every other placement takes it into the
  /// mailbox. While the mailbox is full this waits: it spins, yields,
  /// then sleeps. From inside one of this reactor's own turns, or a turn of another reactor on the same loop, it
  /// never waits: the action is processed after the running one.
  ///
  /// An action that cannot be delivered reaches the failure handler of the ``Runtime``.
  @inlinable
  @inline(__always)
  public func send(_ action: Action) { runtime.send(action, to: self) }

  /// Sends an action if that is possible without waiting for room; otherwise as ``send(_:)``. Any thread.
  ///
  /// - Throws: ``SendError/full``, ``SendError/closed`` or ``SendError/reentrantOverflow``; the action was
  ///   not accepted then.
  @inlinable
  public func trySend(_ action: Action) throws(SendError) { try runtime.trySend(action, to: self) }

  /// A whole state, from any thread and without waiting: what the last turn left, or published on its way.
  ///
  /// After a send that ran at once (placement ``PlacementOn/caller``, idle) it contains that action. Inside
  /// `mutate` it contains everything before the running action's next mutation; inside `reduce` it is a state
  /// before this turn. Before the first action it is ``initialState``.
  @inlinable
  public var currentState: State { runtime.state.read() ?? initialState }
}
