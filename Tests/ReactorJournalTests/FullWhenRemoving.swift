import ReactorJournal

/// A store that has no room to remove batches.
final class FullWhenRemoving: JournalStore {
  private let store: InMemoryStore

  init(_ store: InMemoryStore) { self.store = store }

  func open() throws(JournalError) -> JournalEnd { try store.open() }

  func commit(
    _ batch: JournalBatch?, entries: [JournalEntryRow], snapshots: [JournalSnapshot]
  ) throws(JournalError) { try store.commit(batch, entries: entries, snapshots: snapshots) }

  func readBatches(
    from first: UInt64, _ body: (borrowing JournalBatch) throws(JournalError) -> Bool
  ) throws(JournalError) { try store.readBatches(from: first, body) }

  func readSnapshots(of entry: UInt32) throws(JournalError) -> [JournalSnapshot] {
    try store.readSnapshots(of: entry)
  }

  func removeBatches(before position: UInt64) throws(JournalError) { throw .diskFull }

  func close() { store.close() }
}
