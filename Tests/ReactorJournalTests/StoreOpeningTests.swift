import Glibc
import TestSupport
import Testing

@testable import ReactorJournal

/// What is found out about the files before a store is opened.
@Suite struct StoreOpeningTests {
  private let folder = TemporaryFolder()
  private let other = TemporaryFolder()

  private func copy(_ path: String, _ suffixes: [String]) throws {
    for suffix in suffixes { try bytes(of: path + suffix).write(to: other.file("journal") + suffix) }
  }

  /// Its tables are in the log only.
  @Test func `A new journal whose write-ahead log is lost is refused`() throws {
    let store = try StoreSQLiteTests.fill(folder, batches: 2)
    try copy(store.path, ["", ".lock"])
    store.close()
    let left = try bytes(of: other.file("journal"))
    for _ in 0..<2 {
      #expect { try SQLiteStore(path: other.file("journal")).open() } throws: { isUnknownFormat($0) }
    }
    #expect(try bytes(of: other.file("journal")) == left)
  }

  @Test func `A journal is made anew where another one was removed, also after a process that was killed`()
    throws
  {
    let store = try StoreSQLiteTests.fill(folder, batches: 2)
    try copy(store.path, [".lock"])
    // It cannot make the tables, since SQLite needs a file with this name for that.
    try #require(mkdir(other.file("journal-journal"), 0o755) == 0)
    #expect(throws: JournalError.self) { try SQLiteStore(path: other.file("journal")).open() }
    try #require(rmdir(other.file("journal-journal")) == 0)
    // What a process leaves that is killed before it has made the tables.
    try copy(store.path, [""])
    store.close()
    let new = SQLiteStore(path: other.file("journal"))
    #expect(try new.open().position == 0)
    new.close()
    #expect(try SQLiteStore(path: other.file("journal")).open().epoch == 2)
  }

  /// The system reports an error, so it is not known whether there is a file.
  @Test func `A log that cannot be looked for is not taken for one that is not there`() throws {
    let store = try StoreSQLiteTests.fill(folder, batches: 2)
    store.close()
    let log = store.path + "-wal"
    try #require(symlink(log, log) == 0)
    #expect { try fileSize(log) } throws: { isSystemError($0, ELOOP) }
    #expect { try SQLiteStore(path: store.path, access: .readOnly).open() } throws: {
      isSystemError($0, ELOOP)
    }
    #expect { try JournalVerifier.verify(store.path) } throws: { isSystemError($0, ELOOP) }
  }

  /// The system makes nothing durable there.
  @Test func `A folder that cannot be made durable is an error`() throws {
    try synchronize(ReactorJournal.folder(of: folder.file("journal")))
    #expect { try synchronize(ReactorJournal.folder(of: "/proc/journal")) } throws: {
      isSystemError($0, EINVAL)
    }
    #expect(ReactorJournal.folder(of: "/journal") == "/")
    #expect(ReactorJournal.folder(of: "journal") == ".")
  }

  private func isSystemError(_ error: any Error, _ number: Int32) -> Bool {
    if case .failed(number, _)? = error as? JournalError { true } else { false }
  }
}
