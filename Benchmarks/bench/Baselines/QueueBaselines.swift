import CBenchmarkLimits
import Dispatch
import ReactorCore
import Synchronization

/// A serial queue that gets each item as a block of its own.
typealias DispatchQueueBaseline = QueueBaseline<AsyncSend>

/// The same queue, with a sender that waits until its item is reduced.
typealias DispatchQueueSyncBaseline = QueueBaseline<SyncSend>

/// How an item is put on the queue.
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
/// `@unchecked Sendable`: `tally` is used only by blocks of `queue`.
final class QueueState: @unchecked Sendable {
  let queue = DispatchQueue(label: "bench.serial")
  var tally: Tally

  init(_ setup: SubjectSetup) {
    tally = Tally(inspector: setup.inspector)
  }
}

final class QueueBaseline<Send: QueueSend>: FanInSubject {
  static var floats: Bool { true }
  static var mostItems: Int? { 2_000_000 }
  /// Short, since senders that contend and wait are slow, and time limits are checked between chunks.
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

/// Producers append to an array under a mutex; one consumer swaps it for an empty one and reduces that. The consumer waits as
/// ours do: it paces itself unless it is to be busy, and takes the mutex only if there is something, or to sleep.
///
/// `@unchecked Sendable`: `pending` is used only under `mutex`.
final class SwappedArrayBaseline: FanInSubject, @unchecked Sendable {
  static let mostItems: Int? = 2_000_000
  /// After so many polls that found nothing, the pauses of ``IdleWait`` among them, a consumer that may do so sleeps.
  private static let polls = 320

  private struct Pending {
    var items: [Item] = []
    var isAsleep = false
  }

  private let mutex = PthreadMutex()
  private let pending = Placed(Pending())
  private let hasItems = Atomic(false)
  private let setup: SubjectSetup

  init(_ setup: SubjectSetup) {
    self.setup = setup
    pending.value.items.reserveCapacity(setup.capacity)
  }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values {
      let item = Item(producer: UInt64(producer), value: value)
      let wakes = mutex.withLock {
        if pending.value.items.isEmpty { hasItems.store(true, ordering: .relaxed) }
        pending.value.items.append(item)
        return pending.value.isAsleep
      }
      if wakes { mutex.signal() }
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    let mode = setup.consumer
    var tally = Tally(inspector: setup.inspector)
    var taken: [Item] = []
    taken.reserveCapacity(setup.capacity)
    var (idle, pacer, polls) = (IdleWait(), Pacer(), 0)
    while tally.count < quota.total {
      let maySleep = mode == .parked || (mode == .spinning && polls >= Self.polls)
      if maySleep || hasItems.load(ordering: .relaxed), swap(&taken, maySleep: maySleep) {
        for item in taken { tally.reduce(item) }
        if mode != .busy { pacer.wait(afterReceiving: taken.count) }
        taken.removeAll(keepingCapacity: true)
        idle.reset()
        polls = 0
      } else if maySleep {
        try quota.checkDeadline(reduced: tally.count)
      } else {
        polls += 1
        if idle.wait() { try quota.checkDeadline(reduced: tally.count) }
      }
    }
    return tally.totals
  }

  /// Takes what is pending, possibly after a sleep. Returns false if there was nothing.
  private func swap(_ taken: inout [Item], maySleep: Bool) -> Bool {
    mutex.withLock {
      if pending.value.items.isEmpty, maySleep {
        pending.value.isAsleep = true
        mutex.wait()
        pending.value.isAsleep = false
      }
      Swift.swap(&pending.value.items, &taken)
      hasItems.store(false, ordering: .relaxed)
      return !taken.isEmpty
    }
  }
}

/// liburcu's wfcqueue, with one malloc'ed node per item. It is compared with a ring without a reactor. The consumer polls in one of
/// two ways.
///
/// `@unchecked Sendable`: `enqueue` may be called from any thread, and only `awaitTotals` drains.
final class WaitFreeQueueBaseline<Polling: QueuePolling>: FanInSubject, @unchecked Sendable {
  static var mostItems: Int? { 2_000_000 }
  private static var batch: Int { 256 }

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
    var pacer = Pacer()
    return try withUnsafeTemporaryAllocation(of: bl_item.self, capacity: Self.batch) { items in
      try quota.poll(into: &tally) { tally in
        let count = bl_wfcqueue_drain(queue, items.baseAddress, Self.batch)
        for item in items.prefix(count) { tally.reduce(Item(producer: item.producer, value: item.value)) }
        // A full batch means that there is more.
        if Polling.isPaced, count > 0, count < Self.batch { pacer.wait(afterReceiving: count) }
        return count > 0
      }
    }
  }
}

/// How a consumer polls: at once again after each batch, or when there may be several items, as ours does.
protocol QueuePolling {
  static var isPaced: Bool { get }
}

enum PollingAtOnce: QueuePolling {
  static var isPaced: Bool { false }
}

enum PollingPaced: QueuePolling {
  static var isPaced: Bool { true }
}
