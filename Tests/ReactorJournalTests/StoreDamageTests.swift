import Glibc
import TestSupport
import Testing

@testable import ReactorJournal

/// Damaged files: what is read from them is what was written up to some position, or an error. Nothing else, and no trap.
@Suite struct StoreDamageTests {
  /// Changes a journal that is closed.
  static func execute(_ sql: String, on path: String) throws {
    let database = try SQLiteDatabase(name: path, isWritable: true, vfs: nil)
    try database.execute("PRAGMA locking_mode=EXCLUSIVE")
    try database.execute(sql)
    database.close(checkpoints: true)
  }

  /// A closed journal with three batches at 1, 4 and 7, two entries and snapshots of entry 0 at 3 and 6.
  static func make(in folder: TemporaryFolder) throws -> (path: String, contents: StoreContents) {
    let run = StoreRun(path: folder.file("journal"))
    let steps: [StoreStep] = [
      .open, .commit(records: 3, size: 20, entry: 0, snapshots: [0]),
      .commit(records: 3, size: 2500, entry: 7, snapshots: [0]), .commit(records: 3, size: 20), .close,
    ]
    for step in steps { try run.perform(step) }
    return (run.path, run.confirmed)
  }

  static func read(
    _ path: String, access: SQLiteStore.Access = .readOnly
  ) throws(JournalError) -> StoreContents {
    let store = SQLiteStore(path: path, access: access)
    let end = try store.open()
    let contents = try StoreContents(of: store, end: end)
    store.close()
    return contents
  }

  /// Each field with a change of it, and what it must lead to. For a snapshot: that it is left out.
  @Test(
    arguments: [
      ("UPDATE log SET epoch=epoch+1", .badChecksum(position: 0)),
      ("UPDATE log SET entries=1", .badChecksum(position: 0)),
      ("UPDATE log SET base=3", .badChecksum(position: 0)),
      ("UPDATE log SET base_checksum=1", .badChecksum(position: 0)),
      ("UPDATE log SET checksum=checksum+1", .badChecksum(position: 0)),
      ("DELETE FROM log", .badChecksum(position: 0)),
      ("UPDATE entries SET number=1 WHERE number=7", .badChecksum(position: 0)),
      ("UPDATE entries SET since=0 WHERE number=7", .badChecksum(position: 0)),
      ("UPDATE entries SET checksum=0 WHERE number=7", .badChecksum(position: 0)),
      ("UPDATE entries SET name=x'61' WHERE number=7", .badChecksum(position: 0)),
      ("DELETE FROM entries WHERE number=7", .badChecksum(position: 0)),
      ("UPDATE batches SET first=5 WHERE first=4", .gap(position: 8)),
      ("UPDATE batches SET first=8 WHERE first=7", .gap(position: 7)),
      ("UPDATE batches SET count=4 WHERE first=1", .badChecksum(position: 1)),
      ("UPDATE batches SET count=-3 WHERE first=1", .gap(position: 1)),
      ("UPDATE batches SET count=2 WHERE first=7", .badChecksum(position: 7)),
      ("UPDATE batches SET count=-3 WHERE first=4", .badChecksum(position: 4)),
      ("UPDATE batches SET epoch=0 WHERE first=4", .badChecksum(position: 4)),
      ("UPDATE batches SET epoch=0 WHERE first=7", .badChecksum(position: 7)),
      ("UPDATE batches SET checksum=checksum+1 WHERE first=1", .badChecksum(position: 1)),
      ("UPDATE batches SET checksum=checksum+1 WHERE first=4", .badChecksum(position: 7)),
      ("UPDATE batches SET bytes=zeroblob(20) WHERE first=1", .badChecksum(position: 1)),
      ("UPDATE batches SET bytes=NULL WHERE first=7", .badChecksum(position: 7)),
      ("DELETE FROM batches WHERE first=1", .gap(position: 1)),
      ("DELETE FROM batches WHERE first=4", .gap(position: 4)),
      ("DELETE FROM batches WHERE first>1", .gap(position: 4)),
      ("DELETE FROM batches", .gap(position: 1)),
      ("UPDATE snapshots SET slot=4 WHERE slot=1", nil),
      ("UPDATE snapshots SET position=1 WHERE slot=1", nil),
      ("UPDATE snapshots SET position=-1 WHERE slot=1", nil),
      ("UPDATE snapshots SET version=1 WHERE slot=1", nil),
      ("UPDATE snapshots SET checksum=1 WHERE slot=1", nil),
      ("UPDATE snapshots SET bytes=x'' WHERE slot=1", nil), ("DELETE FROM snapshots WHERE slot=1", nil),
    ] as [(String, JournalError?)])
  func `A change of any field is noticed`(sql: String, error: JournalError?) throws {
    let folder = TemporaryFolder()
    let (path, contents) = try Self.make(in: folder)
    try Self.execute(sql, on: path)
    if let error {
      #expect(throws: error) { try Self.read(path) }
      #expect(throws: error) { try Self.read(path, access: .readWrite) }
    } else {
      var rest = contents
      rest.snapshots[0]!.removeFirst()
      #expect(try Self.read(path) == rest)
    }
  }

  @Test(arguments: [0, 1])
  func `A new snapshot replaces the damaged one, also if that is the newer one`(slot: Int) throws {
    let folder = TemporaryFolder()
    let (path, contents) = try Self.make(in: folder)
    try Self.execute("UPDATE snapshots SET checksum=1 WHERE slot=\(slot)", on: path)
    let store = SQLiteStore(path: path)
    _ = try store.open()
    let rest = try store.readSnapshots(of: 0)
    #expect(rest.map(\.position) == [slot == 0 ? 6 : 3])
    try store.commit(nil, entries: [], snapshots: [StoreRun.image(of: 0, at: contents.position)])
    #expect(try store.readSnapshots(of: 0) == [StoreRun.image(of: 0, at: contents.position)] + rest)
    // The next one replaces the older one again.
    let batch = StoreRun.batch(epoch: 2, first: contents.position + 1, records: 1, size: 20)
    try store.commit(batch, entries: [], snapshots: [StoreRun.image(of: 0, at: contents.position + 1)])
    #expect(try store.readSnapshots(of: 0).map(\.position) == [contents.position + 1, contents.position])
    store.close()
  }

  /// Whether contents are what was written, up to some batch. Snapshots may be missing.
  static func isPrefix(
    _ found: StoreContents, of whole: StoreContents, entriesMayBeMissing: Bool = false
  ) -> Bool {
    found.base == 0 && found.batches == Array(whole.batches.prefix(found.batches.count))
      && (found.entries == Array(whole.entries.prefix(found.entries.count))
        || entriesMayBeMissing && found.entries.allSatisfy { whole.entries.contains($0) })
      && found.snapshots.allSatisfy { entry, images in
        images.allSatisfy {
          $0 == StoreRun.image(of: entry, at: $0.position) && $0.position <= found.position
        }
      }
  }

  @Test(arguments: [false, true])
  func `Any byte of the file may change and nothing wrong is read`(isLog: Bool) throws {
    var random = SplitMix64(seed: 33)
    let folder = TemporaryFolder()
    var (path, contents) = try Self.make(in: folder)
    if isLog {
      // The log of a process that was killed.
      let run = StoreRun(path: folder.file("killed"))
      for step in StoreStep.script.prefix(7) { try run.perform(step) }
      contents = run.confirmed
      for suffix in ["", "-wal"] { try bytes(of: run.path + suffix).write(to: folder.file("copy") + suffix) }
      path = folder.file("copy")
      run.stop()
    }
    let damaged = isLog ? path + "-wal" : path
    let whole = try bytes(of: damaged)
    var noticed = 0
    for _ in 0..<1500 {
      var changed = whole
      if Int.random(in: 0..<10, using: &random) == 0 {
        changed.removeLast(Int.random(in: 1...whole.count, using: &random))
      } else {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          changed[Int.random(in: 0..<whole.count, using: &random)] = UInt8(truncatingIfNeeded: random.next())
        }
      }
      try changed.write(to: damaged)
      do throws(JournalError) {
        let found = try Self.read(path)
        #expect(Self.isPrefix(found, of: contents))
        if found.position < contents.position { noticed += 1 }
      } catch {
        noticed += 1
      }
    }
    #expect(noticed > 100)
  }
}
