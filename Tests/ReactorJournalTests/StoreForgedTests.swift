import Glibc
import TestSupport
import Testing

@testable import ReactorJournal

/// Numbers that no journal has, with the checksums that belong to them: they are refused, and stop no program.
@Suite struct StoreForgedTests {
  private let folder = TemporaryFolder()

  /// As an argument, so that a failure names it.
  private static let numbers = [.max, .max - 1, 1 << 62] as [Int64]

  /// Opens, reads, examines and saves a journal. What each of these throws is not looked at.
  private func useEverything(_ path: String) throws -> JournalReport {
    _ = try? StoreDamageTests.read(path)
    let report = try JournalVerifier.verify(path)
    _ = try? JournalVerifier.salvage(path, to: folder.file("saved"))
    let store = SQLiteStore(path: path)
    if (try? store.open()) != nil { try? store.removeBatches(before: 100) }
    store.close()
    return report
  }

  @Test(arguments: numbers, 0..<3)
  func `A head with a number that is too large is damaged`(_ number: Int64, _ column: Int) throws {
    let (path, _) = try StoreDamageTests.make(in: folder)
    // The epoch, the count of the entries, and the base with its checksum.
    var head = [1, 2, 0, 0] as [Int64]
    head[column] = number
    let checksum = SQLiteSchema.checksum(head[0], head[1], head[2], head[3])
    try StoreDamageTests.execute(
      "UPDATE log SET epoch=\(head[0]),entries=\(head[1]),base=\(head[2]),checksum=\(checksum)", on: path)
    #expect(throws: JournalError.badChecksum(position: 0)) { try StoreDamageTests.read(path) }
    #expect(throws: JournalError.badChecksum(position: 0)) { try Journal(at: path) }
    let report = try useEverything(path)
    #expect(report.fault == .badChecksum(position: 0))
    #expect(report.position == 9)
  }

  @Test(arguments: numbers, [false, true])
  func `An entry with a position that is too large is damaged`(_ number: Int64, isRetired: Bool) throws {
    let (path, _) = try StoreDamageTests.make(in: folder)
    let place = isRetired ? SQLiteSchema.negated(number) : number
    let checksum = SQLiteSchema.checksum(7, place, blob: Array("entry/7".utf8))
    try StoreDamageTests.execute(
      "UPDATE entries SET since=\(place),checksum=\(checksum) WHERE number=7", on: path)
    #expect(throws: JournalError.badChecksum(position: 0)) { try StoreDamageTests.read(path) }
    // Without a head and batches, entries say where the log ends.
    try StoreDamageTests.execute("DELETE FROM log; DELETE FROM batches; DELETE FROM snapshots", on: path)
    #expect(try useEverything(path).position == 0)
  }

  @Test(arguments: numbers) func `A snapshot with a position that is too large is damaged`(_ number: Int64)
    throws
  {
    let (path, _) = try StoreDamageTests.make(in: folder)
    let checksum = SQLiteSchema.checksum(1, number, 1, blob: [])
    try StoreDamageTests.execute(
      "UPDATE snapshots SET position=\(number),version=1,bytes=x'',checksum=\(checksum) WHERE slot=1",
      on: path)
    #expect(try StoreDamageTests.read(path).snapshots[0]?.map(\.position) == [3])
    try StoreDamageTests.execute("DELETE FROM log; DELETE FROM batches", on: path)
    #expect(try useEverything(path).position == 3)
  }

  @Test(arguments: numbers, 0..<3)
  func `A batch with a number that is too large is refused`(_ number: Int64, _ column: Int) throws {
    for place in [1, 4, 7, 10] as [Int64] {
      let store = try StoreSQLiteTests.fill(folder, batches: 4)
      let path = store.path
      store.close()
      try Self.forge(path, place) { $0[column] = number }
      #expect(throws: JournalError.self) { try StoreDamageTests.read(path) }
      let report = try useEverything(path)
      #expect(report.fault != nil)
      #expect(report.position == UInt64(place - 1))
      // Its first position is the beginning of a log without a head.
      try StoreDamageTests.execute("DELETE FROM log; DELETE FROM batches WHERE first<\(place)", on: path)
      #expect(try useEverything(path).fault != nil)
      for name in folder.names { unlink(folder.file(name)) }
    }
  }

  /// Changes the integers of a batch: its first position, its count and its epoch. It and those behind it get the checksums that
  /// belong to that.
  private static func forge(_ path: String, _ place: Int64, _ change: (inout [Int64]) -> Void) throws {
    let database = try SQLiteDatabase(name: path, isWritable: true, vfs: nil)
    try database.execute("PRAGMA locking_mode=EXCLUSIVE")
    let rows = try SQLiteStatement("SELECT first,count,epoch,bytes FROM batches ORDER BY first", of: database)
    var changes: [String] = []
    var checksum: Int64 = 0
    var bytes: [UInt8] = []
    while try rows.next() {
      let first = rows.integer(0)
      var row = [first, rows.integer(1), rows.integer(2)]
      if first == place { change(&row) }
      try rows.copyBlob(3, into: &bytes)
      checksum = SQLiteSchema.checksum(checksum, row[0], row[1], row[2], blob: bytes)
      changes.append(
        "UPDATE batches SET first=\(row[0]),count=\(row[1]),epoch=\(row[2]),checksum=\(checksum) WHERE first=\(first)"
      )
    }
    rows.reset()
    for change in changes.reversed() { try database.execute(change) }
    database.close(checkpoints: true)
  }
}
