import ReactorCore

/// A lane for each producer, item by item; the thread that waits for the totals polls them all.
final class LaneSubject<C: Core>: FanInSubject {
  /// A producer's handle between two chunks.
  ///
  /// `@unchecked Sendable`: only the producer that it belongs to touches it.
  private final class Seat: @unchecked Sendable {
    var lane: LaneProducerOn<C, Item>?
    init(_ lane: consuming LaneProducerOn<C, Item>) { self.lane = consume lane }
  }

  private let lanes: LanesOn<C, Item>
  private let seats: [Seat]
  private let inspector: Inspector?

  init(_ setup: SubjectSetup) throws {
    let lanes = try LanesOn<C, Item>(limit: setup.producers, capacity: setup.capacity)
    self.lanes = lanes
    seats = try (0..<setup.producers).map { _ in Seat(try lanes.register()) }
    inspector = setup.inspector
  }

  func produce(producer: Int, values: Range<UInt64>) {
    guard var lane = seats[producer].lane.take() else { return }
    for value in values {
      while !lane.trySend(Item(producer: UInt64(producer), value: value)).isAccepted {
        FullWait.yield()
      }
    }
    seats[producer].lane = consume lane
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    var tally = Tally(inspector: inspector)
    var pacer = Pacer<C>()
    return try quota.poll(into: &tally) { tally in
      let received = lanes.drain { item in tally.reduce(item) }
      if received > 0 { pacer.wait(afterReceiving: received) }
      return received > 0
    }
  }
}
