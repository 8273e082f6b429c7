import SimulatedDisk
import TestSupport
import Testing

@testable import ReactorJournal

/// A disk with a part that cannot be read: what is elsewhere is read, and the error is reported with its place.
@Suite struct UnreadableSectorTests {
  private static let pageSize = 4096

  /// Whether this is SQLITE_IOERR, which the extended codes contain.
  private static func isInputOutputError(_ error: JournalError?) -> Bool {
    if case .failed(let code, _) = error { code & 0xFF == 10 } else { false }
  }

  /// A closed journal with six batches of three records, entries and snapshots, and how many pages it has.
  private static func make(on disk: Disk, in folder: TemporaryFolder) throws -> (StoreRun, pages: Int) {
    let run = StoreRun(path: folder.file("journal"))
    try run.perform(.open, on: disk)
    try run.perform(.commit(records: 3, size: 3000, entry: 0, snapshots: [0]), on: disk)
    try run.perform(.commit(records: 3, size: 20, entry: 7, snapshots: [0]), on: disk)
    for size in [3000, 20, 5000, 2000] { try run.perform(.commit(records: 3, size: size), on: disk) }
    try run.perform(.close, on: disk)
    return (run, disk.size(of: "journal") / pageSize)
  }

  private static func reader(_ path: String, on disk: Disk) -> SQLiteStore {
    SQLiteStore(path: path, access: .readOnly, vfs: disk.name, checkpointBytes: 1 << 20)
  }

  @Test func `What is before a sector that cannot be read is verified and saved`() throws {
    let (disk, folder) = (Disk(), TemporaryFolder())
    let (run, pages) = try Self.make(on: disk, in: folder)
    try #require(pages > 10)
    var positions: Set<UInt64> = []
    for page in 1..<pages {
      disk.damage("journal", at: page * Self.pageSize, Self.pageSize)
      let report = try JournalVerifier.verify(Self.reader(run.path, on: disk))
      #expect(report.fault == nil || Self.isInputOutputError(report.fault), "page \(page): \(report.fault!)")
      let newPath = folder.file("saved-\(page)")
      let saving = try JournalVerifier.salvage(Self.reader(run.path, on: disk), to: newPath)
      #expect(saving.position == report.position)
      #expect(saving.fault == report.fault)
      let saved = try StoreDamageTests.read(newPath)
      #expect(saved.position == report.position)
      #expect(StoreDamageTests.isPrefix(saved, of: run.confirmed, entriesMayBeMissing: true))
      guard case .failed(_, let message) = report.fault else {
        #expect(report.position == run.confirmed.position)
        continue
      }
      positions.insert(report.position)
      if report.position < run.confirmed.position, report.entries.count == 2 {
        #expect(message.contains("position \(report.position + 1) cannot be read"), "page \(page)")
      }
    }
    // Each batch but the small ones has a page of its own. With an unreadable head all batches are there.
    #expect(positions.isSuperset(of: [0, 6, 12, 15, 18]))
    withExtendedLifetime(disk) {}
  }

  @Test func `One call of the disk that fails is reported and nothing else is refused after it`() throws {
    let (disk, folder) = (Disk(), TemporaryFolder())
    let (run, _) = try Self.make(on: disk, in: folder)
    let first = disk.calls
    #expect(try JournalVerifier.verify(Self.reader(run.path, on: disk)).fault == nil)
    let count = disk.calls - first
    var reports = 0
    for call in 0..<count {
      disk.fail(at: disk.calls + call, SD_ERROR)
      do throws(JournalError) {
        let report = try JournalVerifier.verify(Self.reader(run.path, on: disk))
        #expect(
          report.fault == nil || Self.isInputOutputError(report.fault), "call \(call): \(report.fault!)")
        if report.fault != nil { reports += 1 }
      } catch {
        // The file cannot be opened. SQLITE_CANTOPEN is a failure, too.
        if case .failed = error {} else { Issue.record("call \(call): \(error)") }
      }
      disk.repair()
    }
    #expect(reports > 5)
    withExtendedLifetime(disk) {}
  }

  @Test func `A store that is open for writing refuses everything after a sector that cannot be read`() throws
  {
    let (disk, folder) = (Disk(), TemporaryFolder())
    let (run, pages) = try Self.make(on: disk, in: folder)
    var failures = 0
    for page in 1..<pages {
      let store = SQLiteStore(
        path: run.path, access: .readWrite, vfs: disk.name, checkpointBytes: 1 << 20)
      _ = try store.open()
      disk.damage("journal", at: page * Self.pageSize, Self.pageSize)
      do throws(JournalError) {
        try store.readBatches(from: 1) { _ throws(JournalError) in true }
      } catch {
        failures += 1
        #expect(Self.isInputOutputError(error))
        #expect(throws: JournalError.fenced) { try store.readSnapshots(of: 0) }
        #expect(throws: JournalError.fenced) { try store.commit(nil, entries: [], snapshots: []) }
      }
      disk.damage("journal", at: 0, 0)
      store.close()
    }
    #expect(failures > 0)
    withExtendedLifetime(disk) {}
  }
}
