import ReactorCore

/// A reactor that does something at the end of each of its turns: flushes what the turn has written, or commits it.
///
/// ```swift
/// final class Ledger: TurnObserving {
///   func turnEnded(_ state: borrowing State) { file.flush() }
///   …
/// }
/// ```
///
/// It is a protocol of its own so that the compiler refuses a misspelt method, and a turn of any other reactor pays
/// nothing for it.
public protocol TurnObserving: Reactor {
  /// Called after each turn that took something from the mailbox, or processed an action on the thread that sent it.
  ///
  /// The owner calls it, in the order of the turns. Other threads can read the state already. It comes before the replies
  /// that the turn gave reach their askers, and before the next turn; so what it does is done when an asker gets its
  /// reply. It may send, and use replies, as `mutate` may: such an action waits for the next turn. It should not block.
  ///
  /// Of a durable reactor (product ReactorJournal), the state and what the turn has recorded are not durable yet, and other threads
  /// may not see the state. Replies that are used here wait for the disk; nothing else does.
  ///
  /// How many actions a turn has is up to the runtime, so this groups the work of as many actions as came together.
  ///
  /// - Parameter state: The state after the turn.
  func turnEnded(_ state: borrowing State)
}

extension TurnObserving {
  /// Made when the reactor starts. It retains neither the reactor nor the runtime.
  func makeTurnHook() -> @Sendable () -> Void {
    let (runtime, reactor) = (UncountedReference(runtime), UncountedReference(self))
    return {
      runtime.use { runtime in reactor.use { reactor in runtime.state.withValue { reactor.turnEnded($0) } } }
    }
  }
}

extension Runtime {
  /// Makes the runtime call the reactor, which is ``TurnObserving``, at the end of each turn. The owner, at the start.
  func bindTurnObserver(of reactor: any AnyObject & Sendable) {
    guard let observing = reactor as? any TurnObserving else { return }
    ensureExtras().turnHook = observing.makeTurnHook()
    // On a loop, its thread does so.
    if loop == nil { mailbox.turnEnds.markObserved() }
  }
}
