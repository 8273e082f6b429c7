import ReactorCore

/// The ownership word of either core alone: each producer acquires it, reduces one item and releases it. No mailbox:
/// a producer that finds it owned tries again.
final class OwnershipSubject<C: Core>: FanInSubject, @unchecked Sendable {
  // Unchecked: the tally is touched by the owner only.
  private let trampoline: C.Trampoline
  private var tally: Tally

  init(_ setup: SubjectSetup) throws {
    trampoline = try C.Trampoline(payload: 0)
    tally = Tally(inspector: setup.inspector)
    _ = trampoline.tryInitialize(C.threadToken)
    trampoline.release(slot: 0)
  }

  deinit { trampoline.destroy() }

  func produce(producer: Int, values: Range<UInt64>) {
    let token = C.threadToken
    for value in values {
      while !trampoline.tryAcquire(token) { FullWait.yield() }
      tally.reduce(Item(producer: UInt64(producer), value: value))
      trampoline.release(slot: 0)
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    return tally.totals
  }
}
