import ReactorCore

/// One ring of either core, item by item. The producers share it, and the thread that waits for the totals drains it.
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
  /// A ring of items, which the caller destroys. Items need no destruction of their own.
  fileprivate init(capacity: Int) throws(CoreError) {
    try self.init(
      capacity: capacity, size: MemoryLayout<Item>.stride, alignment: MemoryLayout<Item>.alignment,
      startingAt: 0)
  }

  /// The consumer of both subjects. It waits for several items, as a consumer for throughput does.
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

/// A lane of either core for each producer, item by item. The thread that waits for the totals polls them all. Together they have
/// as many slots as the ring beside them, rounded up to a power of two for each.
final class LaneSubject<C: Core>: FanInSubject {
  /// Keeps the lane of a producer between two chunks.
  ///
  /// `@unchecked Sendable`: only the thread of its producer uses it.
  private final class Seat: @unchecked Sendable {
    var lane: C.Lanes.Producer
    init(_ lane: C.Lanes.Producer) { self.lane = lane }
  }

  private let lanes: C.Lanes
  private let seats: [Seat]
  private let inspector: Inspector?

  init(_ setup: SubjectSetup) throws {
    let lanes = try C.Lanes(
      limit: setup.producers, capacity: Self.capacityOfEach(setup), size: MemoryLayout<Item>.stride,
      alignment: MemoryLayout<Item>.alignment, startingAt: 0)
    self.lanes = lanes
    do {
      seats = try (0..<setup.producers).map { _ in Seat(try lanes.register()) }
    } catch {
      lanes.destroy()
      throw error
    }
    inspector = setup.inspector
  }

  private static func capacityOfEach(_ setup: SubjectSetup) -> Int {
    var capacity = 1
    while capacity * setup.producers < setup.capacity { capacity *= 2 }
    return capacity
  }

  deinit {
    for seat in seats { seat.lane.close() }
    lanes.destroy()
  }

  func produce(producer: Int, values: Range<UInt64>) {
    // A local copy, so that its cursors are kept in registers.
    var lane = seats[producer].lane
    for value in values {
      while !lane.trySend(Item(producer: UInt64(producer), value: value)).isAccepted {
        FullWait.yield()
      }
    }
    seats[producer].lane = lane
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    var tally = Tally(inspector: inspector)
    var pacer = Pacer()
    var nextLane = 0
    return try quota.poll(into: &tally) { tally in
      let received = lanes.drain(upTo: .max, share: 4096, nextLane: &nextLane) { (item: Item) in
        tally.reduce(item)
      }
      if received > 0 { pacer.wait(afterReceiving: received, on: C.self) }
      return received > 0
    }
  }
}

/// The ownership word of either core alone: each producer acquires it, reduces one item and releases it. There is no
/// mailbox: a producer that finds the word owned tries again.
///
/// `@unchecked Sendable`: only the owner uses `tally`, and the thread that asks for the totals after all have sent.
final class OwnershipSubject<C: Core>: FanInSubject, @unchecked Sendable {
  private let trampoline: C.Trampoline
  private let tally: Placed<Tally>

  init(_ setup: SubjectSetup) throws {
    trampoline = try C.Trampoline(payload: 0)
    tally = Placed(Tally(inspector: setup.inspector))
    _ = trampoline.tryInitialize(C.threadToken)
    trampoline.release(slot: 0)
  }

  deinit { trampoline.destroy() }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values {
      // The token is part of what an acquisition costs.
      while !trampoline.tryAcquire(C.threadToken) { FullWait.yield() }
      tally.value.reduce(Item(producer: UInt64(producer), value: value))
      trampoline.release(slot: 0)
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    return tally.value.totals
  }
}
