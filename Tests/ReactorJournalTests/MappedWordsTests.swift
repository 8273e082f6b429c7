import Foundation
import ReactorCore
import ReactorJournalTesting
import Testing

@testable import ReactorJournal

/// The file that notes what is being replayed, on a disk without room.
@Suite struct MappedWordsTests {
  @Test func `The words have their place on the disk before they are written`() throws {
    let folder = TemporaryFolder()
    // Also a file that has its size and no place.
    let (new, sparse) = (folder.file("new"), folder.file("sparse"))
    try [UInt8]().write(to: sparse)
    truncate(sparse, 32)
    for path in [new, sparse] {
      let words = try MappedWords(path: path, count: 4)
      var status = stat()
      #expect(stat(path, &status) == 0)
      #expect(status.st_size == 32)
      #expect(status.st_blocks > 0, "\(path)")
      #expect((0..<4).allSatisfy { words[$0] == 0 })
    }
  }

  @Test(.enabled(if: SmallDisk.isPossible, "there are no rights to mount a file system"))
  func `A full disk is reported, and the journal is not locked afterwards`() throws {
    let folder = TemporaryFolder()
    let disk = try SmallDisk(folder.file("disk"))
    disk.fill()
    #expect { try MappedWords(path: disk.folder + "/words", count: 4) } throws: {
      ($0 as? MappedWords.Refusal)?.isDiskFull == true
    }
    let store = InMemoryStore()
    #expect(throws: JournalError.diskFull) {
      try Journal(store: store, markPath: disk.folder + "/mark", JournalConfiguration())
    }
    try Journal(store: store).end()
  }

  @Test func `A mark that cannot be used is an error, and the journal is not locked afterwards`() throws {
    let store = InMemoryStore()
    #expect {
      try Journal(store: store, markPath: "/nowhere/mark", JournalConfiguration())
    } throws: {
      if case .failed(ENOENT, _) = $0 as? JournalError { true } else { false }
    }
    try Journal(store: store).end()
  }
}

/// A mounted file system in memory, of 16 KiB. Needs root.
private final class SmallDisk {
  let folder: String

  init(_ folder: String) throws {
    self.folder = folder
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    do {
      try LoopMount.run("/bin/mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", folder)
    } catch {
      rmdir(folder)
      throw error
    }
  }

  deinit {
    try? LoopMount.run("/bin/umount", folder)
    rmdir(folder)
  }

  /// Leaves no room.
  func fill() {
    let file = open(folder + "/filling", O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    while write(file, "x", 1) == 1 {}
    close(file)
  }

  static let isPossible: Bool = {
    guard geteuid() == 0 else { return false }
    let folder = TemporaryFolder()
    return (try? SmallDisk(folder.file("disk"))) != nil
  }()
}
