import ReactorCore

/// What a sender does that found the mailbox full. ``OverflowPolicy`` decides whether it waits.
extension Runtime {
  /// Decides what becomes of something for which there was no room. Any thread.
  @usableFromInline
  @inline(never)
  func resolveOverflow(for work: Work<Action>, _ wait: SendWait) -> OverflowOutcome {
    mailbox.resolveOverflow(
      for: work, wait, policy,
      onKeeping: {
        #if DEBUG
          checkRoom()
        #endif
      }, drop: { reportDropped($0) })
  }

  /// Drops what is in the place of an action that was dropped in favour of a newer one, and counts it; runs a step that is no action.
  /// The owner.
  @usableFromInline
  @inline(never)
  func drop(_ work: Work<Action>, counting count: inout Int) {
    switch work {
    case .action(let action):
      reportDropped(action)
    case .step(let step):
      guard step.isAction else { return step.run() }
      mailbox.ensureOverflow()?.countDropped()
      step.discard(.dropped)
    }
    count += 1
  }

  /// Reports an action that is dropped in favour of a newer one, or the newer one itself, and counts it. Any thread.
  private func reportDropped(_ action: Action) {
    mailbox.ensureOverflow()?.countDropped()
    reportRefused(action, .dropped)
  }

  /// Reports an action that was not accepted. Any thread.
  @usableFromInline
  func reportRefused(_ action: Action, _ reason: SendError) {
    report(.actionNotDelivered(reason), action)
  }

  /// Treats an action whose step was refused as the ``OverflowPolicy`` says: the mailbox applies the policies to actions only. Any
  /// thread.
  ///
  /// - Returns: Whether the action was sent without the step.
  @usableFromInline
  @inline(never)
  @discardableResult
  func reportOrSendRefused<R: Reactor<Action, Mutation, State>>(
    _ action: Action, _ reason: SendError, to reactor: R
  ) -> Bool {
    switch (reason, policy) {
    case (.full, .dropOldest):
      send(action, to: reactor)
      return true
    case (.full, .dropNewest):
      reportDropped(action)
    default: reportRefused(action, reason)
    }
    return false
  }
}
