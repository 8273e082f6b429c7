import Dispatch
import Glibc
import ReactorCore
import ReactorJournal
import ReactorJournalTesting
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

/// What a reactor finds in its journal: records, snapshots, identifiers, digests, and what is damaged.
@Suite struct RecoveryTests {
  private let store = InMemoryStore()

  private func makeJournal(_ change: (inout JournalConfiguration) -> Void = { _ in }) throws -> Journal {
    var configuration = JournalConfiguration()
    change(&configuration)
    return try Journal(store: store, configuration: configuration)
  }

  /// Writes some deposits, one batch each.
  private func write(
    _ range: Range<Int>, entry: String = "ledger/1", _ change: (inout JournalConfiguration) -> Void = { _ in }
  ) async throws {
    let journal = try makeJournal(change)
    let ledger = Ledger(journal, entry: entry)
    for number in range {
      try await ledger.sendDurably(.deposit(account: UInt32(number % 10), amount: Int64(number)))
    }
    try journal.end()
  }

  private func recover(_ entry: String = "ledger/1") throws -> Ledger.State {
    let journal = try makeJournal()
    defer { try? journal.end() }
    let ledger = Ledger(journal, entry: entry)
    try ledger.recover()
    return ledger.currentState
  }

  private func expected(_ range: Range<Int>) -> Ledger.State {
    var state = Ledger.State()
    for number in range {
      state.balances[UInt32(number % 10), default: 0] += Int64(number)
      state.changes += 1
    }
    return state
  }

  // MARK: Snapshots

  @Test func `A snapshot and the records behind it give the same state as all records`() async throws {
    try await write(0..<95) { ($0.snapshotRecords, $0.snapshotRatio) = (20, 0) }
    #expect(store.snapshots.count == 2)
    #expect(store.snapshots[1].position > 40)
    let full = store.prefix(.max)
    full.snapshots = []
    let journal = try Journal(store: full)
    #expect(Ledger(journal).currentState == expected(0..<95))
    try journal.end()
    let part = try Journal(store: store)
    let ledger = Ledger(part)
    var starts: Set<UInt64> = []
    try ledger.recover { starts.insert($0.start) }
    #expect(starts == [store.snapshots[1].position])
    #expect(ledger.currentState == expected(0..<95))
    try part.end()
  }

  @Test func `A snapshot that cannot be read leaves the older one`() async throws {
    try await write(0..<95) { ($0.snapshotRecords, $0.snapshotRatio) = (20, 0) }
    store.snapshots[1].bytes.removeLast()
    #expect(try recover() == expected(0..<95))
    store.snapshots[0].bytes.removeLast()
    #expect(try recover() == expected(0..<95))
  }

  @Test(arguments: [false, true])
  func `A new snapshot takes the place of one that cannot be decoded, and not of the good one`(
    inFile: Bool
  ) async throws {
    let folder = TemporaryFolder()
    let makeStore: () -> any JournalStore = { [store] in
      if inFile { return SQLiteStore(path: folder.file("journal")) }
      return store
    }
    var journal = try Journal(store: makeStore())
    var ledger = Ledger(journal)
    for _ in 0..<3 { try await ledger.sendDurably(.deposit(account: 1, amount: 1)) }
    try await journal.compact()
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    try journal.end()
    var store = makeStore()
    let number = try #require(try store.open().entries.first).number
    // Its checksum is right; what the reactor has written is not.
    try store.commit(
      nil, entries: [],
      snapshots: [JournalSnapshot(entry: number, position: 4, version: 1, bytes: [0, 1, 2, 3])])
    store.close()
    journal = try Journal(store: makeStore())
    ledger = Ledger(journal)
    try ledger.recover()
    try await ledger.sendDurably(.deposit(account: 1, amount: 1))
    try await journal.compact()
    try journal.end()
    store = makeStore()
    _ = try store.open()
    #expect(try store.readSnapshots(of: number).map(\.position) == [5, 3])
    store.close()
  }

  @Test func `Compacting removes what the snapshots contain`() async throws {
    try await write(0..<50)
    let journal = try makeJournal()
    let ledgers = [Ledger(journal), Ledger(journal, entry: "ledger/2")]
    try await ledgers[1].sendDurably(.deposit(account: 1, amount: 5))
    try ledgers[0].recover()
    // Each has one state.
    #expect(try await journal.compact() == 0)
    #expect(store.snapshots.count == 2)
    try await ledgers[0].sendDurably(.deposit(account: 0, amount: 50))
    try journal.end()

    // What an earlier process has stored counts.
    let next = try makeJournal()
    let again = ["ledger/1", "ledger/2"].map { Ledger(next, entry: $0) }
    for ledger in again { try ledger.recover() }
    #expect(try await next.compact() == 51)
    #expect(store.batches.count == 1)
    #expect(store.snapshots.map(\.position).sorted() == [51, 51, 52, 52])
    try next.end()
    #expect(try recover() == expected(0..<51))
    // The newer states are lost, and what is behind the older ones is there.
    store.snapshots.removeAll { $0.position == 52 }
    #expect(try recover() == expected(0..<51))
    #expect(try recover("ledger/2").total == 5)
    store.snapshots = []
    #expect(throws: JournalError.gap(position: 1)) { try recover() }
  }

  @Test func `Compacting keeps the records of a reactor that has no snapshot`() async throws {
    try await write(0..<5, entry: "other")
    try await write(0..<5)
    let journal = try makeJournal()
    try Ledger(journal).recover()
    #expect(try await journal.compact() == 0)
    try journal.end()
    #expect(try recover("other") == expected(0..<5))
  }

  @Test func `A reactor can replace one whose snapshot is being made`() async throws {
    let journal = try makeJournal { ($0.snapshotRecords, $0.snapshotRatio) = (1, 0) }
    var slow: SlowLedger? = SlowLedger(journal)
    try await slow?.sendDurably(.added(account: 0, amount: 0))
    await wait(for: SlowLedger.encodes)
    weak let dropped = slow
    slow = nil
    while dropped != nil { await Task.yield() }
    let ledger = Ledger(journal)
    for number in 1..<5 {
      try await ledger.sendDurably(.deposit(account: UInt32(number), amount: Int64(number)))
      if number % 2 == 0 { try await journal.compact() }
    }
    SlowLedger.mayEncode.signal()
    try await Task.sleep(for: .milliseconds(50))
    try journal.end()
    // Whichever snapshot is the newest, it contains what it says.
    #expect(try recover() == expected(0..<5))
    // The late one, whose records behind it are removed, has not taken the place of one that can be used.
    store.snapshots.removeAll { $0.position == 5 }
    #expect(store.snapshots.allSatisfy { $0.position > 1 })
    #expect(try recover() == expected(0..<5))
  }

  private func wait(for semaphore: DispatchSemaphore) async {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        semaphore.wait()
        continuation.resume()
      }
    }
  }

  @Test func `What a transform emits when it is connected is durable`() async throws {
    let journal = try makeJournal()
    let greeter = Greeter(journal)
    try greeter.recover()
    let deadline = ContinuousClock.now + .seconds(patience)
    while greeter.durableState.changes == 0, .now < deadline { await Task.yield() }
    #expect(greeter.durableState.changes == 1)
    #expect(store.batches.count == 1)
    try journal.end()
  }

  // MARK: Identifiers

  @Test func `A repeated request has one effect, also after a restart`() async throws {
    for start in 0..<3 {
      let journal = try makeJournal { ($0.snapshotRecords, $0.snapshotRatio) = (start == 1 ? 1 : nil, 0) }
      let ledger = Ledger(journal)
      for _ in 0..<2 { try await ledger.sendDurably(.deposit(account: 1, amount: 10), id: 7) }
      try await ledger.sendDurably(.deposit(account: 1, amount: 1), id: UInt128(100 + start))
      #expect(ledger.currentState.total == Int64(10 + start + 1))
      // A snapshot is encoded beside the turns, and the end of the journal does not wait for it.
      let deadline = ContinuousClock.now + .seconds(patience)
      while start == 1, store.snapshots.isEmpty, .now < deadline { await Task.yield() }
      try journal.end()
    }
    #expect(store.snapshots.count > 0)
    store.snapshots = []
    #expect(try recover().total == 13)
  }

  @Test func `An effect happens once, also if its request is repeated, and not again after a restart`()
    async throws
  {
    let effects = Atomic(0)
    let action = Ledger.Action.notify(account: 1, amount: 5) { effects.add(1, ordering: .relaxed) }
    for start in 1...3 {
      let journal = try makeJournal()
      let ledger = Ledger(journal)
      try ledger.recover()
      #expect(effects.load(ordering: .relaxed) == min(start - 1, 1))
      for _ in 0..<2 { try await ledger.sendDurably(action, id: 7) }
      try journal.end()
      #expect(effects.load(ordering: .relaxed) == 1)
    }
    #expect(try recover().total == 5)
  }

  @Test func `The oldest identifier is forgotten first`() async throws {
    let journal = try makeJournal { $0.requestWindow = 3 }
    let ledger = Ledger(journal)
    for id in 1...4 { try await ledger.sendDurably(.deposit(account: 1, amount: 1), id: UInt128(id)) }
    try await ledger.sendDurably(.deposit(account: 1, amount: 1), id: 2)
    #expect(ledger.currentState.total == 4)
    try await ledger.sendDurably(.deposit(account: 1, amount: 1), id: 1)
    #expect(ledger.currentState.total == 5)
    try journal.end()
  }

  @Test func `A request without an effect may be tried again`() async throws {
    let journal = try makeJournal()
    let ledger = Ledger(journal)
    try await ledger.sendDurably(.transfer(from: 1, to: 2, amount: 5), id: 1)
    try await ledger.sendDurably(.deposit(account: 1, amount: 5))
    try await ledger.sendDurably(.transfer(from: 1, to: 2, amount: 5), id: 1)
    try await ledger.sendDurably(.transfer(from: 1, to: 2, amount: 5), id: 1)
    #expect(ledger.currentState.balances == [1: 0, 2: 5])
    try journal.end()
  }

  // MARK: Determinism

  @Test func `A state that differs from the one that was written is noticed`() async throws {
    try await write(0..<30) { $0.digestRecords = 10 }
    #expect(try recover() == expected(0..<30))
    // Another amount in the fifth record: the digest behind the tenth one differs.
    store.batches[4].bytes[store.batches[4].bytes.count - 1] ^= 1
    #expect(throws: JournalError.diverged(entry: "ledger/1", position: 10)) { try recover() }
  }

  // MARK: Damage

  @Test func `A log with a gap is refused with its position`() async throws {
    try await write(0..<10)
    store.batches.remove(at: 4)
    #expect(throws: JournalError.gap(position: 5)) { try recover() }
  }

  @Test func `Bytes that are no records are refused with their position`() async throws {
    try await write(0..<10)
    store.batches[6].bytes[17] = 9
    #expect(throws: JournalError.malformed(position: 7)) { try recover() }
    store.batches[6].bytes = [1, 2, 3]
    #expect(throws: JournalError.malformed(position: 7)) { try recover() }
  }

  @Test func `A version that the schema does not know is refused with its position`() async throws {
    try await write(0..<3)
    store.batches[1].bytes[12] = 9
    #expect(throws: JournalError.unknownVersion(entry: "ledger/1", version: 9, position: 2)) { try recover() }
  }

  @Test func `A record at which two processes have ended is refused by the third`() async throws {
    let path = "/tmp/mark-\(UInt64.random(in: .min ... .max))"
    defer { unlink(path) }
    try await write(0..<10)
    func die(at position: UInt64) {
      guard let words = try? MappedWords(path: path, count: 4) else { return }
      (words[0], words[1]) = (1, position)
    }
    func start(retries: Bool = false) throws {
      var configuration = JournalConfiguration()
      configuration.replaysTrappedRecords = retries
      let journal = try Journal(store: store, markPath: path, configuration)
      defer { try? journal.end() }
      try Ledger(journal).recover()
    }
    /// A process that ends in its first record to replay, or before it.
    func startAndDie(at position: UInt64) {
      _ = try? ReplayMark(path: path, retries: false)
      die(at: position)
    }
    try start()
    startAndDie(at: 4)
    startAndDie(at: 5)
    startAndDie(at: 5)
    #expect(throws: JournalError.trapped(entry: "ledger/1", position: 5)) { try start() }
    #expect(throws: JournalError.trapped(entry: "ledger/1", position: 5)) { try start() }
    try start(retries: true)
    try start()
    // The record was replayed meanwhile, so the process was killed at it by chance.
    for _ in 0..<3 {
      startAndDie(at: 5)
      try start()
    }
    // No record was being replayed.
    for _ in 0..<3 { startAndDie(at: 0) }
    try start()
  }

  // MARK: History

  @Test func `The history can be replayed up to a position`() async throws {
    try await write(0..<10)
    var totals: [Int64] = []
    let idle = Ledger(try Journal(store: InMemoryStore()))
    let state = try Journal.replay(store, idle, entry: "ledger/1", until: 4) { state, _, position in
      totals.append(state.total)
      #expect(position == UInt64(totals.count))
    }
    #expect(totals == [0, 1, 3, 6])
    #expect(state == expected(0..<4))
  }

  @Test func `The history of a file can be replayed without changing it`() async throws {
    let folder = TemporaryFolder()
    let path = folder.file("journal")
    let journal = try Journal(at: path)
    let ledger = Ledger(journal)
    for number in 0..<5 {
      try await ledger.sendDurably(.deposit(account: UInt32(number), amount: Int64(number)))
    }
    try journal.end()
    let names = folder.names
    let before = try names.map { try bytes(of: folder.file($0)) }
    let idle = Ledger(try Journal(store: InMemoryStore()))
    let reader = SQLiteStore(path: path, access: .readOnly)
    #expect(try Journal.replay(reader, idle, entry: "ledger/1") { _, _, _ in } == expected(0..<5))
    #expect(folder.names == names)
    #expect(try names.map { try bytes(of: folder.file($0)) } == before)
  }

  @Test func `A replay refuses a version that the schema does not know`() async throws {
    try await write(0..<3)
    store.batches[1].bytes[12] = 9
    let idle = Ledger(try Journal(store: InMemoryStore()))
    #expect(throws: JournalError.unknownVersion(entry: "ledger/1", version: 9, position: 2)) {
      _ = try Journal.replay(store, idle, entry: "ledger/1") { _, _, _ in }
    }
  }
}
