import ReactorJournalTesting
import TestSupport
import Testing

@testable import ReactorJournal

/// A batch of an older process behind one of a newer process: two processes have written, or a file is mixed from two.
/// It is refused with its position wherever a log is read, though every checksum is right.
@Suite struct StoreEpochTests {
  /// A closed journal with batches at 1, 4 and 7, which have these epochs and the checksums that belong to them.
  private static func make(_ epochs: [Int64], in folder: TemporaryFolder) throws -> String {
    let (path, _) = try StoreDamageTests.make(in: folder)
    let database = try SQLiteDatabase(name: path, isWritable: true, vfs: nil)
    try database.execute("PRAGMA locking_mode=EXCLUSIVE")
    let rows = try SQLiteStatement("SELECT first,count,bytes FROM batches ORDER BY first", of: database)
    var changes: [String] = []
    var checksum: Int64 = 0
    var bytes: [UInt8] = []
    for epoch in epochs {
      try #require(try rows.next())
      try rows.copyBlob(2, into: &bytes)
      checksum = SQLiteSchema.checksum(checksum, rows.integer(0), rows.integer(1), epoch, blob: bytes)
      changes.append(
        "UPDATE batches SET epoch=\(epoch),checksum=\(checksum) WHERE first=\(rows.integer(0))")
    }
    rows.reset()
    for change in changes { try database.execute(change) }
    database.close(checkpoints: true)
    return path
  }

  @Test func `Epochs that only grow are right`() throws {
    let folder = TemporaryFolder()
    let path = try Self.make([1, 1, 5], in: folder)
    #expect(try StoreDamageTests.read(path).batches.map(\.epoch) == [1, 1, 5])
    #expect(try JournalVerifier.verify(path).fault == nil)
    // The next process comes after the newest one, whatever the head of the log says.
    let store = SQLiteStore(path: path)
    #expect(try store.open().epoch == 6)
  }

  /// The end of a log is checked when it is opened, the rest when it is read.
  @Test(arguments: [([1, 4, 3], 7), ([4, 3, 3], 4), ([4, 3, 5], 4)] as [([Int64], UInt64)])
  func `An epoch that goes back is refused with its position`(epochs: [Int64], position: UInt64) throws {
    let folder = TemporaryFolder()
    let path = try Self.make(epochs, in: folder)
    let fault = JournalError.epochWentBack(position: position)
    #expect(throws: fault) { try StoreDamageTests.read(path) }
    let store = SQLiteStore(path: path, access: .readOnly)
    if position == 7 {
      #expect(throws: fault) { try store.open() }
      #expect(throws: fault) { try Journal(at: path) }
    } else {
      _ = try store.open()
      store.close()
    }
    let report = try JournalVerifier.verify(path)
    #expect(report.fault == fault)
    #expect(report.position == position - 1)
    #expect(try JournalVerifier.salvage(path, to: folder.file("saved")).fault == fault)
    #expect(try StoreDamageTests.read(folder.file("saved")).position == position - 1)
  }

  @Test func `The tool tells of an epoch that went back`() throws {
    let folder = TemporaryFolder()
    let path = try Self.make([4, 3, 5], in: folder)
    let verified = try ToolTests.run("verify", path)
    #expect(verified.status == 1)
    #expect(verified.output.contains("DAMAGED: The batch at position 4 was written by an older process."))
    let dump = try ToolTests.run("dump", "--json", path)
    #expect(dump.status == 1)
    #expect(dump.output.split(separator: "\n").count == 3)
  }

  @Test func `A reactor is not recovered from a log whose epoch goes back`() async throws {
    let store = InMemoryStore()
    for round in 0..<3 as Range<Int64> {
      let journal = try Journal(store: store)
      try await Ledger(journal).sendDurably(.deposit(account: 1, amount: round))
      try journal.end()
    }
    #expect(store.batches.map(\.epoch) == [1, 2, 3])
    store.batches[0].epoch = 7
    let journal = try Journal(store: store)
    let ledger = Ledger(journal)
    #expect(throws: JournalError.epochWentBack(position: 2)) { try ledger.recover() }
    try journal.end()
  }

  @Test func `A store with the first batches of another one goes on with its epochs`() async throws {
    let store = InMemoryStore()
    for round in 0..<3 as Range<Int64> {
      let journal = try Journal(store: store)
      try await Ledger(journal).sendDurably(.deposit(account: 1, amount: round))
      try journal.end()
    }
    let prefix = store.prefix(2)
    for round in 0..<2 as Range<Int64> {
      let journal = try Journal(store: prefix)
      try await Ledger(journal).sendDurably(.deposit(account: 1, amount: round))
      try journal.end()
    }
    #expect(prefix.batches.map(\.epoch) == [1, 2, 4, 5])
    let journal = try Journal(store: prefix)
    let ledger = Ledger(journal)
    try ledger.recover()
    #expect(ledger.currentState.changes == 4)
    try journal.end()
  }
}
