import CBenchmarkLimits

/// Producers append to an array under a mutex; one consumer swaps it for an empty one and reduces that.
///
/// `@unchecked Sendable`: `pending` and `isAsleep` are touched only under `mutex`, `taken` and `tally` only
/// by the thread that calls `awaitTotals`.
final class SwappedArrayBaseline: FanInSubject, @unchecked Sendable {
  static let mostItems: Int? = 2_000_000
  private static let looks = 256

  private let mutex = PthreadMutex()
  private let mode: ConsumerMode
  private var pending: [Item] = []
  private var isAsleep = false
  private var taken: [Item] = []
  private var tally: Tally

  init(_ setup: SubjectSetup) {
    mode = setup.consumer
    tally = Tally(inspector: setup.inspector)
    pending.reserveCapacity(setup.capacity)
    taken.reserveCapacity(setup.capacity)
  }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values {
      let item = Item(producer: UInt64(producer), value: value)
      let wakes = mutex.withLock {
        pending.append(item)
        return isAsleep
      }
      if wakes { mutex.signal() }
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    var idle = 0
    while tally.count < quota.total {
      if swap(mayWait: mode == .parked || (mode == .spinning && idle >= Self.looks)) {
        for item in taken { tally.reduce(item) }
        taken.removeAll(keepingCapacity: true)
        idle = 0
      } else {
        idle += 1
        bl_pause()
        if idle.isMultiple(of: Self.looks) { try quota.checkDeadline(reduced: tally.count) }
      }
    }
    return tally.totals
  }

  /// Takes what is pending, if need be after a sleep; false if there was nothing.
  private func swap(mayWait: Bool) -> Bool {
    mutex.withLock {
      if pending.isEmpty, mayWait {
        isAsleep = true
        mutex.wait()
        isAsleep = false
      }
      Swift.swap(&pending, &taken)
      return !taken.isEmpty
    }
  }
}
