/// The connection of a store, with its prepared statements.
final class SQLiteConnection {
  let database: SQLiteDatabase

  let begin: SQLiteStatement
  let commit: SQLiteStatement

  let insertBatch: SQLiteStatement
  let insertEntry: SQLiteStatement
  let putRetired: SQLiteStatement
  let removeEntry: SQLiteStatement
  let removeSnapshots: SQLiteStatement
  let putSnapshot: SQLiteStatement
  let putLog: SQLiteStatement
  let removeBatches: SQLiteStatement

  let log: SQLiteStatement
  let entries: SQLiteStatement
  let batchesFrom: SQLiteStatement
  let batchSizesFrom: SQLiteStatement
  let batchesBackFrom: SQLiteStatement
  let snapshots: SQLiteStatement

  init(_ database: SQLiteDatabase) throws(SQLiteError) {
    func prepare(_ sql: String) throws(SQLiteError) -> SQLiteStatement {
      try SQLiteStatement(sql, of: database)
    }
    self.database = database
    begin = try prepare("BEGIN IMMEDIATE")
    commit = try prepare("COMMIT")
    insertBatch = try prepare("INSERT INTO batches VALUES(?,?,?,?,?)")
    insertEntry = try prepare("INSERT INTO entries VALUES(?,?,?,?)")
    putRetired = try prepare("INSERT OR REPLACE INTO entries VALUES(?,?,?,?)")
    removeEntry = try prepare("DELETE FROM entries WHERE number=?")
    removeSnapshots = try prepare("DELETE FROM snapshots WHERE slot BETWEEN ? AND ?")
    putSnapshot = try prepare("INSERT OR REPLACE INTO snapshots VALUES(?,?,?,?,?)")
    putLog = try prepare("INSERT OR REPLACE INTO log VALUES(1,?,?,?,?,?,x'')")
    removeBatches = try prepare("DELETE FROM batches WHERE first<=?")
    log = try prepare("SELECT epoch,entries,base,base_checksum,checksum FROM log")
    entries = try prepare("SELECT number,since,checksum,name FROM entries ORDER BY number")
    batchesFrom = try prepare(
      "SELECT first,count,epoch,checksum,bytes FROM batches WHERE first>=? ORDER BY first")
    // SQLite reads no bytes for that.
    batchSizesFrom = try prepare(
      "SELECT first,count,epoch,checksum,length(bytes) FROM batches WHERE first>=? ORDER BY first")
    batchesBackFrom = try prepare(
      "SELECT first,count,epoch,checksum,bytes FROM batches WHERE first<=? ORDER BY first DESC LIMIT 2")
    snapshots = try prepare(
      "SELECT slot,position,version,checksum,bytes FROM snapshots WHERE slot BETWEEN ? AND ? ORDER BY slot")
  }

  /// The last row of the batches; nil if there is none.
  func lastBatch() throws(SQLiteError) -> SQLiteBatchRow? {
    try batchesBackFrom.start(.max)
    defer { batchesBackFrom.reset() }
    return try batchesBackFrom.next() ? SQLiteBatchRow(batchesBackFrom) : nil
  }
}

/// The row of the table `log`, and the end of the log that follows from the last batch.
struct SQLiteLog {
  /// Of the writer that has the file open, or of the last one.
  var epoch: Int64 = 0
  /// How many rows the table `entries` has.
  var entryCount: Int64 = 0
  /// The last position that was removed, and the checksum of its batch.
  var base: Int64 = 0
  var baseChecksum: Int64 = 0
  /// Whether that checksum is known: not if the row is damaged. Then nothing checks the first batch.
  var isBaseChecksumKnown = true

  /// The last position, the checksum of its batch, and the epoch of that.
  var position: Int64 = 0
  var checksum: Int64 = 0
  var batchEpoch: Int64 = 0

  /// Of the row.
  var rowChecksum: Int64 { SQLiteSchema.checksum(epoch, entryCount, base, baseChecksum) }

  func put(_ connection: SQLiteConnection) throws(SQLiteError) {
    try connection.putLog.run(epoch, entryCount, base, baseChecksum, rowChecksum)
  }
}

/// The integers of a row of the table `batches`.
struct SQLiteBatchRow {
  var first: Int64
  var count: Int64
  var epoch: Int64
  var checksum: Int64

  init(_ row: SQLiteStatement) {
    first = row.integer(0)
    count = row.integer(1)
    epoch = row.integer(2)
    checksum = row.integer(3)
  }

  /// The position of its last record.
  var last: Int64 { first &+ count &- 1 }

  /// Whether its integers can be those of a batch. If not, its ``last`` may be any number.
  var isPossible: Bool {
    first > 0 && SQLiteSchema.isPosition(first) && count > 0 && count <= Int64(UInt32.max)
      && SQLiteSchema.isPosition(last) && SQLiteSchema.isPosition(epoch)
  }

  /// Returns what is wrong if this row follows the end of `log`; nil if it does.
  func fault(after log: SQLiteLog, bytes: [UInt8]) -> JournalError? {
    guard first == log.position &+ 1 else { return .gap(position: UInt64(log.position) + 1) }
    let isChecked = log.isBaseChecksumKnown || log.position != log.base
    guard isPossible,
      !isChecked || checksum == SQLiteSchema.checksum(log.checksum, first, count, epoch, blob: bytes)
    else { return .badChecksum(position: UInt64(first)) }
    return epoch < log.batchEpoch ? .epochWentBack(position: UInt64(first)) : nil
  }
}

extension SQLiteLog {
  /// Makes a batch the last one.
  mutating func append(_ row: SQLiteBatchRow) {
    position = row.last
    checksum = row.checksum
    batchEpoch = row.epoch
  }
}
