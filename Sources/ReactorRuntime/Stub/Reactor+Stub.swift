import ReactorCore

extension Reactor {
  /// Whether the ``stub`` stands in for the reactor. Any thread; what is in the mailbox at that moment goes
  /// where the rest goes.
  public var isStubEnabled: Bool {
    get { runtime.detours.contains(.stubbed) }
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
