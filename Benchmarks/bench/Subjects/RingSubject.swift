import ReactorCore

/// One ring of either core, item by item: the producers share it, the thread that waits for the totals drains it.
///
/// It runs the algorithms of ``Ring`` on the raw ring, since ``Ring`` itself is built on one core only.
final class RingSubject<C: Core>: FanInSubject {
  private let ring: C.Ring
  private let inspector: Inspector?

  init(_ setup: SubjectSetup) throws {
    ring = try C.Ring(capacity: setup.capacity)
    inspector = setup.inspector
  }

  deinit { ring.destroy() }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values {
      while !ring.trySend(Item(producer: UInt64(producer), value: value)).isAccepted {
        FullWait.yield()
      }
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try ring.reduceAll(quota, inspector: inspector, on: C.self)
  }
}

/// The same ring, in claims of sixteen.
final class RingBatchSubject<C: Core>: FanInSubject {
  private static var batch: Int { 16 }

  private let ring: C.Ring
  private let inspector: Inspector?

  init(_ setup: SubjectSetup) throws {
    ring = try C.Ring(capacity: setup.capacity)
    inspector = setup.inspector
  }

  deinit { ring.destroy() }

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
    try ring.reduceAll(quota, inspector: inspector, on: C.self)
  }
}

extension RawRing {
  /// A ring of items, whose owner destroys it. Items need no destruction of their own.
  fileprivate init(capacity: Int) throws(CoreError) {
    try self.init(
      capacity: capacity, size: MemoryLayout<Item>.stride, alignment: MemoryLayout<Item>.alignment,
      startingAt: 0)
  }

  /// The consumer of both: paced, as a consumer for throughput is.
  fileprivate func reduceAll<C: Core>(_ quota: Quota, inspector: Inspector?, on core: C.Type) throws -> Totals
  {
    var tally = Tally(inspector: inspector)
    var pacer = Pacer()
    return try quota.poll(into: &tally) { tally in
      let received = drain(upTo: .max, of: Item.self) { item, _ in tally.reduce(item) }
      if received > 0 { pacer.wait(afterReceiving: received, on: core) }
      return received > 0
    }
  }
}
