import ReactorCore
import ReactorJournal
import ReactorJournalTesting
import ReactorRuntime
import TestSupport
import Testing

/// What storing states and removing records says and does while the disk is full or slow.
@Suite struct CompactingTests {
  private let store = InMemoryStore()

  @Test func `Compacting says that there was no room for a state, and stores it later`() async throws {
    let journal = try Journal(store: store)
    let ledger = Ledger(journal)
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    store.capacity = store.byteCount
    await #expect(throws: JournalError.diskFull) { try await journal.compact() }
    #expect(store.snapshots.isEmpty)
    #expect(journal.failure == nil)
    store.capacity = .max
    #expect(try await journal.compact() == 0)
    #expect(store.snapshots.map(\.position) == [1])
    try journal.end()
  }

  @Test func `A state for which there is no room is a warning, and records are written as before`()
    async throws
  {
    let warnings = Record<JournalError>()
    var configuration = JournalConfiguration()
    (configuration.snapshotRecords, configuration.snapshotRatio) = (2, 0)
    configuration.onWarning = { warnings.append($0) }
    let journal = try Journal(store: store, configuration: configuration)
    let ledger = Ledger(journal)
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    // Room for one more record.
    store.capacity = 2 * store.byteCount
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    let deadline = ContinuousClock.now + .seconds(20)
    while warnings.elements.isEmpty, .now < deadline { try await Task.sleep(for: .milliseconds(1)) }
    #expect(warnings.elements == [.diskFull])
    #expect(store.snapshots.isEmpty)
    store.capacity = .max
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    #expect(journal.failure == nil)
    #expect(warnings.elements == [.diskFull])
    try journal.end()
  }
}
