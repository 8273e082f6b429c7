/// A pthread mutex around the state; producers reduce themselves.
///
/// `@unchecked Sendable`: `tally` is touched only under `mutex`.
final class PthreadMutexBaseline: FanInSubject, @unchecked Sendable {
  private let mutex = PthreadMutex()
  private let tally: UnsafeMutablePointer<Tally>

  init(_ setup: SubjectSetup) {
    tally = .allocate(capacity: 1)
    tally.initialize(to: Tally(inspector: setup.inspector))
  }

  deinit {
    tally.deallocate()
  }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values {
      let item = Item(producer: UInt64(producer), value: value)
      mutex.withLock { tally.pointee.reduce(item) }
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    return mutex.withLock { tally.pointee.totals }
  }
}
