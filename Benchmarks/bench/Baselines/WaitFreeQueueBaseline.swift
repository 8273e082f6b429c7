import CBenchmarkLimits

/// liburcu's wfcqueue, one malloc'ed node per item: the peer for rings without a reactor.
///
/// `@unchecked Sendable`: `enqueue` may be called from any thread, and only `awaitTotals` drains.
final class WaitFreeQueueBaseline: FanInSubject, @unchecked Sendable {
  static let mostItems: Int? = 2_000_000
  private static let batch = 256

  private let queue: OpaquePointer
  private var tally: Tally

  init(_ setup: SubjectSetup) throws {
    guard let queue = bl_wfcqueue_create() else { throw SubjectFailure("out of memory") }
    self.queue = queue
    tally = Tally(inspector: setup.inspector)
  }

  deinit {
    bl_wfcqueue_destroy(queue)
  }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values {
      guard bl_wfcqueue_enqueue(queue, bl_item(producer: UInt64(producer), value: value)) else {
        preconditionFailure("out of memory")
      }
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try withUnsafeTemporaryAllocation(of: bl_item.self, capacity: Self.batch) { items in
      try quota.poll(into: &tally) { tally in
        let count = bl_wfcqueue_drain(queue, items.baseAddress, Self.batch)
        for item in items.prefix(count) { tally.reduce(Item(producer: item.producer, value: item.value)) }
        return count > 0
      }
    }
  }
}
