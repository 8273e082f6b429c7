import ReactorCore

/// What stands in for a reactor while a view is tested: it records the actions, and its states are set by the
/// test.
///
/// While ``Reactor/isStubEnabled`` is true, `action`, `state` and `currentState` are those of the stub, and
/// neither the transforms nor `mutate` nor `reduce` run.
public struct Stub<R: Reactor>: Sendable {
  @usableFromInline let core: StubCore<R.Action, R.State>

  @usableFromInline
  init(_ core: StubCore<R.Action, R.State>) { self.core = core }

  /// The states: what is set here is at once `currentState`, and what `state` emits. Any thread.
  public var state: StateRelay<R.State> { core.state }

  /// Where the actions go.
  public var action: ActionSubject<R.Action> { core.action }

  /// The actions that were sent while the stub was enabled, in order. Any thread.
  public var actions: [R.Action] { core.recorded.withLock { $0 } }
}

/// What the stubs of all reactors with the same actions and states have.
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
  /// Whether the ``stub`` stands in for the reactor. Any thread; what is in the mailbox at that moment goes
  /// where the rest goes.
  public var isStubEnabled: Bool {
    get { runtime.slowPathReasons.contains(.stubbed) }
    set {
      // It must be there before an action looks for it.
      _ = stub
      if newValue { runtime.insert(.stubbed) } else { runtime.remove(.stubbed) }
    }
  }

  /// The reactor's stub: the same each time. Touching it changes nothing. Any thread.
  public var stub: Stub<Self> { Stub(runtime.stubCore(of: self)) }
}

extension Runtime {
  /// Made at the first call, with the state of that moment.
  @usableFromInline
  func stubCore<R: Reactor<Action, Mutation, State>>(of reactor: R) -> StubCore<Action, State> {
    let pipeline = pipeline(of: reactor)
    return pipeline.stubReference.use { $0 }
      ?? pipeline.stubReference.setIfNil(StubCore(reactor.currentState))
  }
}
