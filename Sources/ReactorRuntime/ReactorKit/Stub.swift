import ReactorCore

/// A replacement for a reactor in tests of views. It records the actions, and the test sets its state.
///
/// While ``Reactor/isStubEnabled`` is true, the reactor's `action`, `state` and `currentState` are those of the stub,
/// and the transforms, `mutate` and `reduce` do not run.
public struct Stub<R: Reactor>: Sendable {
  @usableFromInline let core: StubCore<R.Action, R.State>

  @usableFromInline
  init(_ core: StubCore<R.Action, R.State>) { self.core = core }

  /// The state. A value that is set here becomes `currentState` at once, and `state` emits it. Any thread.
  public var state: StateRelay<R.State> { core.state }

  /// The subject that receives the actions.
  public var action: ActionSubject<R.Action> { core.action }

  /// The actions that were sent while the stub was enabled, in their order. Any thread.
  public var actions: [R.Action] { core.recorded.withLock { $0 } }
}

/// The storage of a stub, generic over actions and states rather than over the reactor.
@usableFromInline
final class StubCore<Action: Sendable, State: Sendable>: Sendable {
  @usableFromInline let state: StateRelay<State>
  @usableFromInline let action = ActionSubject<Action>()
  let recorded = SystemMutex<[Action]>([])

  @usableFromInline
  init(_ state: State) {
    self.state = StateRelay(value: state)
    action.subscribe(onNext: { [recorded] action in recorded.withLock { $0.append(action) } })
  }
}

extension Reactor {
  /// Whether the ``stub`` replaces the reactor. Any thread. Actions that wait in the mailbox when it is set go to the
  /// stub, or to the reactor, as those that are sent afterwards.
  public var isStubEnabled: Bool {
    get { runtime.slowPathReasons.contains(.stubbed) }
    set {
      // Creates the stub before the flag directs actions to it.
      _ = stub
      if newValue { runtime.insert(.stubbed) } else { runtime.remove(.stubbed) }
    }
  }

  /// The reactor's stub, which is the same for each access. Reading it has no effect on the reactor. Any thread.
  public var stub: Stub<Self> { Stub(runtime.stubCore(of: self)) }
}

extension Runtime {
  /// Returns the storage of the reactor's stub. The first call creates it, with the current state.
  @usableFromInline
  func stubCore<R: Reactor<Action, Mutation, State>>(of reactor: R) -> StubCore<Action, State> {
    let pipeline = pipeline(of: reactor)
    return pipeline.stubReference.use { $0 }
      ?? pipeline.stubReference.setIfNil(StubCore(reactor.currentState))
  }
}
