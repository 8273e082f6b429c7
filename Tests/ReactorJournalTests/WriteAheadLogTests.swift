import SimulatedDisk
import TestSupport
import Testing

@testable import ReactorJournal

/// Damage of the write-ahead log: SQLite takes what is behind it for a commit that was never completed.
@Suite struct WriteAheadLogTests {
  private static let frameSize = WriteAheadLog.frameHeaderSize + 4096

  /// The log of a process that was killed after ten commits, beside its file, and which frames are marked as the end of a commit.
  private static func make(in folder: TemporaryFolder) throws -> (
    path: String, contents: StoreContents, isCommit: [Bool]
  ) {
    let store = SQLiteStore(path: folder.file("killed"))
    let epoch = try store.open().epoch
    for index in 0..<10 as Range<UInt64> {
      try store.commit(
        StoreRun.batch(epoch: epoch, first: index + 1, records: 1, size: index % 3 == 0 ? 6000 : 40),
        entries: index == 0 ? [JournalEntryRow(number: 0, name: "a", since: 0)] : [], snapshots: [])
    }
    let path = folder.file("copy")
    for suffix in ["", "-wal"] { try bytes(of: store.path + suffix).write(to: path + suffix) }
    store.close()
    let log = try bytes(of: path + "-wal")
    let count = (log.count - WriteAheadLog.headerSize) / frameSize
    let isCommit = (0..<count).map { frame in
      let start = WriteAheadLog.headerSize + frame * frameSize
      return log[start + 4..<start + 8].contains { $0 != 0 }
    }
    return (path, try StoreDamageTests.read(path), isCommit)
  }

  @Test(arguments: [2, 9, 17, 1000])
  func `A damaged frame before two whole commits is noticed, and what is before it is saved`(byte: Int) throws
  {
    let folder = TemporaryFolder()
    let (path, contents, isCommit) = try Self.make(in: folder)
    #expect(isCommit.count { $0 } > 10)
    let log = try bytes(of: path + "-wal")
    #expect(!WriteAheadLog.hasLostCommits(path + "-wal"))
    var (refusals, losses) = (0, 0)
    for frame in isCommit.indices {
      var changed = log
      changed[WriteAheadLog.headerSize + frame * Self.frameSize + byte] ^= 0x41
      try changed.write(to: path + "-wal")
      // A checksum that is damaged is what the next frame continues.
      let commits = isCommit.dropFirst(frame + (byte == 17 ? 2 : 1)).count { $0 }
      let newPath = folder.file("saved-\(frame)")
      guard commits >= 2 else {
        // A power cut may leave the same.
        #expect(!WriteAheadLog.hasLostCommits(path + "-wal"), "frame \(frame)")
        continue
      }
      #expect(WriteAheadLog.hasLostCommits(path + "-wal"), "frame \(frame)")
      let store = SQLiteStore(path: path)
      let error = #expect(throws: JournalError.self) { try store.open() }
      guard case .failed(_, let message) = error else { continue }
      #expect(message.contains("copy-wal is damaged"), "frame \(frame)")
      #expect(try bytes(of: path + "-wal") == changed)
      refusals += 1
      // Without the frames that made the tables there is no journal.
      guard let report = try? JournalVerifier.verify(path) else { continue }
      #expect(report.fault == error, "frame \(frame)")
      #expect(try JournalVerifier.salvage(path, to: newPath).position == report.position)
      let saved = try StoreDamageTests.read(newPath)
      #expect(StoreDamageTests.isPrefix(saved, of: contents))
      losses += 1
    }
    #expect(refusals > 8)
    #expect(losses > 5)
  }

  @Test func `What is left of a log before it began anew is no lost commit`() throws {
    let (disk, folder) = (Disk(), TemporaryFolder())
    let store = SQLiteStore(
      path: folder.file("journal"), access: .readWrite, vfs: disk.name, checkpointBytes: 20 * 4096)
    let epoch = try store.open().epoch
    for index in 0..<200 as Range<UInt64> {
      try store.commit(
        StoreRun.batch(epoch: epoch, first: index + 1, records: 1, size: 100), entries: [], snapshots: [])
      #expect(!disk.hasLostCommits())
    }
    store.close()
    withExtendedLifetime(disk) {}
  }

  /// Each process counts only what it has written itself, and these write little.
  @Test func `The log of processes that are always killed stays short`() throws {
    let folder = TemporaryFolder()
    for life in 0..<20 as Range<UInt64> {
      let store = SQLiteStore(path: folder.file("\(life)"))
      let end = try store.open()
      #expect(end.position == life)
      try store.commit(
        StoreRun.batch(epoch: end.epoch, first: life + 1, records: 1, size: 400_000), entries: [],
        snapshots: [])
      // What the next process finds is what this one leaves without an end of its own.
      for suffix in ["", "-wal"] {
        try bytes(of: store.path + suffix).write(to: folder.file("\(life + 1)") + suffix)
      }
      #expect(try #require(try fileSize(store.path + "-wal")) < 150 * Self.frameSize)
      store.close()
    }
  }

  @Test func `One power cut after the other leaves no lost commit`() throws {
    var random = SplitMix64(seed: 71)
    var cuts = 0
    for _ in 0..<30 {
      var disk = Disk()
      for _ in 0..<6 {
        disk.fail(at: disk.calls + UInt64.random(in: 20..<90, using: &random), SD_POWER_CUT)
        let folder = TemporaryFolder()
        let store = SQLiteStore(
          path: folder.file("journal"), access: .readWrite, vfs: disk.name, checkpointBytes: 40 * 4096)
        do throws(JournalError) {
          var end = try store.open()
          while true {
            let size = [20, 3000, 20_000].randomElement(using: &random)!
            let batch = StoreRun.batch(epoch: end.epoch, first: end.position + 1, records: 1, size: size)
            try store.commit(batch, entries: [], snapshots: [])
            end.position += 1
          }
        } catch {
          store.close()
        }
        let parts = StorePowerCutTests.remains(of: disk.unsyncedCount, &random).randomElement(using: &random)!
        let remains = disk.afterPowerCut(parts)
        withExtendedLifetime(disk) {}
        disk = remains
        #expect(!disk.hasLostCommits())
        cuts += 1
      }
      withExtendedLifetime(disk) {}
    }
    #expect(cuts == 180)
  }
}
