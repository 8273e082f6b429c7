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

  private func makeStore(in folder: TemporaryFolder, on disk: Disk) -> SQLiteStore {
    SQLiteStore(
      path: folder.file("journal"), access: .readWrite, vfs: disk.name, checkpointBytes: 1 << 20)
  }

  @Test func `After an error of the disk in a recovery all failures have its reason`() async throws {
    let folder = TemporaryFolder()
    let disk = Disk()
    do {
      let journal = try Journal(store: makeStore(in: folder, on: disk))
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
    let journal = try Journal(store: makeStore(in: folder, on: disk), configuration: configuration)
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

  /// The newest one cannot be decoded, which is noted in the store.
  @Test func `An error of the disk beside a snapshot that cannot be used has its reason, too`() async throws {
    let folder = TemporaryFolder()
    let disk = Disk()
    do {
      let journal = try Journal(store: makeStore(in: folder, on: disk))
      let ledger = Ledger(journal)
      for _ in 0..<2 {
        try await ledger.sendDurably(.deposit(account: 1, amount: 1))
        try await journal.compact()
      }
      try await ledger.sendDurably(.deposit(account: 1, amount: 1))
      try journal.end()
      let store = makeStore(in: folder, on: disk)
      let end = try store.open()
      // SQLite cannot keep it in memory, so whatever reads it again needs the disk.
      let useless = JournalSnapshot(
        entry: 1, position: end.position, version: 1, bytes: [UInt8](repeating: 0xFF, count: 9_000_000))
      try store.commit(nil, entries: [], snapshots: [useless])
      store.close()
    }
    var (call, failures, isOver) = (0 as UInt64, 0, false)
    while !isOver {
      let journal = try Journal(store: makeStore(in: folder, on: disk))
      let ledger = Ledger(journal)
      disk.fail(at: disk.calls + call, SD_ERROR)
      let before = disk.calls
      do throws(JournalError) {
        try ledger.recover()
        #expect(ledger.currentState.total == 3)
        isOver = disk.calls <= before + call
      } catch {
        failures += 1
        #expect(isInputOutputError(error), "call \(call): \(error)")
        #expect(journal.failure == error, "call \(call)")
      }
      disk.repair()
      try journal.end()
      call += 150
    }
    #expect(failures > 5)
    withExtendedLifetime(disk) {}
  }

  /// As an error would be that nobody was told of.
  @Test func `A journal whose store refuses everything tells of the error of the store`() async throws {
    let store = FencedByReading(InMemoryStore())
    let failures = Record<JournalError>()
    var configuration = JournalConfiguration()
    configuration.onFailure = { failures.append($0) }
    let journal = try Journal(store: store, configuration: configuration)
    let ledger = Ledger(journal)
    try ledger.recover()
    store.fence()
    await #expect(throws: DurabilityError.notWritten(FencedByReading.error)) {
      try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    }
    #expect(Threads.yield { failures.elements == [FencedByReading.error] })
    #expect(journal.failure == FencedByReading.error)
    try journal.end()
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

  /// Makes it refuse everything.
  func fence() { isFenced.store(true, ordering: .sequentiallyConsistent) }

  var failure: JournalError? { isFenced.load(ordering: .sequentiallyConsistent) ? Self.error : nil }

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
