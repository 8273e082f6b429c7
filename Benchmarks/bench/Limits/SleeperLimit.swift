import CBenchmarkLimits

/// A thread that sleeps on a bare futex and is woken for each item: what waking one costs. Whether it did
/// sleep, and no item came before it could, is told by the part `sleeps` of its results.
///
/// `@unchecked Sendable`: one producer sends, and only `awaitTotals` receives.
final class SleeperLimit: FanInSubject, @unchecked Sendable {
  private let sleeper: OpaquePointer
  private let inspector: Inspector?

  init(_ setup: SubjectSetup) throws {
    guard let sleeper = bl_sleeper_create() else { throw SubjectFailure("out of memory") }
    self.sleeper = sleeper
    inspector = setup.inspector
  }

  deinit {
    bl_sleeper_destroy(sleeper)
  }

  func produce(producer: Int, values: Range<UInt64>) {
    var idle = IdleWait()
    for value in values {
      while !bl_sleeper_send(sleeper, bl_item(producer: UInt64(producer), value: value)) { _ = idle.wait() }
      idle.reset()
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    var tally = Tally(inspector: inspector)
    var item = bl_item()
    while tally.count < quota.total {
      if bl_sleeper_receive(sleeper, &item) {
        tally.reduce(Item(producer: item.producer, value: item.value))
      } else {
        try quota.checkDeadline(reduced: tally.count)
      }
    }
    return tally.totals
  }
}
