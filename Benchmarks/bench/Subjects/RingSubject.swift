import ReactorCore

/// One ring, item by item: the producers share it, the thread that waits for the totals drains it.
final class RingSubject<C: Core>: FanInSubject {
  private let ring: RingOn<C, Item>
  private let inspector: Inspector?

  init(_ setup: SubjectSetup) throws {
    ring = try RingOn(capacity: setup.capacity)
    inspector = setup.inspector
  }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values {
      while !ring.trySend(Item(producer: UInt64(producer), value: value)).isAccepted {
        FullWait.yield()
      }
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try ring.reduceAll(quota, inspector: inspector)
  }
}

/// The same ring, in claims of sixteen.
final class RingBatchSubject<C: Core>: FanInSubject {
  private static var batch: Int { 16 }

  private let ring: RingOn<C, Item>
  private let inspector: Inspector?

  init(_ setup: SubjectSetup) throws {
    ring = try RingOn(capacity: setup.capacity)
    inspector = setup.inspector
  }

  func produce(producer: Int, values: Range<UInt64>) {
    var first = values.lowerBound
    while first < values.upperBound {
      let outcome = ring.trySend(count: Self.batch) { index in
        Item(producer: UInt64(producer), value: first &+ UInt64(index))
      }
      if outcome == .accepted {
        first += UInt64(Self.batch)
      } else {
        FullWait.yield()
      }
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try ring.reduceAll(quota, inspector: inspector)
  }
}

extension RingOn where Element == Item {
  /// The consumer of both: paced, as a consumer for throughput is.
  fileprivate func reduceAll(_ quota: Quota, inspector: Inspector?) throws -> Totals {
    var tally = Tally(inspector: inspector)
    var pacer = Pacer<C>()
    return try quota.poll(into: &tally) { tally in
      let received = drain { item in tally.reduce(item) }
      if received > 0 { pacer.wait(afterReceiving: received) }
      return received > 0
    }
  }
}
