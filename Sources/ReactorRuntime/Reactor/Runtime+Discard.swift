import ReactorCore

/// What happens when nobody runs turns any more: actions that were accepted and then found the loop closed
/// are destroyed, and each is reported.
extension Runtime {
  /// Nobody will process what is inside. Whoever scheduled, and was refused by the loop.
  @usableFromInline
  func discardAll() {
    var discarded: [Work<Action>] = []
    var hasAll = true
    var isDone = false
    state.begin()
    closeOnLoop()
    repeat {
      // What the loop's thread sent from its turns is that thread's to touch, until it has run its last turn.
      hasAll = loop?.ending.isOver != false
      discarded += hasAll ? mailbox.removeAll() : mailbox.removeFromRing()
      isDone = hasAll && mailbox.isEmpty
      state.leave()
    } while reenters()
    // Not as the owner: the handler may send to this reactor again.
    for work in discarded { lose(work, .closed) }
    // Else who is on the way in comes here, too.
    if isDone { end() }
    if !hasAll {
      loop?.ending.whenOver { [self] in
        // Refused: somebody else discards, who comes here too if need be.
        if state.trySchedule() { discardAll() }
      }
    }
  }

  /// Runs a step of a reactor that accepts nothing any more: its observers still come and go. Any thread.
  @usableFromInline
  func performThoughClosed<R: Reactor<Action, Mutation, State>>(_ step: Step, of reactor: R) {
    if let loop, loop.isClosed, !loop.ending.isOver {
      // What was accepted is still processed.
      return loop.ending.whenOver { [self] in performThoughClosed(step, of: reactor) }
    }
    guard state.tryEnter() else { return step.lose(.closed) }
    TurnMark.enter()
    step.run()
    TurnMark.leave()
    if loop == nil { return runTurns(of: reactor) }
    state.leave()
    // Whoever found this thread to be the owner has left it something.
    runOrSchedule(reactor)
  }
}
