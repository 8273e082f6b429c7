import Dispatch

/// A serial queue to which each item goes as a block of its own.
typealias DispatchQueueBaseline = QueueBaseline<AsyncSend>

/// The same queue, with a sender that waits until its item is reduced.
typealias DispatchQueueSyncBaseline = QueueBaseline<SyncSend>

/// How an item gets onto the queue.
protocol QueueSend {
  static func send(_ item: Item, to state: QueueState)
}

enum AsyncSend: QueueSend {
  static func send(_ item: Item, to state: QueueState) {
    state.queue.async { state.tally.reduce(item) }
  }
}

enum SyncSend: QueueSend {
  static func send(_ item: Item, to state: QueueState) {
    state.queue.sync { state.tally.reduce(item) }
  }
}

/// A serial queue and what its blocks reduce into.
///
/// `@unchecked Sendable`: `tally` is touched only by blocks of `queue`.
final class QueueState: @unchecked Sendable {
  let queue = DispatchQueue(label: "bench.serial")
  var tally: Tally

  init(_ setup: SubjectSetup) {
    tally = Tally(inspector: setup.inspector)
  }
}

final class QueueBaseline<Send: QueueSend>: FanInSubject {
  static var usesPool: Bool { true }
  static var mostItems: Int? { 2_000_000 }
  /// Short, since waiting senders that contend are slow, and time limits are looked at between chunks.
  static var chunk: Int { 512 }

  private let state: QueueState

  init(_ setup: SubjectSetup) {
    state = QueueState(setup)
  }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { Send.send(Item(producer: UInt64(producer), value: value), to: state) }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    return state.queue.sync { state.tally.totals }
  }
}
