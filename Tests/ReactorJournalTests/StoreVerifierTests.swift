import Foundation
import Glibc
import TestSupport
import Testing

@testable import ReactorJournal

/// The examination of whole journals, and what is saved of damaged ones.
@Suite struct StoreVerifierTests {
  @Test func `A good journal has no fault and everything in it is counted`() throws {
    let folder = TemporaryFolder()
    let (path, contents) = try StoreDamageTests.make(in: folder)
    var parts: [Double] = []
    let report = try JournalVerifier.verify(path) { parts.append($0) }
    #expect(report.fault == nil)
    #expect(report.position == 9)
    #expect(report.batchCount == 3)
    #expect(report.byteCount == contents.batches.reduce(0) { $0 + UInt64($1.bytes.count) })
    #expect(report.entries.map(\.recordCount) == [9, 0])
    #expect(report.entries.map(\.byteCount) == [7620, 0])
    #expect(report.entries.map(\.lastPosition) == [9, nil])
    #expect(report.entries[0].snapshots.map(\.position) == [6, 3])
    // Not literals inside of the macro: the compiler takes ten seconds for them.
    let thirds: [Double] = [1 / 3, 2 / 3, 1]
    #expect(parts == thirds)
  }

  /// Changes, and the first fault with the position up to which everything is good.
  @Test(
    arguments: [
      ("UPDATE log SET epoch=9", .badChecksum(position: 0), 9),
      ("UPDATE log SET base=3", .badChecksum(position: 0), 9),
      ("DELETE FROM log", .badChecksum(position: 0), 9),
      ("UPDATE entries SET name=x'61' WHERE number=7", .badChecksum(position: 0), 9),
      ("UPDATE entries SET name=x'61' WHERE number=0", .malformed(position: 1), 0),
      ("UPDATE batches SET first=5 WHERE first=4", .gap(position: 4), 3),
      ("UPDATE batches SET count=-3 WHERE first=7", .badChecksum(position: 7), 6),
      ("UPDATE batches SET bytes=zeroblob(20) WHERE first=1", .badChecksum(position: 1), 0),
      ("UPDATE batches SET bytes=zeroblob(20) WHERE first=7", .badChecksum(position: 7), 6),
      ("DELETE FROM batches WHERE first=4", .gap(position: 4), 3),
      ("DELETE FROM batches WHERE first>1", .gap(position: 4), 3),
      ("DELETE FROM batches", .gap(position: 1), 0),
    ] as [(String, JournalError, UInt64)])
  func `The first fault is reported and what is before it is saved`(
    sql: String, fault: JournalError, position: UInt64
  ) throws {
    let folder = TemporaryFolder()
    let (path, contents) = try StoreDamageTests.make(in: folder)
    try StoreDamageTests.execute(sql, on: path)
    let before = try bytes(of: path)
    let report = try JournalVerifier.verify(path)
    #expect(report.fault == fault)
    #expect(report.position == position)
    #expect(try JournalVerifier.salvage(path, to: folder.file("saved")).fault == fault)
    #expect(try bytes(of: path) == before)
    let saved = try StoreDamageTests.read(folder.file("saved"))
    #expect(saved.position == position)
    #expect(StoreDamageTests.isPrefix(saved, of: contents, entriesMayBeMissing: true))
    #expect(
      saved.snapshots[0, default: []].map(\.position)
        == (sql.contains("number=0") ? [] : [6, 3].filter { $0 <= position }))
    #expect(try JournalVerifier.verify(folder.file("saved")).fault == nil)
    // It is a journal like any other.
    let store = SQLiteStore(path: folder.file("saved"))
    #expect(try store.open().epoch > 1)
  }

  @Test func `A batch whose bytes are no records of known entries is a fault`() throws {
    for (bytes, count) in [
      ([1, 2, 3], 1), (StoreRun.batch(epoch: 1, first: 4, records: 2, size: 1).bytes, 1),
    ] as [([UInt8], UInt32)] {
      let folder = TemporaryFolder()
      let store = try StoreSQLiteTests.fill(folder, batches: 1)
      try store.commit(
        JournalBatch(epoch: 1, first: 4, count: count, bytes: bytes), entries: [], snapshots: [])
      store.close()
      #expect(try JournalVerifier.verify(store.path).fault == .malformed(position: 4))
    }
  }

  @Test func `A record that is older than its entry is a fault`() throws {
    let folder = TemporaryFolder()
    let store = SQLiteStore(path: folder.file("journal"))
    _ = try store.open()
    try store.commit(
      StoreRun.batch(epoch: 1, first: 1, records: 1, size: 1),
      entries: [JournalEntryRow(number: 0, name: "late", since: 1)], snapshots: [])
    store.close()
    #expect(try JournalVerifier.verify(store.path).fault == .malformed(position: 1))
  }

  @Test func `A journal whose first records were removed is saved with its base`() throws {
    let folder = TemporaryFolder()
    let store = try StoreSQLiteTests.fill(folder, batches: 4)
    try store.commit(nil, entries: [], snapshots: [StoreRun.image(of: 0, at: 6)])
    try store.removeBatches(before: 7)
    store.close()
    // A process that writes nothing has an epoch, too.
    let second = SQLiteStore(path: store.path)
    #expect(try second.open().epoch == 2)
    second.close()
    _ = try JournalVerifier.salvage(store.path, to: folder.file("saved"))
    #expect(try JournalVerifier.verify(folder.file("saved")).epoch == 2)
    var whole = try StoreDamageTests.read(store.path)
    #expect(try StoreDamageTests.read(folder.file("saved")) == whole)
    // Without the snapshot, for whose sake the records were removed, the state is lost.
    try StoreDamageTests.execute("DELETE FROM snapshots", on: store.path)
    #expect(try JournalVerifier.verify(store.path).fault == .gap(position: 1))
    whole.snapshots = [:]
    #expect(try StoreDamageTests.read(store.path) == whole)
  }

  /// Its checksum continues that of a batch that was removed, and only the head knows that one.
  @Test(arguments: ["DELETE FROM log", "UPDATE log SET base=2"])
  func `A journal whose first records were removed is saved without its head`(sql: String) throws {
    let folder = TemporaryFolder()
    let store = try StoreSQLiteTests.fill(folder, batches: 4)
    try store.commit(nil, entries: [], snapshots: [StoreRun.image(of: 0, at: 6)])
    try store.removeBatches(before: 7)
    store.close()
    let whole = try StoreDamageTests.read(store.path)
    try StoreDamageTests.execute(sql, on: store.path)
    let report = try JournalVerifier.salvage(store.path, to: folder.file("saved"))
    #expect(report.fault == .badChecksum(position: 0))
    #expect((report.base, report.position) == (6, 12))
    #expect(try StoreDamageTests.read(folder.file("saved")) == whole)
    // Damage behind the first batch is noticed as always.
    try StoreDamageTests.execute("UPDATE batches SET bytes=zeroblob(9) WHERE first=10", on: store.path)
    let both = try JournalVerifier.verify(store.path)
    #expect((both.position, both.fault) == (9, .badChecksum(position: 10)))
  }

  @Test func `A journal without records is saved without its head`() throws {
    let folder = TemporaryFolder()
    let store = try StoreSQLiteTests.fill(folder, batches: 4)
    try store.commit(nil, entries: [], snapshots: [StoreRun.image(of: 0, at: 12)])
    try store.removeBatches(before: 13)
    store.close()
    let whole = try StoreDamageTests.read(store.path)
    try #require(whole.batches.isEmpty && whole.base == 12)
    try StoreDamageTests.execute("DELETE FROM log", on: store.path)
    let report = try JournalVerifier.salvage(store.path, to: folder.file("saved"))
    #expect(report.fault == .badChecksum(position: 0))
    #expect((report.base, report.position) == (12, 12))
    #expect(try StoreDamageTests.read(folder.file("saved")) == whole)
  }

  @Test func `Nothing is saved over a file that exists`() throws {
    let folder = TemporaryFolder()
    let other = TemporaryFolder()
    let (path, _) = try StoreDamageTests.make(in: folder)
    let (occupied, _) = try StoreDamageTests.make(in: other)
    let before = try bytes(of: occupied)
    unlink(occupied + ".lock")
    #expect(throws: JournalError.self) { try JournalVerifier.salvage(path, to: occupied) }
    #expect(try bytes(of: occupied) == before)
    #expect(other.names == ["journal"])
  }

  @Test(arguments: [1, 2, 3])
  func `A salvage that was interrupted leaves nothing under the new name and can be repeated`(
    count: Int
  ) throws {
    let folder = TemporaryFolder()
    let (path, _) = try StoreDamageTests.make(in: folder)
    // What a process leaves that is killed after so many batches.
    let killed = TemporaryFolder()
    var copied = 0
    _ = try JournalVerifier.salvage(path, to: folder.file("saved")) { _ in
      copied += 1
      guard copied == count else { return }
      for name in folder.names {
        _ = FileManager.default.createFile(
          atPath: killed.file(name), contents: FileManager.default.contents(atPath: folder.file(name)))
      }
    }
    #expect(killed.names.contains("saved.incomplete"))
    #expect(!killed.names.contains { $0 == "saved" || $0.hasPrefix("saved-") })
    #expect(throws: JournalError.self) { try JournalVerifier.verify(killed.file("saved")) }
    _ = try JournalVerifier.salvage(killed.file("journal"), to: killed.file("saved"))
    #expect(try StoreDamageTests.read(killed.file("saved")) == StoreDamageTests.read(folder.file("saved")))
    #expect(killed.names.filter { $0.hasPrefix("saved") && $0 != "saved.lock" } == ["saved"])
  }
}
