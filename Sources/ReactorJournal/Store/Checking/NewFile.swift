import Glibc

/// A journal's file that gets its name when it is complete: a process that is killed before leaves another name, which nothing opens.
struct NewFile {
  private let path: String

  /// What is written before. Left by a process that was killed, it is replaced by the next one.
  private var partialPath: String { path + ".incomplete" }

  init(_ path: String) { self.path = path }

  /// Makes the file.
  ///
  /// - Parameter body: Writes and closes a store at the path that it gets. If it throws, nothing is left.
  /// - Throws: ``JournalError/locked`` if another process makes or uses the file now; another ``JournalError`` if there is one.
  func write<Result>(
    _ body: (_ path: String) throws(JournalError) -> Result
  ) throws(JournalError) -> Result {
    // Before the lock, whose file would stay beside another one.
    try checkIsFree()
    // The lock that the file has later. It stays, as beside every journal.
    let lock = try FileLock.exclusive(path + ".lock")
    defer { withExtendedLifetime(lock) {} }
    try checkIsFree()
    removeParts()
    defer { removeParts() }
    let result = try body(partialPath)
    try publish()
    return result
  }

  private func checkIsFree() throws(JournalError) {
    for name in [path, path + "-wal"] {
      if try fileSize(name) != nil {
        throw .failed(code: 0, message: "There is a file at \(name) already.")
      }
    }
  }

  /// Gives the file its name, durably.
  private func publish() throws(JournalError) {
    // The store removes its log when that is written back.
    guard try fileSize(partialPath + "-wal") == nil else {
      throw .failed(code: 0, message: "\(partialPath) is not complete.")
    }
    try synchronize(partialPath)
    try giveName()
    try synchronize(folder(of: path))
  }

  /// Never replaces another file, which somebody may have made during the copy; but on a file system without links, it may if that
  /// happens in this moment.
  private func giveName() throws(JournalError) {
    if link(partialPath, path) == 0 {
      unlink(partialPath)
      return
    }
    guard errno == EPERM || errno == EOPNOTSUPP, try fileSize(path) == nil, rename(partialPath, path) == 0
    else {
      throw .system("\(partialPath) cannot get the name \(path)")
    }
  }

  /// Removes the file that is not complete, and what is beside it.
  private func removeParts() { for suffix in ["", "-wal", ".lock"] { unlink(partialPath + suffix) } }
}
