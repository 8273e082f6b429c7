import ReactorCore

/// A reactor whose senders run its turns.
final class CallerReactorSubject: FanInSubject {
  private let reactor: TallyReactor

  init(_ setup: SubjectSetup) { reactor = TallyReactor(on: .caller, setup) }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { reactor.send(Item(producer: UInt64(producer), value: value)) }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    // The last sender to leave has left nothing behind.
    try quota.awaitProducers()
    return reactor.currentState.totals
  }
}
