import Synchronization

/// `Synchronization.Mutex` around the state; producers reduce themselves.
final class MutexBaseline: FanInSubject {
  /// Short, since this mutex can fall to a thousandth of its speed when threads outnumber cores, and time
  /// limits are looked at between chunks.
  static let chunk = 512

  private let state: Mutex<Tally>

  init(_ setup: SubjectSetup) {
    state = Mutex(Tally(inspector: setup.inspector))
  }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values {
      let item = Item(producer: UInt64(producer), value: value)
      state.withLock { $0.reduce(item) }
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    return state.withLock { $0.totals }
  }
}
