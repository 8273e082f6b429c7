import ReactorCore

extension Runtime {
  /// Returns the last state of a reactor that has ended. Any thread.
  ///
  /// Not ``Reactor/currentState``: that is an earlier one as long as readers keep the last one from being published. Then the calling
  /// thread becomes the owner for a moment. If another thread remains the owner for long, because it runs a new observer of a reactor
  /// that has ended, this returns what readers see.
  @inlinable
  @inline(never)
  func copyLastState<R: Reactor<Action, Mutation, State>>(of reactor: R) -> State {
    // With one place everybody reads the last state, and so does its owner.
    if isStubbed || state.hasOnePlace || state.isOwner || state.wasDeferredCount == 0 {
      return reactor.currentState
    }
    for _ in 0..<1000 {
      if state.tryAcquire() {
        let last = state.current
        state.release()
        // Another thread may have relied on this owner.
        if !mailbox.isInboundEmptyAfterRelease { acquireAndRunOrSchedule(reactor) }
        return last
      }
      DedicatedThread.yield()
    }
    return reactor.currentState
  }
}
