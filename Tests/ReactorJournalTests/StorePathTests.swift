import Glibc
import Testing

@testable import ReactorJournal

/// Paths that the system understands in another way than a text.
@Suite struct StorePathTests {
  /// What is before the NUL would be the journal and its lock in one file.
  @Test func `A path with a NUL is refused and no file is made`() throws {
    let folder = TemporaryFolder()
    #expect(throws: JournalError.failed(code: EINVAL, message: "The path of the journal contains a NUL.")) {
      try SQLiteStore(path: folder.file("journal\0")).open()
    }
    #expect(folder.names == [])
    let store = try StoreSQLiteTests.fill(folder, batches: 1)
    store.close()
    for access in [SQLiteStore.Access.readWrite, .readOnly] {
      #expect(throws: JournalError.self) { try SQLiteStore(path: store.path + "\0x", access: access).open() }
    }
    #expect(throws: JournalError.self) { try JournalVerifier.salvage(store.path, to: folder.file("saved\0")) }
    #expect(folder.names == ["journal", "journal.lock"])
  }

  /// The folder of the process has such a name, so the path has no folder.
  @Test func `A journal in a folder whose name is no UTF-8 is opened again`() async {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      try #require(chdir(folder.path) == 0)
      let name = [CChar](arrayLiteral: -1, 0)
      try #require(mkdir(name, 0o755) == 0 && chdir(name) == 0)
      for position in [0, 3] as [UInt64] {
        let store = SQLiteStore(path: "journal")
        let end = try store.open()
        if end.position != position { fatalError("another journal was opened") }
        if position == 0 {
          try store.commit(
            StoreRun.batch(epoch: end.epoch, first: 1, records: 3, size: 9), entries: [], snapshots: [])
        }
        store.close()
      }
      unlink("journal")
      unlink("journal.lock")
      try #require(chdir(folder.path) == 0 && rmdir(name) == 0)
    }
  }

  /// The lock would be beside the link, and that of another process beside the file.
  @Test func `A symbolic link to no file is refused and no file is made`() throws {
    let folder = TemporaryFolder()
    let link = folder.file("link")
    #expect(symlink(folder.file("journal"), link) == 0)
    let error = #expect(throws: JournalError.self) { try SQLiteStore(path: link).open() }
    #expect(
      error
        == .failed(
          code: ENOENT, message: "The path of the journal is a symbolic link to a file that is not there."))
    #expect(folder.names == ["link"])
  }
}
