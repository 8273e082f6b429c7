import ReactorCore

extension Reactor {
  /// Sends an action as ``send(_:)``, and calls `body` when it was processed: in its turn, after `mutate` and after the mutations
  /// that were known then have been reduced, also if there were none. Calls `body` as well if the action is refused or discarded,
  /// on the thread that does so. Any thread.
  ///
  /// With ``OverflowPolicy/dropOldest``, `body` is not called for an action that finds no room.
  ///
  /// - Parameters:
  ///   - action: The action.
  ///   - body: Called once.
  package func send(_ action: Action, whenProcessed body: @escaping @Sendable () -> Void) {
    runtime.send(action, to: self, whenProcessed: body)
  }
}

extension Runtime {
  /// Sends an action inside of a step, which knows when it was processed. Any thread.
  func send<R: Reactor<Action, Mutation, State>>(
    _ action: Action, to reactor: R, whenProcessed body: @escaping @Sendable () -> Void
  ) {
    let report = reporterOfLostAction(action)
    // What runs a step holds both.
    let step = ClosureStep(
      { [unowned self, unowned reactor] in
        process(action, of: reactor)
        body()
      },
      orDiscard: { reason in
        report(reason)
        body()
      })
    guard let reason = enqueueUnlessLoopIsClosed(step, to: reactor) else { return }
    if !reportOrSendRefused(action, reason, to: reactor) { body() }
  }

  private func enqueueUnlessLoopIsClosed<R: Reactor<Action, Mutation, State>>(
    _ step: Step, to reactor: R
  ) -> SendError? {
    // Without this check, the mailbox would accept it first, and discard it.
    if withLoop({ $0.isClosed && !$0.runsTurnsHere }) == true { return .closed }
    return enqueue(step, to: reactor, policy == .block ? .byPolicy : .never)
  }
}
