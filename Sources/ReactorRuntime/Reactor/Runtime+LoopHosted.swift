import ReactorCore

/// What the thread of a loop calls.
extension Runtime {
  /// The only way from a loop to the reactor. Not retained: whoever calls it holds the reactor.
  @inlinable
  func makeServe<R: Reactor<Action, Mutation, State>>(_ reactor: R) -> @Sendable (LoopCall) -> Int {
    let (runtime, reactor) = (UncountedReference(self), UncountedReference(reactor))
    return { call in
      runtime.use { runtime in
        if call == .turn { return reactor.use { runtime.turnOnLoop(of: $0) } }
        return runtime.serve(call)
      }
    }
  }

  /// Whoever took the schedule.
  @inlinable
  func scheduled(_ reactor: any AnyObject & Sendable) -> Scheduled {
    Scheduled(ObjectIdentifier(self), of: reactor, served.value.serve)
  }

  @inlinable
  @inline(__always)
  func turnOnLoop<R: Reactor<Action, Mutation, State>>(of reactor: R) -> Int {
    loop?.setRunning(ObjectIdentifier(self))
    defer { loop?.setRunning(nil) }
    return turn(of: reactor)
  }

  @inlinable
  func serve(_ call: LoopCall) -> Int {
    switch call {
    case .begin: state.begin()
    case .suspend: state.reschedule()
    case .close: closeOnLoop()
    case .leave: return leaveLoop() ? 1 : 0
    case .count: return counters.waiting
    case .turn: preconditionFailure("a turn is run with the reactor")
    }
    return 0
  }

  @usableFromInline
  func closeOnLoop() {
    if !mailbox.ring.isClosed { Tracepoint.close(self) }
    mailbox.ring.close()
    mailbox.overflow.use { $0.notifyAll() }
  }

  /// After a turn that was not cut short. The owner, who is not afterwards if it answers true.
  @inlinable
  func leaveLoop() -> Bool {
    // Who was told of an end, or of a long turn, after the turn's last look may have sent.
    if !mailbox.reentrant.isEmpty, mailbox.isEmpty { return false }
    state.leave()
    return !reenters()
  }
}
