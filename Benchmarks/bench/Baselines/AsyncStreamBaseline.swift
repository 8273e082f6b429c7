/// An unbounded `AsyncStream` that producers yield to and one task iterates.
final class AsyncStreamBaseline: FanInSubject {
  static let usesPool = true
  static let mostItems: Int? = 2_000_000

  private let continuation: AsyncStream<Item>.Continuation
  private let totals = Handover<Totals>()

  init(_ setup: SubjectSetup) {
    let (stream, continuation) = AsyncStream.makeStream(of: Item.self, bufferingPolicy: .unbounded)
    self.continuation = continuation
    let tally = Tally(inspector: setup.inspector)
    Task.detached { [totals] in
      var tally = tally
      for await item in stream { tally.reduce(item) }
      totals.give(tally.totals)
    }
  }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { continuation.yield(Item(producer: UInt64(producer), value: value)) }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    continuation.finish()
    return totals.wait()
  }
}
