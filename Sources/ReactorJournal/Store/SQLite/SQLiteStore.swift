import Glibc

/// A journal in one file of SQLite, with its write-ahead log (`-wal`) and its lock (`.lock`) beside it.
///
/// Each commit is one transaction, which is durable when it returns: SQLite writes it to the log and waits for the disk
/// (`synchronous=FULL`). Checkpoints are on the same connection, which is the only one.
///
/// Opening it for writing makes durable what it finds, before anything of that is shown or confirmed, and writes the log back, now or,
/// if the disk has no room for that, later.
///
/// After an error of SQLite other than a full disk the store refuses everything: SQLite itself would accept later commits, though
/// the one that failed may be missing.
///
/// A commit is O(its bytes); from time to time it writes the log back first, which is O(the log), at most about
/// ``defaultCheckpointBytes``.
// Unchecked: a store is used by one thread at a time, as JournalStore says. SQLite's connection may move between threads.
public final class SQLiteStore: JournalStore, @unchecked Sendable {
  /// What a store is opened for.
  public enum Access: Sendable {
    case readWrite
    /// Writes nothing, and makes no file. A writer is refused meanwhile if the journal has its `.lock` beside it. A copy without that
    /// file has no lock, since a reader makes none: let nobody write to it meanwhile.
    case readOnly
  }

  /// How many bytes the log may have before they are written back. Of many small commits, a sixteenth of that.
  public static let defaultCheckpointBytes = 64 << 20

  /// After so many commits the log is written back early: synchronising both files again costs a fraction of these commits. The next
  /// ones write over the log, which takes less time than to make a file longer.
  static let commitsBeforeEarlyCheckpoint = 128

  /// SQLite takes rows of 10⁹ bytes; some of them are for the other columns.
  static let defaultLargestSnapshot = 1_000_000_000 - 1024

  public let largestSnapshot: Int
  let path: String
  let access: Access
  private let vfs: String?
  let checkpointPages: Int

  private var lock: FileLock?
  private(set) var connection: SQLiteConnection?
  private var isFenced = false
  /// The error after which the store refuses everything; nil if there was none, or if it is closed only.
  public private(set) var failure: JournalError?
  /// Whether the file had bytes, and had been a journal, before it was opened.
  private var wasJournal = false
  private var commitsSinceCheckpoint = 0
  /// How many pages of an earlier process are in the log only, since the disk had no room for writing them back.
  private var leftPages = 0
  /// What the file says of the log, as of the last commit.
  var log = SQLiteLog()

  /// How many of the file's unused pages are still to be given back after a removal; nil if none is going on.
  var pagesToRelease: Int64?

  /// The retired entries that the file has, by the last position that their records may have.
  var retired: [(number: UInt32, until: UInt64)] = []

  /// The slots with a snapshot that was found damaged, or that the journal cannot use.
  var damagedSlots: Set<Int64> = []

  /// The positions of the good snapshots that were read last, by their slots: of one entry.
  var readPositions: [Int64: UInt64] = [:]

  /// Describes a store. ``open()`` makes the file if it is missing.
  ///
  /// - Parameters:
  ///   - path: The file. Its folder must exist, on a file system of this machine.
  ///   - access: What it is opened for.
  public convenience init(path: String, access: Access = .readWrite) {
    self.init(path: path, access: access, vfs: nil, checkpointBytes: Self.defaultCheckpointBytes)
  }

  init(
    path: String, access: Access, vfs: String?, checkpointBytes: Int,
    largestSnapshot: Int = defaultLargestSnapshot
  ) {
    self.largestSnapshot = largestSnapshot
    self.path = vfs == nil ? ownPath(of: path) : path
    self.access = access
    self.vfs = vfs
    checkpointPages = checkpointBytes / 4096
  }

  deinit { close() }

  public func open() throws(JournalError) -> JournalEnd {
    try open { fault throws(JournalError) in throw fault }
  }

  /// Opens the store.
  ///
  /// - Parameter report: Is called with what is wrong with the contents, and throws it, unless the store may be damaged.
  func open(_ report: (JournalError) throws(JournalError) -> Void) throws(JournalError) -> JournalEnd {
    guard connection == nil, !isFenced else { throw .fenced }
    do throws(JournalError) {
      // SQLite would keep such a journal in a file that goes away with it.
      if path.isEmpty { throw .failed(code: ENOENT, message: "The path of the journal is empty.") }
      // SQLite would make the file behind the link, with its log there; the lock would be beside the link.
      if vfs == nil, try isDanglingLink(path) {
        throw .failed(
          code: ENOENT, message: "The path of the journal is a symbolic link to a file that is not there.")
      }
      try takeLock()
      try checkWriteAheadLog(report)
      let frames: Int
      (connection, frames) = try connect()
      let entries = try readLog(report)
      retired = entries.compactMap { entry in entry.until.map { (entry.number, $0) } }
        .sorted { $0.until < $1.until }
      if access == .readWrite {
        try beginEpoch()
        if frames > 0 { try writeBack(frames) }
        // The names of new files are durable before anything in them is confirmed. SQLite does that, too, but not if it fails.
        if vfs == nil { try synchronize(folder(of: path)) }
      }
      lock?.markComplete()
      return JournalEnd(
        base: UInt64(log.base), position: UInt64(log.position), epoch: UInt64(log.epoch), entries: entries)
    } catch {
      isFenced = true
      close()
      throw error
    }
  }

  public func close() {
    if let database = connection?.database {
      // Its statements go first.
      connection = nil
      database.close(checkpoints: access == .readWrite && !isFenced)
    }
    isFenced = true
    lock = nil
  }

  /// Makes sure that no other process writes.
  private func takeLock() throws(JournalError) {
    switch access {
    case .readWrite: lock = try .exclusive(path + ".lock")
    case .readOnly: lock = try .shared(path + ".lock")
    }
    if vfs != nil { return }
    let size = try fileSize(path)
    wasJournal = lock?.isMarkedComplete == true && size != nil
    // SQLite would take an empty file for a new one, and remove its log.
    guard size ?? 0 == 0 else { return }
    guard !wasJournal, try fileSize(path + "-wal") ?? 0 == 0 else {
      throw .unknownFormat("The file is empty.")
    }
    if access == .readWrite, lock?.isMarkedComplete == true { try lock?.markIncomplete() }
  }

  /// Reports commits that SQLite would overlook. Before it opens the file: it would write over them.
  private func checkWriteAheadLog(
    _ report: (JournalError) throws(JournalError) -> Void
  ) throws(JournalError) {
    guard vfs == nil, WriteAheadLog.hasLostCommits(path + "-wal") else { return }
    try report(
      .failed(
        code: 0, message: "The file \(path)-wal is damaged, and the commits behind the damage cannot be read."
      ))
  }

  /// Opens the file, and makes the tables in a new one.
  ///
  /// - Returns: Also how many frames the log had, if the store is opened for writing. They are durable then.
  private func connect() throws(JournalError) -> (SQLiteConnection, frames: Int) {
    let hasLog = try fileSize(path + "-wal") != nil
    let name = try name()
    do throws(SQLiteError) {
      var (database, isNew) = try openDatabase(name, hasLog: hasLog)
      guard access == .readWrite else { return (try SQLiteConnection(database), 0) }
      let frames = try database.rewriteLog()
      if frames > 0 {
        database.close(checkpoints: false)
        (database, isNew) = try openDatabase(name, hasLog: hasLog)
      }
      try SQLiteSchema.configureWriter(database)
      if isNew { try SQLiteSchema.create(in: database) }
      return (try SQLiteConnection(database), frames)
    } catch {
      switch error.primaryCode {
      case _ where error.isDiskFull: throw .diskFull
      case SQLiteError.busy: throw .locked
      case SQLiteError.notDatabase: throw .unknownFormat(error.message)
      default: throw error.journalError
      }
    }
  }

  /// Opens the file, and checks that it is a journal, or empty. Writes nothing.
  ///
  /// - Parameters:
  ///   - name: The file, as SQLite wants it.
  ///   - hasLog: Whether it has a log.
  private func openDatabase(_ name: String, hasLog: Bool) throws(SQLiteError) -> (SQLiteDatabase, isNew: Bool)
  {
    let database = try SQLiteDatabase(name: name, isWritable: access == .readWrite, vfs: vfsName)
    try SQLiteSchema.configure(database)
    let isNew = access == .readWrite ? try SQLiteSchema.isEmpty(database) : false
    var fault: String?
    if !isNew {
      fault = try SQLiteSchema.fault(of: database)
    } else if wasJournal {
      // The tables of a new journal are in the log only, until that is written back.
      fault = "The write-ahead log of the journal is missing."
    }
    if let fault {
      // SQLite has made an empty log for a database that uses one. If there was none before, it removes that.
      database.close(checkpoints: access == .readWrite && !hasLog)
      throw SQLiteError.notJournal(fault)
    }
    return (database, isNew)
  }

  /// The file as SQLite wants it. A reader must not make a log: if there is none, SQLite is told that nothing changes.
  private func name() throws(JournalError) -> String {
    guard access == .readOnly, try fileSize(path + "-wal") ?? 0 == 0 else { return path }
    var name = "file:"
    for byte in path.utf8 {
      // What has a meaning in a URI, and what is only a part of a character.
      let isSpecial = byte == UInt8(ascii: "%") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
      name += isSpecial || byte >= 0x80 ? "%" + String(byte, radix: 16) : String(UnicodeScalar(byte))
    }
    return name + "?immutable=1"
  }

  /// A reader has no lock of SQLite's, which would need the right to write: the file beside is enough.
  private var vfsName: String? { vfs ?? (access == .readOnly ? "unix-none" : nil) }

  /// Runs `body` with the connection. After an error of SQLite a store that is open for writing refuses everything. One that is open for
  /// reading goes on: an error of one read changes nothing in what another one finds.
  ///
  /// - Parameter position: What is read; 0 for what is no batch. A damaged page is reported as a wrong checksum there, and one that the
  ///   disk cannot read as an error that names it.
  func perform<Result>(
    at position: Int64 = 0, _ body: (SQLiteConnection) throws(SQLiteError) -> Result
  ) throws(JournalError) -> Result {
    guard let connection, !isFenced else { throw .fenced }
    do throws(SQLiteError) {
      return try body(connection)
    } catch {
      if error.primaryCode == SQLiteError.corrupt { throw .badChecksum(position: UInt64(position)) }
      let isOfBatch = SQLiteError.isInputOutput(error.code) && position > 0
      let reported: JournalError =
        isOfBatch
        ? .failed(
          code: error.code, message: "The batch at position \(position) cannot be read: \(error.message)")
        : error.journalError
      if access == .readWrite { fence(reported) }
      throw reported
    }
  }

  /// Runs `body` as one transaction.
  func transaction(_ body: (SQLiteConnection) throws(SQLiteError) -> Void) throws(JournalError) {
    try write { connection throws(SQLiteError) in
      // Not after a commit: an error then would be one of the next commit, not of this one, which is durable.
      try checkpointIfDue(connection)
      try connection.begin.run()
      try body(connection)
      try connection.commit.run()
    }
  }

  /// Writes the log of an earlier process back. Else the log of processes that are always killed would become longer and longer: each
  /// counts only what it has written itself.
  private func writeBack(_ frames: Int) throws(JournalError) {
    do throws(JournalError) {
      try write { connection throws(SQLiteError) in try connection.database.checkpoint(truncates: true) }
    } catch .diskFull {
      // The log is durable all the same.
      leftPages = frames
    }
  }

  /// Writes the log back if it is long, or not so short and of many commits.
  private func checkpointIfDue(_ connection: SQLiteConnection) throws(SQLiteError) {
    let pages = connection.database.writtenPages() + leftPages
    let mayBeEarly = commitsSinceCheckpoint >= Self.commitsBeforeEarlyCheckpoint
    if pages >= (mayBeEarly ? checkpointPages / 16 : checkpointPages) {
      try connection.database.checkpoint()
      (commitsSinceCheckpoint, leftPages) = (0, 0)
    }
    commitsSinceCheckpoint += 1
  }

  /// Runs `body`, which writes. After an error the store refuses everything, unless the disk is full and nothing has changed.
  func write(_ body: (SQLiteConnection) throws(SQLiteError) -> Void) throws(JournalError) {
    guard let connection, !isFenced else { throw .fenced }
    guard access == .readWrite else {
      throw .failed(code: SQLiteError.readOnly, message: "The store is open for reading only.")
    }
    do throws(SQLiteError) {
      try body(connection)
    } catch {
      isFenced = true
      guard error.isDiskFull, isUnchanged(connection) else {
        fence(error.journalError)
        throw error.journalError
      }
      isFenced = false
      throw .diskFull
    }
  }

  /// Refuses everything from now on.
  private func fence(_ error: JournalError) {
    isFenced = true
    failure = failure ?? error
  }

  /// Rolls a transaction back for which there was no space, and returns whether the log ends where it did.
  private func isUnchanged(_ connection: SQLiteConnection) -> Bool {
    do throws(SQLiteError) {
      if connection.database.isInTransaction { try connection.database.execute("ROLLBACK") }
      return try connection.lastBatch().map { $0.last == log.position && $0.checksum == log.checksum }
        ?? (log.position == log.base)
    } catch {
      return false
    }
  }
}
