import ReactorCore
import ReactorJournalTesting
import ReactorRuntime
import SimulatedDisk
import Synchronization
import TestSupport
import Testing

@testable import ReactorJournal

/// A disk that fails while a reactor is recovered: the journal has ended, and everybody gets the reason.
@Suite struct ReadFailureTests {
  private func isInputOutputError(_ error: JournalError?) -> Bool {
    // SQLITE_IOERR, which the extended codes contain.
    if case .failed(let code, _) = error { code & 0xFF == 10 } else { false }
  }

  @Test func `After an error of the disk in a recovery all failures have its reason`() async throws {
    let folder = TemporaryFolder()
    let disk = Disk()
    func makeStore() -> SQLiteStore {
      SQLiteStore(
        path: folder.file("journal"), access: .readWrite, vfs: disk.name, checkpointBytes: 1 << 20)
    }
    do {
      let journal = try Journal(store: makeStore())
      let ledger = Ledger(journal, entry: "ledger/2")
      for _ in 0..<20 {
        for number in 0..<100 { ledger.send(.deposit(account: UInt32(number), amount: 1)) }
        try await ledger.sendDurably(.deposit(account: 1, amount: 1))
      }
      try journal.end()
    }
    let failures = SystemMutex<[JournalError]>([])
    var configuration = JournalConfiguration()
    configuration.onFailure = { error in failures.withLock { $0.append(error) } }
    let journal = try Journal(store: makeStore(), configuration: configuration)
    let (first, second) = (Ledger(journal), Ledger(journal, entry: "ledger/2"))
    try await first.sendDurably(.deposit(account: 1, amount: 1))
    disk.fail(at: disk.calls, SD_ERROR)
    var reason: JournalError?
    do { try second.recover() } catch { reason = error }
    let error = try #require(reason)
    #expect(isInputOutputError(error))
    #expect(journal.failure == error)
    await #expect(throws: DurabilityError.notWritten(error)) {
      try await first.sendDurably(.deposit(account: 1, amount: 1))
    }
    #expect(throws: error) { try second.recover() }
    await #expect(throws: error) { try await journal.compact() }
    #expect(first.waitUntilEnded(before: .now + .seconds(30)))
    try journal.end()
    #expect(failures.withLock { $0 } == [error])
    withExtendedLifetime(disk) {}
  }

  @Test func `A commit that waits for a recovery gets the reason of its failure`() async throws {
    let contents = InMemoryStore()
    do {
      let journal = try Journal(store: contents)
      try await Ledger(journal, entry: "ledger/2").sendDurably(.deposit(account: 1, amount: 1))
      try journal.end()
    }
    let store = FencedByReading(contents)
    let journal = try Journal(store: store)
    let (first, second) = (Ledger(journal), Ledger(journal, entry: "ledger/2"))
    try first.recover()
    // A thread of its own: the read waits without suspending, and the pool may have few threads.
    let recoveryError = SystemMutex<JournalError?>(nil)
    let recovery = Threads.start {
      do throws(JournalError) { try second.recover() } catch { recoveryError.withLock { $0 = error } }
    }
    while !store.isReading { await Task.yield() }
    let sending = Task { try await first.sendDurably(.deposit(account: 1, amount: 1)) }
    while first.latestState.changes == 0 { await Task.yield() }
    // So that the commit has begun to wait.
    try await Task.sleep(for: .milliseconds(20))
    store.failRead()
    #expect(recovery.wait())
    #expect(recoveryError.withLock { $0 } == FencedByReading.error)
    await #expect(throws: DurabilityError.notWritten(FencedByReading.error)) { try await sending.value }
    #expect(journal.failure == FencedByReading.error)
    try journal.end()
  }
}

/// A store that refuses everything after its first read, which fails, as that of SQLite does after an error.
private final class FencedByReading: JournalStore {
  static let error = JournalError.failed(code: 5, message: "input/output error")
  private let store: InMemoryStore
  private let readingBegan = Atomic(false)
  private let mayFail = Atomic(false)
  private let isFenced = Atomic(false)

  init(_ store: InMemoryStore) { self.store = store }

  /// Whether the read has begun. It fails after ``failRead()``.
  var isReading: Bool { readingBegan.load(ordering: .sequentiallyConsistent) }

  func failRead() { mayFail.store(true, ordering: .sequentiallyConsistent) }

  private func check() throws(JournalError) {
    if isFenced.load(ordering: .sequentiallyConsistent) { throw .fenced }
  }

  func open() throws(JournalError) -> JournalEnd { try store.open() }

  func commit(
    _ batch: JournalBatch?, entries: [JournalEntryRow], snapshots: [JournalSnapshot]
  ) throws(JournalError) {
    try check()
    try store.commit(batch, entries: entries, snapshots: snapshots)
  }

  func readBatches(
    from first: UInt64, _ body: (borrowing JournalBatch) throws(JournalError) -> Bool
  ) throws(JournalError) {
    try check()
    readingBegan.store(true, ordering: .sequentiallyConsistent)
    while !mayFail.load(ordering: .sequentiallyConsistent) { DedicatedThread.yield() }
    isFenced.store(true, ordering: .sequentiallyConsistent)
    throw Self.error
  }

  func readSnapshots(of entry: UInt32) throws(JournalError) -> [JournalSnapshot] {
    try check()
    return try store.readSnapshots(of: entry)
  }

  func removeSomeBatches(before position: UInt64) throws(JournalError) -> Bool {
    try check()
    return false
  }

  func close() { store.close() }
}
