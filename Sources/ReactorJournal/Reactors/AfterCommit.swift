import ReactorCore
import ReactorRuntime

extension ObservableType where Element: JournalRecord {
  /// A mutation, and what happens when it is durable: `return .afterCommit(.paid(invoice)) { mailer.send(receipt) }`.
  ///
  /// Call it in the `mutate` of a ``DurableReactor``, which calls it in a turn. Elsewhere nothing waits for the journal: in a turn
  /// of another reactor the effect runs at the end of that turn, and outside of turns at once.
  ///
  /// The effect runs once, usually on the journal's thread. It must not block. It does not run if the process or the journal ends
  /// before: what must happen even then belongs into the state, and is tried again after ``DurableReactor/recover(progress:)``.
  public static func afterCommit(
    _ mutation: Element, _ effect: @escaping @Sendable () -> Void
  ) -> Observable<Element> {
    CommitEffect(effect).runAfterTurn()
    return .just(mutation)
  }
}

private final class CommitEffect: TurnEnd, @unchecked Sendable {
  // Unchecked like its superclass; the closure is constant.
  private let effect: @Sendable () -> Void

  init(_ effect: @escaping @Sendable () -> Void) {
    self.effect = effect
    super.init()
  }

  override var waitsForJournal: Bool { true }

  override func run() { effect() }

  override func refuse(_ error: any Error) {}
}
