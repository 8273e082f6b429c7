import Glibc

/// A lock on a file of its own, which the system releases when the process ends, however it ends.
///
/// SQLite's own locks would not do: they belong to the process, and closing any other descriptor of the same file drops them.
struct FileLock: ~Copyable {
  private let descriptor: Int32

  /// Takes the lock for a writer. The file is created if it is missing.
  ///
  /// - Throws: ``JournalError/locked`` if another has it.
  static func exclusive(_ path: String) throws(JournalError) -> FileLock {
    try check(path)
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .system("The lock file \(path) cannot be opened") }
    return try FileLock(descriptor, LOCK_EX, path)
  }

  /// Takes the lock for a reader, beside other readers; nil if there is no such file, and so no writer.
  static func shared(_ path: String) throws(JournalError) -> FileLock? {
    try check(path)
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      guard errno == ENOENT else { throw .system("The lock file \(path) cannot be opened") }
      return nil
    }
    return try FileLock(descriptor, LOCK_SH, path)
  }

  /// The system takes a path up to its first NUL for the whole of it, so this would be another file: that of the journal.
  private static func check(_ path: String) throws(JournalError) {
    if path.utf8.contains(0) {
      throw .failed(code: EINVAL, message: "The path of the journal contains a NUL.")
    }
  }

  private init(_ descriptor: Int32, _ kind: Int32, _ path: String) throws(JournalError) {
    guard flock(descriptor, kind | LOCK_NB) == 0 else {
      let error: JournalError =
        errno == EWOULDBLOCK ? .locked : .system("The lock file \(path) cannot be locked")
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
  }

  /// Whether the journal was complete once: see ``markComplete()``.
  var isMarkedComplete: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_size > 0
  }

  /// Notes that the journal exists, so that an empty file is known to be a damaged one.
  func markComplete() { _ = write(descriptor, "1\n", 2) }

  /// Takes that back, durably, before the journal is made anew: what a process that is killed meanwhile leaves is no damage.
  func markIncomplete() throws(JournalError) {
    guard ftruncate(descriptor, 0) == 0, fsync(descriptor) == 0 else {
      throw .system("The lock file cannot be changed")
    }
  }

  deinit {
    // Closing alone is not enough: a process that another thread has forked has a copy of the descriptor until it
    // executes its program, and would keep the lock until then.
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }
}

/// The size of a file in bytes; nil if there is none.
///
/// - Throws: Why it is not known whether there is one.
func fileSize(_ path: String) throws(JournalError) -> Int? {
  var status = stat()
  if stat(path, &status) == 0 { return Int(status.st_size) }
  if errno == ENOENT { return nil }
  throw .system("It cannot be found out whether there is a file at \(path)")
}

/// Whether a path is a symbolic link to a file that is not there.
func isDanglingLink(_ path: String) throws(JournalError) -> Bool {
  var status = stat()
  guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return false }
  return try fileSize(path) == nil
}

/// The folder of a file.
func folder(of path: String) -> String {
  guard let slash = path.lastIndex(of: "/") else { return "." }
  return slash == path.startIndex ? "/" : String(path[..<slash])
}

/// Waits until the disk has what was written to a file, or the names in a folder.
func synchronize(_ path: String) throws(JournalError) {
  let file = open(path, O_RDONLY | O_CLOEXEC)
  if file < 0 { throw .system("\(path) cannot be opened") }
  defer { close(file) }
  if fsync(file) != 0 { throw .system("\(path) cannot be made durable") }
}

/// Returns the path of a file itself, beside which SQLite keeps its log: beside a symbolic link to it there is none. If the file is not
/// there, or its own path is no text, the path has a folder: without one, SQLite takes ":memory:" and "file:…" for something else than
/// files.
func ownPath(of path: String) -> String {
  // The system would resolve what is before a NUL. The lock refuses the whole path.
  if !path.utf8.contains(0), let own = realpath(path, nil) {
    defer { free(own) }
    // A folder may have a name that is no UTF-8. A text that was repaired is the path of another file.
    if let text = String(validatingCString: own) { return text }
  }
  return path.isEmpty || path.hasPrefix("/") ? path : "./" + path
}

extension JournalError {
  /// What the last call of the system reports.
  static func system(_ what: String) -> JournalError {
    let code = errno
    if code == ENOSPC || code == EDQUOT { return .diskFull }
    return .failed(code: code, message: "\(what): \(String(cString: strerror(code)))")
  }
}
