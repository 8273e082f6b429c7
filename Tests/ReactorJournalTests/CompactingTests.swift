import Glibc
import ReactorCore
import ReactorJournal
import ReactorJournalTesting
import ReactorRuntime
import Synchronization
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
    let deadline = ContinuousClock.now + .seconds(patience)
    while warnings.elements.isEmpty, .now < deadline { try await Task.sleep(for: .milliseconds(1)) }
    #expect(warnings.elements == [.diskFull])
    #expect(store.snapshots.isEmpty)
    store.capacity = .max
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    #expect(journal.failure == nil)
    #expect(warnings.elements == [.diskFull])
    try journal.end()
  }

  /// Reading all of them at once would hold the commits up for seconds.
  @Test func `A commit comes between the snapshots that a compaction reads`() async throws {
    let count = 60
    do {
      let journal = try Journal(store: store)
      for number in 0..<count {
        try await Ledger(journal, entry: "ledger/\(number)").sendDurably(.deposit(account: 1, amount: 1))
      }
      try journal.end()
    }
    let reads = Atomic(0)
    let journal = try Journal(
      store: InterceptedStore(
        store,
        beforeReadingSnapshots: {
          reads.add(1, ordering: .relaxed)
          usleep(20_000)
        }))
    let ledger = Ledger(journal, entry: "ledger/0")
    try ledger.recover()
    let before = reads.load(ordering: .relaxed)
    async let compacting = journal.compact()
    while reads.load(ordering: .relaxed) == before { await Task.yield() }
    var fewest = Int.max
    for _ in 0..<5 {
      let before = reads.load(ordering: .relaxed)
      try await ledger.sendDurably(.deposit(account: 1, amount: 1))
      fewest = min(fewest, reads.load(ordering: .relaxed) - before)
    }
    // The one that is running, and perhaps one that begins before the committer sees the action. A task may be woken late.
    #expect(fewest <= 2)
    #expect(reads.load(ordering: .relaxed) < before + count - 1)
    #expect(try await compacting == 0)
    #expect(reads.load(ordering: .relaxed) == before + count - 1)
    try journal.end()
  }
}
