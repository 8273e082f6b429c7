import CReactorSQLite
import Glibc

/// What SQLite reports: its extended result code, and its text.
struct SQLiteError: Error {
  var code: Int32
  var message: String
  /// The error number of the system, if that is the reason; otherwise any number. `sqlite3_system_errno` would not do: SQLite does not
  /// set it for an error of a commit.
  var systemCode: Int32 = 0

  /// The code without what extends it.
  var primaryCode: Int32 { code & 0xFF }

  /// Whether the disk has no room for what was written. SQLite has a code for that, but not for a quota that is used up.
  var isDiskFull: Bool {
    primaryCode == SQLITE_FULL || code == Self.writeFailed && systemCode == EDQUOT
  }

  var journalError: JournalError { .failed(code: code, message: message) }

  static let busy = SQLITE_BUSY
  static let corrupt = SQLITE_CORRUPT
  static let notDatabase = SQLITE_NOTADB
  static let readOnly = SQLITE_READONLY
  static let tooBig = SQLITE_TOOBIG

  /// SQLITE_IOERR_WRITE, a macro that Swift does not import.
  static let writeFailed = SQLITE_IOERR | 3 << 8

  /// Whether an extended code says that the disk has reported an error.
  static func isInputOutput(_ code: Int32) -> Bool { code & 0xFF == SQLITE_IOERR }
}

/// One connection to a SQLite file, for one thread at a time. It repeats nothing that fails.
///
/// Only this file calls SQLite.
final class SQLiteDatabase {
  fileprivate let handle: OpaquePointer
  private var isClosed = false

  /// - Parameters:
  ///   - name: A path, or a URI that begins with `file:`.
  ///   - vfs: The part of SQLite that calls the system; nil for the usual one.
  init(name: String, isWritable: Bool, vfs: String?) throws(SQLiteError) {
    let access = isWritable ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY
    var handle: OpaquePointer?
    let code = sqlite3_open_v2(
      name, &handle, access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI, vfs)
    guard let handle, code == SQLITE_OK else {
      let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "SQLite has no memory."
      sqlite3_close_v2(handle)
      throw SQLiteError(code: code, message: message)
    }
    self.handle = handle
  }

  /// Closes the connection. Its statements must be finalized.
  ///
  /// - Parameter checkpoints: Writes the log back into the file and removes it, if that succeeds; otherwise leaves both as they are.
  func close(checkpoints: Bool) {
    isClosed = true
    _ = rr_sqlite_set_checkpoint_on_close(handle, checkpoints ? 1 : 0)
    sqlite3_close_v2(handle)
  }

  deinit { if !isClosed { close(checkpoints: false) } }

  /// Runs SQL that returns no rows of interest.
  func execute(_ sql: String) throws(SQLiteError) { try check(sqlite3_exec(handle, sql, nil, nil, nil)) }

  /// The integer that SQL returns in its first row; 0 if there is none.
  func integer(_ sql: String) throws(SQLiteError) -> Int64 {
    let statement = try SQLiteStatement(sql, of: self)
    return try statement.next() ? statement.integer(0) : 0
  }

  /// Whether a transaction is open.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  /// Writes all of the log back into the file, so that the next transaction begins the log anew.
  ///
  /// - Parameter truncates: Whether the log is made empty. Otherwise the next transactions write over it.
  func checkpoint(truncates: Bool = false) throws(SQLiteError) {
    let mode = truncates ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE
    try check(sqlite3_wal_checkpoint_v2(handle, nil, mode, nil, nil))
    _ = writtenPages(resets: true)
  }

  /// Makes durable what the write-ahead log contains: writes its frames over themselves, and waits for the disk. Something of the file
  /// must have been read before, so that SQLite has the log open and locked. What is behind the last frame that SQLite uses stays as it is:
  /// it is left of an earlier log, may be long, and need not be readable.
  ///
  /// When a synchronisation fails, the system forgets that the pages are not on the disk, and still returns them when the file is read.
  /// A later synchronisation succeeds without writing them. Only a page that is written again is synchronised again. If the power
  /// fails in between, nothing has changed: old bytes and new ones are the same.
  ///
  /// - Returns: How many frames the log has. The system may have dropped such pages since SQLite has read them, so if there are any, open
  ///   another connection then, and continue with that one.
  func rewriteLog() throws(SQLiteError) -> Int {
    var file: UnsafeMutablePointer<sqlite3_file>?
    try check(sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file))
    // A file that is not open has no methods.
    guard let file, let methods = file.pointee.pMethods?.pointee else { return 0 }
    var size: sqlite3_int64 = 0
    try checkLog(methods.xFileSize(file, &size))
    func transfer(_ bytes: inout [UInt8], at offset: Int, writes: Bool) throws(SQLiteError) {
      let code = bytes.withUnsafeMutableBytes { bytes in
        let (count, offset) = (Int32(bytes.count), sqlite3_int64(offset))
        return writes
          ? methods.xWrite(file, bytes.baseAddress, count, offset)
          : methods.xRead(file, bytes.baseAddress, count, offset)
      }
      try checkLog(code)
    }
    var header = [UInt8](repeating: 0, count: WriteAheadLog.headerSize)
    if size < header.count { return 0 }
    try transfer(&header, at: 0, writes: false)
    guard var log = WriteAheadLog(header: header) else { return 0 }
    var frame = [UInt8](repeating: 0, count: log.frameSize)
    var (end, count) = (header.count, 0)
    while end + frame.count <= size {
      try transfer(&frame, at: end, writes: false)
      log.read(frame)
      if log.isBehindFault { break }
      try transfer(&frame, at: end, writes: true)
      end += frame.count
      count += 1
    }
    if count == 0 { return 0 }
    try transfer(&header, at: 0, writes: true)
    try checkLog(methods.xSync(file, SQLITE_SYNC_FULL))
    return count
  }

  /// Throws the error of a call that does not go through the connection, and which that does not know.
  private func checkLog(_ code: Int32) throws(SQLiteError) {
    if code == SQLITE_OK { return }
    let systemCode = errno
    throw SQLiteError(
      code: code,
      message: "The write-ahead log cannot be made durable: \(String(cString: sqlite3_errstr(code)))",
      systemCode: systemCode)
  }

  /// How many pages were written to the log since the last checkpoint.
  func writtenPages(resets: Bool = false) -> Int {
    var current: Int32 = 0
    var highest: Int32 = 0
    sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &current, &highest, resets ? 1 : 0)
    return Int(current)
  }

  fileprivate func check(_ code: Int32) throws(SQLiteError) {
    guard code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW else {
      // First, before another call of the system.
      let systemCode = errno
      throw SQLiteError(
        code: code, message: String(cString: sqlite3_errmsg(handle)), systemCode: systemCode)
    }
  }
}

/// A prepared statement. Its parameters and its columns are integers, and at most one blob, which is the last.
final class SQLiteStatement {
  private let handle: OpaquePointer
  private let database: SQLiteDatabase

  init(_ sql: String, of database: SQLiteDatabase) throws(SQLiteError) {
    var handle: OpaquePointer?
    try database.check(
      sqlite3_prepare_v3(database.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil))
    guard let handle else {
      throw SQLiteError(code: SQLITE_MISUSE, message: "There is no statement in: \(sql)")
    }
    self.handle = handle
    self.database = database
  }

  deinit { sqlite3_finalize(handle) }

  /// Runs the statement to its end.
  func run(_ integers: Int64..., blob: [UInt8]? = nil) throws(SQLiteError) {
    try bind(integers)
    defer { reset() }
    guard let blob else {
      _ = try next()
      return
    }
    // SQLite does not copy the bytes, so they are bound only while they cannot move.
    try blob.span.bytes.withUnsafeBytes { bytes throws(SQLiteError) in
      // An empty array may have no address, which would bind NULL.
      let code =
        bytes.isEmpty
        ? sqlite3_bind_zeroblob(handle, Int32(integers.count + 1), 0)
        : sqlite3_bind_blob64(handle, Int32(integers.count + 1), bytes.baseAddress, UInt64(bytes.count), nil)
      try database.check(code)
      defer { sqlite3_clear_bindings(handle) }
      _ = try next()
    }
  }

  /// Begins to read rows; ``next()`` goes to the first. ``reset()`` must follow.
  func start(_ integers: Int64...) throws(SQLiteError) { try bind(integers) }

  /// Goes to the next row, and returns whether there is one.
  func next() throws(SQLiteError) -> Bool {
    let code = sqlite3_step(handle)
    try database.check(code)
    return code == SQLITE_ROW
  }

  /// Ends reading, so that the statement can be used again.
  func reset() {
    // It repeats the error that the last step has reported.
    sqlite3_reset(handle)
  }

  /// A column of the current row.
  func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  /// Copies a column of the current row, into memory that `bytes` has if it is enough.
  func copyBlob(_ column: Int32, into bytes: inout [UInt8]) throws(SQLiteError) {
    bytes.removeAll(keepingCapacity: true)
    let address = sqlite3_column_blob(handle, column)
    // What cannot be read is NULL, and the reason is the connection's error.
    guard let address else {
      return try database.check(sqlite3_errcode(database.handle) == SQLITE_NOMEM ? SQLITE_NOMEM : SQLITE_OK)
    }
    bytes.append(
      contentsOf: UnsafeRawBufferPointer(start: address, count: Int(sqlite3_column_bytes(handle, column))))
  }

  private func bind(_ integers: [Int64]) throws(SQLiteError) {
    for (index, value) in integers.enumerated() {
      try database.check(sqlite3_bind_int64(handle, Int32(index + 1), value))
    }
  }
}

extension SQLiteError {
  /// What is in a file that SQLite can read, and that is no journal.
  static func notJournal(_ message: String) -> SQLiteError {
    SQLiteError(code: SQLITE_NOTADB, message: message)
  }
}
