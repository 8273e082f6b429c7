import CReactorSQLite
import Glibc
import ReactorCore
import ReactorJournalTesting
import ReactorRuntime
import Testing

@testable import ReactorJournal

/// A state that is too large for a snapshot.
@Suite struct SnapshotLimitTests {
  private let store = InMemoryStore()
  private let warnings = SystemMutex<[JournalError]>([])

  private func makeJournal(_ store: any JournalStore, snapshotRecords: Int = 10) throws -> Journal {
    var configuration = JournalConfiguration()
    (configuration.snapshotRecords, configuration.snapshotRatio) = (snapshotRecords, 0)
    configuration.onWarning = { [warnings] warning in warnings.withLock { $0.append(warning) } }
    return try Journal(store: store, configuration: configuration)
  }

  @Test func `A snapshot that is too large is left out, and records are written as before`() async throws {
    store.largestSnapshot = 60
    let journal = try makeJournal(store)
    let ledger = Ledger(journal)
    for number in 0..<200 {
      try await ledger.sendDurably(.deposit(account: UInt32(number), amount: Int64(number)))
    }
    try journal.end()
    #expect(journal.failure == nil)
    #expect(store.snapshots.allSatisfy { $0.bytes.count <= 60 })
    let found = warnings.withLock { $0 }
    // Not for each record.
    #expect((1...20).contains(found.count))
    for warning in found {
      guard case .snapshotTooLarge("ledger/1", let byteCount) = warning, byteCount > 60 else {
        Issue.record("another warning: \(warning)")
        continue
      }
    }
    let next = try makeJournal(store)
    #expect(Ledger(next).currentState.changes == 200)
    try next.end()
  }

  @Test func `Compacting says that a state is too large, and the journal goes on`() async throws {
    let journal = try makeJournal(store, snapshotRecords: .max)
    let ledger = Ledger(journal)
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    store.largestSnapshot = 10
    do {
      try await journal.compact()
      Issue.record("the state was stored")
    } catch .snapshotTooLarge(let entry, let byteCount) {
      #expect(entry == "ledger/1")
      #expect(byteCount > 10)
    }
    #expect(journal.failure == nil)
    store.largestSnapshot = .max
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    #expect(try await journal.compact() == 0)
    #expect(store.snapshots.count == 1)
    try journal.end()
  }

  /// How many bytes a row may have.
  private static func lengthLimitOfSQLite() throws -> Int {
    var database: OpaquePointer?
    defer { sqlite3_close(database) }
    try #require(sqlite3_open(":memory:", &database) == SQLITE_OK)
    return Int(sqlite3_limit(database, SQLITE_LIMIT_LENGTH, -1))
  }

  /// What the check prevents: SQLite refuses the row, and nobody knows what the file contains then.
  @Test func `A file's limit is below the one of SQLite`() async throws {
    let path = "/tmp/limit-\(UInt64.random(in: .min ... .max))"
    defer { for suffix in ["", "-wal", ".lock", "-replay"] { unlink(path + suffix) } }
    let small = SQLiteStore(
      path: path, access: .readWrite, vfs: nil, checkpointBytes: 1 << 20, largestSnapshot: 60)
    #expect(SQLiteStore(path: path).largestSnapshot == SQLiteStore.defaultLargestSnapshot)
    let journal = try makeJournal(small)
    #expect(try Self.lengthLimitOfSQLite() >= SQLiteStore.defaultLargestSnapshot + 512)
    let ledger = Ledger(journal)
    for number in 0..<50 { try await ledger.sendDurably(.deposit(account: UInt32(number), amount: 1)) }
    try journal.end()
    #expect(journal.failure == nil)
    #expect(warnings.withLock { !$0.isEmpty })
  }

  /// Reactors with the same load need a snapshot at the same time.
  @Test func `However many reactors need a snapshot, a few states at a time are in memory`() async throws {
    let most = SystemMutex(0)
    let counted = InterceptedStore(
      store,
      afterCommitting: { snapshots in
        let written = CountedLedger.written.wrappingAdd(snapshots.count, ordering: .relaxed).newValue
        let inMemory = CountedLedger.encoded.load(ordering: .relaxed) - written + snapshots.count
        most.withLock { $0 = max($0, inMemory, snapshots.count) }
      })
    let journal = try makeJournal(counted, snapshotRecords: 10)
    let ledgers = (0..<200).map { CountedLedger(journal, entry: "\($0)") }
    try journal.recover(ledgers)
    for _ in 0..<10 { for ledger in ledgers { ledger.send(.added(account: 1, amount: 1)) } }
    // Each of them gets its turn, though nothing more is sent.
    let deadline = ContinuousClock.now + .seconds(60)
    while Set(store.snapshots.map(\.entry)).count < 200, ContinuousClock.now < deadline {
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(Set(store.snapshots.map(\.entry)).count == 200)
    #expect(most.withLock { $0 } <= Journal.statesAtOnce)
    try journal.end()
  }
}
