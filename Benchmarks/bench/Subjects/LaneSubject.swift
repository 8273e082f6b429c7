import ReactorCore

/// A lane of either core for each producer, item by item; the thread that waits for the totals polls them all.
final class LaneSubject<C: Core>: FanInSubject {
  /// A producer's lane between two chunks.
  ///
  /// `@unchecked Sendable`: only the producer that it belongs to touches it.
  private final class Seat: @unchecked Sendable {
    var lane: C.Lanes.Producer
    init(_ lane: C.Lanes.Producer) { self.lane = lane }
  }

  private let lanes: C.Lanes
  private let seats: [Seat]
  private let inspector: Inspector?

  init(_ setup: SubjectSetup) throws {
    let lanes = try C.Lanes(
      limit: setup.producers, capacity: setup.capacity, size: MemoryLayout<Item>.stride,
      alignment: MemoryLayout<Item>.alignment, startingAt: 0)
    self.lanes = lanes
    seats = try (0..<setup.producers).map { _ in Seat(try lanes.register()) }
    inspector = setup.inspector
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
