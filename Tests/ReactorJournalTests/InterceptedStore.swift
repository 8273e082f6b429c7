import ReactorJournal
import ReactorJournalTesting

/// A store that tells a test of some of its calls, or lets them fail.
final class InterceptedStore: JournalStore {
  private let store: InMemoryStore
  private let beforeReading: @Sendable () -> Void
  private let beforeRemoving: @Sendable () throws(JournalError) -> Void

  init(
    _ store: InMemoryStore, beforeReading: @escaping @Sendable () -> Void = {},
    beforeRemoving: @escaping @Sendable () throws(JournalError) -> Void = {}
  ) {
    self.store = store
    self.beforeReading = beforeReading
    self.beforeRemoving = beforeRemoving
  }

  func open() throws(JournalError) -> JournalEnd { try store.open() }

  func commit(
    _ batch: JournalBatch?, entries: [JournalEntryRow], snapshots: [JournalSnapshot]
  ) throws(JournalError) { try store.commit(batch, entries: entries, snapshots: snapshots) }

  func readBatches(
    from first: UInt64, _ body: (borrowing JournalBatch) throws(JournalError) -> Bool
  ) throws(JournalError) {
    beforeReading()
    try store.readBatches(from: first, body)
  }

  func readSnapshots(of entry: UInt32) throws(JournalError) -> [JournalSnapshot] {
    try store.readSnapshots(of: entry)
  }

  func removeBatches(before position: UInt64) throws(JournalError) {
    try beforeRemoving()
    try store.removeBatches(before: position)
  }

  func close() { store.close() }
}
