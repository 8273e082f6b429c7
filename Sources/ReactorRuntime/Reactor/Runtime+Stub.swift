import ReactorCore

/// Switching between the reactor and its stub. Any thread.
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
  func enableStub<R: Reactor<Action, Mutation, State>>(of reactor: R) {
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

  func disableStub() {
    remove(.stubbed)
    // What was set until now has had its effect.
    pipelineReference.use { pipeline in pipeline.stubReference.use { $0.isSet.withLock { $0 = false } } }
  }
}
