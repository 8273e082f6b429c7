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

extension Runtime {
  /// Returns the storage of the reactor's stub. The first call creates it, with the current state.
  @usableFromInline
  func ensureStub<R: Reactor<Action, Mutation, State>>(of reactor: R) -> StubCore<Action, State> {
    let pipeline = ensurePipeline(of: reactor)
    return pipeline.stubReference.use { $0 }
      ?? pipeline.stubReference.setIfNil(StubCore(reactor.currentState))
  }

  /// Returns the state of the reactor's stub. Not inlinable: it is rarely called, and would be compiled at each read.
  @usableFromInline
  func stubState<R: Reactor<Action, Mutation, State>>(of reactor: R) -> State {
    ensureStub(of: reactor).state.value
  }

  /// Does nothing if the stub is enabled.
  fileprivate func enableStub<R: Reactor<Action, Mutation, State>>(of reactor: R) {
    if isStubbed { return }
    let pipeline = ensurePipeline(of: reactor)
    if let stub = pipeline.stubReference.use({ $0 }) {
      // Not if the test has said what the state is.
      if !stub.isSet.withLock({ $0 }) { stub.state.accept(reactor.currentState) }
    } else {
      // Made with that state, before the stage directs actions to it.
      _ = ensureStub(of: reactor)
    }
    insert(.stubbed)
  }

  fileprivate func disableStub() {
    remove(.stubbed)
    // What was set until now has had its effect.
    pipelineReference.use { pipeline in pipeline.stubReference.use { $0.isSet.withLock { $0 = false } } }
  }
}
