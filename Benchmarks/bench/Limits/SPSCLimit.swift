import CBenchmarkLimits

/// The textbook single-producer ring, which publishes every item: what a hand-over between two cores costs.
///
/// `@unchecked Sendable`: one producer pushes, and only `awaitTotals` pops.
final class SPSCLimit: FanInSubject, @unchecked Sendable {
  private let queue: OpaquePointer
  private let inspector: Inspector?

  init(_ setup: SubjectSetup) throws {
    guard let queue = bl_spsc_create(setup.capacity) else { throw SubjectFailure("out of memory") }
    self.queue = queue
    inspector = setup.inspector
  }

  deinit {
    bl_spsc_destroy(queue)
  }

  func produce(producer: Int, values: Range<UInt64>) {
    var idle = IdleWait()
    for value in values {
      while !bl_spsc_push(queue, bl_item(producer: UInt64(producer), value: value)) { _ = idle.wait() }
      idle.reset()
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    var tally = Tally(inspector: inspector)
    return try quota.poll(into: &tally) { tally in
      var item = bl_item()
      guard bl_spsc_pop(queue, &item) else { return false }
      repeat {
        tally.reduce(Item(producer: item.producer, value: item.value))
      } while bl_spsc_pop(queue, &item)
      return true
    }
  }
}
