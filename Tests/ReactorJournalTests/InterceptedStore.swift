import ReactorJournal
import ReactorJournalTesting

/// A store that tells a test of some of its calls, or lets them fail.
final class InterceptedStore: JournalStore {
  private let store: InMemoryStore
  private let afterCommitting: @Sendable ([JournalSnapshot]) -> Void
  private let beforeReading: @Sendable () -> Void
  private let beforeReadingSnapshots: @Sendable () -> Void
  private let beforeRemoving: @Sendable () throws(JournalError) -> Void
  private let beforeClosing: @Sendable () -> Void

  init(
    _ store: InMemoryStore, afterCommitting: @escaping @Sendable ([JournalSnapshot]) -> Void = { _ in },
    beforeReading: @escaping @Sendable () -> Void = {},
    beforeReadingSnapshots: @escaping @Sendable () -> Void = {},
    beforeRemoving: @escaping @Sendable () throws(JournalError) -> Void = {},
    beforeClosing: @escaping @Sendable () -> Void = {}
  ) {
    self.store = store
    self.afterCommitting = afterCommitting
    self.beforeReading = beforeReading
    self.beforeReadingSnapshots = beforeReadingSnapshots
    self.beforeRemoving = beforeRemoving
    self.beforeClosing = beforeClosing
  }

  func open() throws(JournalError) -> JournalEnd { try store.open() }

  func commit(
    _ batch: JournalBatch?, entries: [JournalEntryRow], snapshots: [JournalSnapshot]
  ) throws(JournalError) {
    try store.commit(batch, entries: entries, snapshots: snapshots)
    afterCommitting(snapshots)
  }

  func readBatches(
    from first: UInt64, _ body: (borrowing JournalBatch) throws(JournalError) -> Bool
  ) throws(JournalError) {
    beforeReading()
    try store.readBatches(from: first, body)
  }

  func readSnapshots(of entry: UInt32) throws(JournalError) -> [JournalSnapshot] {
    beforeReadingSnapshots()
    return try store.readSnapshots(of: entry)
  }

  func noteUseless(_ snapshot: JournalSnapshot) { store.noteUseless(snapshot) }

  func removeSomeBatches(before position: UInt64) throws(JournalError) -> Bool {
    try beforeRemoving()
    return try store.removeSomeBatches(before: position)
  }

  func close() {
    beforeClosing()
    store.close()
  }
}
