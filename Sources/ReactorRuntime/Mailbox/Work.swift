/// What waits in a mailbox.
@usableFromInline
enum Work<Action: Sendable>: Sendable {
  case action(Action)
  case step(Step)

  @inlinable var isAction: Bool { if case .action = self { true } else { false } }
}

/// Something other than an action that only the owner may do, in a turn: reducing a mutation that a stream
/// emitted elsewhere, or adding an observer.
///
/// An object, so that it takes no more room in each slot of a mailbox than a small action does.
@usableFromInline
final class Step: Sendable {
  @usableFromInline let run: @Sendable () -> Void
  /// Called in place of `run` if the reactor does not accept it; without a reason if the reactor is gone.
  @usableFromInline let lose: @Sendable (SendError?) -> Void

  @usableFromInline
  init(
    _ run: @escaping @Sendable () -> Void, orLose lose: @escaping @Sendable (SendError?) -> Void = { _ in }
  ) {
    self.run = run
    self.lose = lose
  }
}
