import TestSupport
import Testing

@testable import ReactorJournal

/// The log that a process has left which was killed.
@Suite struct StoreLeftLogTests {
  private let disk = Disk()
  private let folder = TemporaryFolder()
  private let other = TemporaryFolder()

  /// The disk of a process that was killed after some steps, and what it has confirmed.
  private func kill(after steps: [StoreStep]) throws -> (disk: Disk, confirmed: StoreContents) {
    let run = StoreRun(path: folder.file("killed"))
    for step in steps { try run.perform(step, on: disk) }
    defer { run.stop() }
    return (disk.afterPowerCut([UInt32](repeating: 1, count: disk.unsyncedCount)), run.confirmed)
  }

  /// What is left there of the log before it began anew is not needed.
  @Test func `A log that cannot be read behind its last frame is opened`() throws {
    // The second commit is written behind a checkpoint, over the beginning of the log.
    let (left, confirmed) = try kill(after: [
      .open, .commit(records: 1, size: 60_000, entry: 0), .commit(records: 1, size: 9),
    ])
    left.damage("killed-wal", at: left.size(of: "killed-wal") - 4096, 4096)
    let store = SQLiteStore(
      path: other.file("killed"), access: .readWrite, vfs: left.name, checkpointBytes: 1 << 20)
    #expect(try StoreContents(of: store, end: store.open()) == confirmed)
    store.close()
    withExtendedLifetime((disk, left)) {}
  }

  @Test func `A log is opened though the disk has no room for writing it back, which is done later`() throws {
    let (left, confirmed) = try kill(after: [.open, .commit(records: 1, size: 60_000, entry: 0)])
    // Room for the new epoch.
    left.setCapacity(UInt64(left.size(of: "killed") + left.size(of: "killed-wal") + 3 * 4120))
    let store = SQLiteStore(
      path: other.file("killed"), access: .readWrite, vfs: left.name, checkpointBytes: 10 * 4096)
    let end = try store.open()
    #expect(try StoreContents(of: store, end: end) == confirmed)
    let next = StoreRun.batch(epoch: end.epoch, first: end.position + 1, records: 1, size: 9)
    #expect(throws: JournalError.diskFull) { try store.commit(next, entries: [], snapshots: []) }
    left.setCapacity(.max)
    try store.commit(next, entries: [], snapshots: [])
    #expect(left.size(of: "killed") > 60_000)
    #expect(try StoreSQLiteTests.firsts(store, from: 1) == [1, 2])
    store.close()
    withExtendedLifetime((disk, left)) {}
  }
}
