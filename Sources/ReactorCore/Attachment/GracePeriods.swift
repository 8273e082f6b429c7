import Synchronization

/// Keeps what was unlinked until no look-up can have found it.
///
/// A batch was unlinked before its grace period begins. A look-up that pinned a counter after this was seen
/// at zero comes, in the one order of the sequentially consistent operations, after that look, hence after
/// the unlinking, and so finds nothing of the batch. One that pinned it before has ended by then. So when
/// each counter was seen at zero once, no matter when, the batch is free. Nobody waits for that: whoever
/// retires or sweeps looks how far it is, and there is always somebody: the background sweep goes on until
/// nothing is left.
final class GracePeriods: Sendable {
  typealias Batch = [any AnyObject & Sendable]

  private struct Fields: Sendable {
    /// Those for which the grace period runs, and the counters not yet seen at zero.
    var waiting: Batch = []
    var pending: UInt32 = 0
    /// Unlinked since it began.
    var next: Batch = []
  }

  let pins = ReaderPins()
  private let fields = SystemMutex(Fields())
  private let held = Atomic(0)

  init() {}

  deinit { pins.destroy() }

  /// Whether something is kept. Any thread.
  var isHolding: Bool {
    // SWEEPER.
    held.load(ordering: .sequentiallyConsistent) > 0
  }

  /// Takes what is unlinked, if anything, and lets go of what has become free. Any thread, without a mutex or
  /// a pin.
  func retire(_ batch: consuming Batch) {
    if !batch.isEmpty {
      // SWEEPER: before the look whether it runs.
      held.add(batch.count, ordering: .sequentiallyConsistent)
      fields.withLock { $0.next += batch }
      batch = []
    }
    letGo()
  }

  private func letGo() {
    while isHolding {
      let free = fields.withLock { takeFree(&$0) }
      if free.isEmpty { return }
      held.subtract(free.count, ordering: .sequentiallyConsistent)
    }
  }

  private func takeFree(_ fields: inout Fields) -> Batch {
    if fields.waiting.isEmpty {
      swap(&fields.waiting, &fields.next)
      fields.pending = ReaderPins.allCounters
    }
    pins.removeUnpinned(from: &fields.pending)
    if fields.pending != 0 { return [] }
    defer { fields.waiting = [] }
    return fields.waiting
  }
}
