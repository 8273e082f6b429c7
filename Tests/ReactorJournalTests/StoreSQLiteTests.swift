import Glibc
import ReactorCore
import TestSupport
import Testing

@testable import ReactorJournal

/// A store on a real file.
@Suite struct StoreSQLiteTests {
  /// A journal with batches of 3 records each at 1, 4, 7, …, and its path.
  static func fill(_ folder: TemporaryFolder, batches: Int, size: Int = 50) throws(JournalError)
    -> SQLiteStore
  {
    let store = SQLiteStore(path: folder.file("journal"))
    let end = try store.open()
    for index in 0..<batches {
      try store.commit(
        StoreRun.batch(epoch: end.epoch, first: UInt64(index * 3 + 1), records: 3, size: size),
        entries: index == 0 ? [JournalEntryRow(number: 0, name: "a", since: 0)] : [], snapshots: [])
    }
    return store
  }

  /// The first positions of the batches.
  static func firsts(_ store: SQLiteStore, from first: UInt64) throws(JournalError) -> [UInt64] {
    var found: [UInt64] = []
    try store.readBatches(from: first) { batch throws(JournalError) in
      found.append(batch.first)
      return true
    }
    return found
  }

  @Test func `The script leaves what it wrote and no file but the journal and its lock`() throws {
    let folder = TemporaryFolder()
    let run = StoreRun(path: folder.file("journal"))
    for step in StoreStep.script { try run.perform(step) }
    #expect(folder.names == ["journal", "journal.lock"])
    let store = SQLiteStore(path: run.path)
    let end = try store.open()
    #expect(try StoreContents(of: store, end: end) == run.confirmed)
    #expect(end.epoch == run.epoch + 1)
    #expect(folder.names == ["journal", "journal-wal", "journal.lock"])
  }

  @Test func `Reading begins with the batch that has the position and ends when asked to`() throws {
    let folder = TemporaryFolder()
    let store = try Self.fill(folder, batches: 4)
    #expect(try Self.firsts(store, from: 1) == [1, 4, 7, 10])
    #expect(try Self.firsts(store, from: 6) == [4, 7, 10])
    #expect(try Self.firsts(store, from: 12) == [10])
    #expect(try Self.firsts(store, from: 13) == [])
    #expect(throws: JournalError.gap(position: 0)) { try Self.firsts(store, from: 0) }
    var count = 0
    try store.readBatches(from: 1) { _ throws(JournalError) in
      count += 1
      return count < 2
    }
    #expect(count == 2)
    // A statement that was not read to its end is used again.
    #expect(try Self.firsts(store, from: 1).count == 4)
  }

  @Test func `A batch that does not follow the log is refused and nothing is written`() throws {
    let folder = TemporaryFolder()
    let store = try Self.fill(folder, batches: 1)
    let later = StoreRun.batch(epoch: 1, first: 5, records: 1, size: 1)
    #expect(throws: JournalError.gap(position: 4)) { try store.commit(later, entries: [], snapshots: []) }
    let again = StoreRun.batch(epoch: 1, first: 1, records: 3, size: 1)
    #expect(throws: JournalError.gap(position: 4)) { try store.commit(again, entries: [], snapshots: []) }
    let older = StoreRun.batch(epoch: 0, first: 4, records: 1, size: 1)
    #expect(throws: JournalError.epochWentBack(position: 4)) {
      try store.commit(older, entries: [], snapshots: [])
    }
    let empty = JournalBatch(epoch: 1, first: 4, count: 0, bytes: [])
    #expect(throws: JournalError.malformed(position: 4)) {
      try store.commit(empty, entries: [], snapshots: [])
    }
    let ahead = JournalSnapshot(entry: 0, position: 4, version: 1, bytes: [])
    #expect(throws: JournalError.gap(position: 4)) { try store.commit(nil, entries: [], snapshots: [ahead]) }
    #expect(try Self.firsts(store, from: 1) == [1])
    try store.commit(StoreRun.batch(epoch: 1, first: 4, records: 1, size: 1), entries: [], snapshots: [])
  }

  @Test func `A second store is refused while the first is open`() throws {
    let folder = TemporaryFolder()
    let store = try Self.fill(folder, batches: 1)
    #expect(throws: JournalError.locked) { try SQLiteStore(path: store.path).open() }
    #expect(throws: JournalError.locked) { try SQLiteStore(path: store.path, access: .readOnly).open() }
    store.close()
    let reader = SQLiteStore(path: store.path, access: .readOnly)
    _ = try reader.open()
    // Readers do not exclude one another, but a writer.
    _ = try SQLiteStore(path: store.path, access: .readOnly).open()
    #expect(throws: JournalError.locked) { try SQLiteStore(path: store.path).open() }
    reader.close()
    #expect(try SQLiteStore(path: store.path).open().position == 3)
  }

  @Test func `A copy of the lock's descriptor, as a forked process has it, does not keep the journal locked`()
    throws
  {
    let folder = TemporaryFolder()
    let path = folder.file("lock")
    let copy: Int32
    do {
      let lock = try FileLock.exclusive(path)
      copy = dup(try #require(Self.descriptor(of: path)))
      withExtendedLifetime(lock) {}
    }
    defer { close(copy) }
    _ = try FileLock.exclusive(path)
  }

  /// The number of an open descriptor of a file.
  private static func descriptor(of path: String) -> Int32? {
    var file = stat()
    guard stat(path, &file) == 0 else { return nil }
    return (0..<Int32(getdtablesize())).first { number in
      var other = stat()
      return fstat(number, &other) == 0 && other.st_dev == file.st_dev && other.st_ino == file.st_ino
    }
  }

  @Test func `Removal makes the file smaller and leaves a gap that is refused`() throws {
    let folder = TemporaryFolder()
    var store = try Self.fill(folder, batches: 200, size: 3000)
    store.close()
    let size = try #require(try fileSize(store.path))
    store = SQLiteStore(path: store.path)
    _ = try store.open()
    try store.removeBatches(before: 550)
    store.close()
    #expect(try #require(try fileSize(store.path)) < size / 8)
    store = SQLiteStore(path: store.path)
    let end = try store.open()
    #expect(end.base == 549)
    #expect(end.position == 600)
    #expect(throws: JournalError.gap(position: 549)) { try Self.firsts(store, from: 549) }
    #expect(try Self.firsts(store, from: 550).count == 17)
    // Everything, and then on.
    try store.removeBatches(before: .max)
    try store.commit(
      StoreRun.batch(epoch: end.epoch, first: 601, records: 1, size: 9), entries: [], snapshots: [])
    #expect(try Self.firsts(store, from: 601) == [601])
  }

  @Test func `Removing takes short steps, and a few of them for many small batches`() throws {
    let folder = TemporaryFolder()
    // 4200 batches of some bytes, and then 10 of 512 kB.
    let store = SQLiteStore(path: folder.file("journal"))
    let epoch = try store.open().epoch
    try store.write { connection throws(SQLiteError) in
      try connection.database.execute("PRAGMA synchronous=OFF")
    }
    for index in 0..<4210 {
      let bytes = [UInt8](repeating: 0, count: index < 4200 ? 9 : 512 << 10)
      let batch = JournalBatch(epoch: epoch, first: UInt64(index) + 1, count: 1, bytes: bytes)
      try store.commit(batch, entries: [], snapshots: [])
    }
    var bases: [UInt64] = []
    while try store.removeSomeBatches(before: 4211) { bases.append(UInt64(store.log.base)) }
    // The budget of batches, then the one of bytes, and then the space: 1024 pages at a time.
    #expect(bases.prefix(2) == [4096, 4208])
    #expect(bases.prefix { $0 < 4210 }.count < 4)
    #expect((4...8).contains(bases.count))
    // A commit in between changes nothing in that.
    try store.commit(
      StoreRun.batch(epoch: epoch, first: 4211, records: 1, size: 9), entries: [], snapshots: [])
    #expect(try Self.firsts(store, from: 4211) == [4211])
    store.close()
  }

  /// A log that is written over is synchronised faster than one that becomes longer.
  @Test func `The log of many small commits stays short`() throws {
    let folder = TemporaryFolder()
    let store = SQLiteStore(
      path: folder.file("journal"), access: .readWrite, vfs: nil, checkpointBytes: 1024 * 4096)
    let end = try store.open()
    let page = 4096 + 24
    for position in 1...400 as ClosedRange<UInt64> {
      let batch = StoreRun.batch(epoch: end.epoch, first: position, records: 1, size: 9)
      try store.commit(batch, entries: [], snapshots: [])
    }
    let size = try #require(try fileSize(store.path + "-wal"))
    #expect((SQLiteStore.commitsBeforeEarlyCheckpoint * page..<250 * page).contains(size))
    // Few large ones may be long.
    for position in 401...404 as ClosedRange<UInt64> {
      let batch = StoreRun.batch(epoch: end.epoch, first: position, records: 1, size: 400 * 4096)
      try store.commit(batch, entries: [], snapshots: [])
    }
    #expect(try #require(try fileSize(store.path + "-wal")) > 1024 * page)
    #expect(try Self.firsts(store, from: 1).count == 404)
  }

  @Test func `The newest two snapshots of an entry are kept and a damaged one leaves the other`() throws {
    let folder = TemporaryFolder()
    let store = try Self.fill(folder, batches: 4)
    for position in [3, 6, 9, 12] as [UInt64] {
      let image = JournalSnapshot(entry: 0, position: position, version: 1, bytes: [UInt8(position)])
      try store.commit(nil, entries: [], snapshots: [image])
    }
    #expect(try store.readSnapshots(of: 0).map(\.position) == [12, 9])
    store.close()
    try StoreDamageTests.execute("UPDATE snapshots SET bytes=x'FF' WHERE position=12", on: store.path)
    let again = SQLiteStore(path: store.path)
    _ = try again.open()
    #expect(try again.readSnapshots(of: 0).map(\.position) == [9])
  }

  @Test func `Opening for reading neither makes nor changes a file`() throws {
    let folder = TemporaryFolder()
    let store = try Self.fill(folder, batches: 4)
    // As after `kill -9`: the log is not written back, and there is no lock.
    let copy = TemporaryFolder()
    // With what has a meaning in a URI, and with a character of several bytes.
    let name = "j ü?%#€"
    try bytes(of: folder.file("journal")).write(to: copy.file(name))
    try bytes(of: folder.file("journal-wal")).write(to: copy.file(name + "-wal"))
    for isClosed in [false, true] {
      if isClosed {
        // Now without a log.
        store.close()
        try bytes(of: folder.file("journal")).write(to: copy.file(name))
        unlink(copy.file(name + "-wal"))
      }
      let names = copy.names
      let before = try names.map { try bytes(of: copy.file($0)) }
      let reader = SQLiteStore(path: copy.file(name), access: .readOnly)
      let end = try reader.open()
      #expect(end.position == 12)
      #expect(end.epoch == 1)
      #expect(try Self.firsts(reader, from: 1) == [1, 4, 7, 10])
      #expect(throws: JournalError.self) { try reader.commit(nil, entries: [], snapshots: []) }
      reader.close()
      #expect(copy.names == names)
      #expect(try names.map { try bytes(of: copy.file($0)) } == before)
    }
  }

  @Test func `A path that SQLite takes for no file is a file, or refused`() {
    #expect(SQLiteStore(path: ":memory:").path == "./:memory:")
    #expect(SQLiteStore(path: "file:a?mode=memory").path == "./file:a?mode=memory")
    #expect(throws: JournalError.failed(code: ENOENT, message: "The path of the journal is empty.")) {
      try SQLiteStore(path: "").open()
    }
  }

  /// Otherwise its log and its lock would be looked for beside the link.
  @Test func `A journal is the same one through a symbolic link`() throws {
    let folder = TemporaryFolder()
    let store = try Self.fill(folder, batches: 1)
    let link = folder.file("link")
    #expect(symlink(store.path, link) == 0)
    #expect(throws: JournalError.locked) { try SQLiteStore(path: link, access: .readOnly).open() }
    #expect(throws: JournalError.locked) { try SQLiteStore(path: link).open() }
    store.close()
    _ = try SQLiteStore(path: link, access: .readOnly).open()
  }

  /// SQL that makes another program's database, and one of a later version; nil for a text.
  @Test(
    arguments: [
      nil, "CREATE TABLE a(b)", "PRAGMA application_id=1", "PRAGMA journal_mode=WAL; CREATE TABLE a(b)",
      "PRAGMA user_version=2",
    ])
  func `What is not a journal is refused and not changed`(_ sql: String?) throws {
    let folder = TemporaryFolder()
    let path = folder.file("journal")
    if let sql {
      if sql.contains("user_version") { try Self.fill(folder, batches: 1).close() }
      try StoreDamageTests.execute(sql, on: path)
    } else {
      try [UInt8](
        "This is a text, and long enough for a header of SQLite, which has one hundred bytes: that is not few."
          .utf8
      )
      .write(to: path)
    }
    let before = try bytes(of: path)
    #expect { try SQLiteStore(path: path).open() } throws: { isUnknownFormat($0) }
    #expect(try bytes(of: path) == before)
    #expect(folder.names == ["journal", "journal.lock"])
  }

  /// It was not closed, so its newest changes are in its own log.
  @Test func `A log of another database is refused and not changed`() throws {
    let folder = TemporaryFolder()
    let (path, other) = (folder.file("other"), folder.file("copy"))
    let database = try SQLiteDatabase(name: path, isWritable: true, vfs: nil)
    try database.execute("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; CREATE TABLE a(b)")
    for part in ["", "-wal"] { try bytes(of: path + part).write(to: other + part) }
    database.close(checkpoints: false)
    let before = try ["", "-wal"].map { try bytes(of: other + $0) }
    #expect(!before[1].isEmpty)
    #expect { try SQLiteStore(path: other).open() } throws: { isUnknownFormat($0) }
    #expect(try ["", "-wal"].map { try bytes(of: other + $0) } == before)
  }

  /// The order of what a connection is told matters when a file is made.
  @Test func `A new journal gives unused space back and has a log`() throws {
    let folder = TemporaryFolder()
    let store = try Self.fill(folder, batches: 1)
    let database = try #require(store.connection?.database)
    #expect(try database.integer("PRAGMA auto_vacuum") == 2)
    #expect(try database.integer("PRAGMA page_size") == 4096)
    #expect(try database.integer("PRAGMA synchronous") == 3)
    #expect(try fileSize(store.path + "-wal") ?? 0 > 0)
    #expect(try fileSize(store.path + "-shm") == nil)
  }

  @Test(arguments: [ENOSPC, EDQUOT])
  func `A file that cannot be made for want of space is reported as a full disk`(_ code: Int32) {
    errno = code
    #expect(JournalError.system("The file cannot be made") == .diskFull)
  }

  @Test func `A journal that became empty is refused instead of begun anew`() throws {
    let folder = TemporaryFolder()
    let store = try Self.fill(folder, batches: 1)
    store.close()
    truncate(store.path, 0)
    #expect { try SQLiteStore(path: store.path).open() } throws: { isUnknownFormat($0) }
    // Without its lock, but with a log.
    let other = TemporaryFolder()
    try [1].write(to: other.file("journal-wal"))
    #expect { try SQLiteStore(path: other.file("journal")).open() } throws: { isUnknownFormat($0) }
    #expect(other.names == ["journal-wal", "journal.lock"])
  }
}

func isUnknownFormat(_ error: any Error) -> Bool {
  if case .unknownFormat? = error as? JournalError { true } else { false }
}

/// The contents of a file.
func bytes(of path: String) throws -> [UInt8] {
  let size = try #require(try fileSize(path))
  let descriptor = open(path, O_RDONLY)
  defer { close(descriptor) }
  return [UInt8](unsafeUninitializedCapacity: size) { $1 = read(descriptor, $0.baseAddress, size) }
}

extension [UInt8] {
  /// Makes them the contents of a file.
  func write(to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
    defer { close(descriptor) }
    try #require(Glibc.write(descriptor, self, count) == count)
  }
}
