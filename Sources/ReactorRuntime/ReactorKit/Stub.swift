import ReactorCore

/// A replacement for a reactor in tests of views. It records the actions, and the test sets its state.
///
/// While ``Reactor/isStubEnabled`` is true, the reactor's `action`, `state` and `currentState` are those of the stub,
/// and the transforms, `mutate` and `reduce` do not run.
public struct Stub<R: Reactor>: Sendable {
  @usableFromInline let core: StubCore<R.Action, R.State>
  /// The reactor that it replaces; not retained.
  package weak let reactor: R?

  init(_ core: StubCore<R.Action, R.State>, of reactor: R) {
    self.core = core
    self.reactor = reactor
  }

  /// The state. While the stub is enabled, a value that is set here becomes `currentState` at once, and `state` emits it. While it
  /// is disabled, such a value becomes `currentState` when it is enabled next. Any thread.
  public var state: StateRelay<R.State> { core.state }

  /// The subject that receives the actions.
  public var action: ActionSubject<R.Action> { core.action }

  /// The actions that were sent while the stub was enabled, in their order. Any thread.
  public var actions: [R.Action] { core.recorded.withLock { $0 } }
}

extension Reactor {
  /// Whether the ``stub`` replaces the reactor. Any thread. Actions that wait in the mailbox when it is set go to the
  /// stub, or to the reactor, as those that are sent afterwards.
  ///
  /// Enabling the stub keeps ``currentState``, which becomes the stub's state, unless that was set while it was disabled.
  public var isStubEnabled: Bool {
    get { runtime.isStubbed }
    set { if newValue { runtime.enableStub(of: self) } else { runtime.disableStub() } }
  }

  /// The reactor's stub, which is the same for each access. Reading it has no effect on the reactor. Any thread.
  public var stub: Stub<Self> { Stub(runtime.ensureStub(of: self), of: self) }
}
