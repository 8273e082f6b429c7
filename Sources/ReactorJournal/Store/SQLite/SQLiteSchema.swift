/// The tables of a journal's file. In each one the last column is a blob, and the one before it a checksum of the row.
///
/// | table | rows |
/// |---|---|
/// | `log` | one, with the epoch of the last writer and the base: the last record that was removed, and the checksum of its batch |
/// | `entries` | one for each reactor; the blob is its name. Of one that is retired, `since` is negative: ``negated(_:)`` of the last
///             position that its records may have |
/// | `batches` | one for each commit; the checksum is also of the batch before, so that none can be missing |
/// | `snapshots` | two for each entry: the slots 2 × entry and 2 × entry + 1 |
///
/// There is no index: what has no checksum of its own cannot be wrong.
enum SQLiteSchema {
  /// "RRJ1" in the file's header.
  static let applicationID: Int64 = 0x5252_4A31
  static let version: Int64 = 1

  static let tables = [
    "CREATE TABLE batches(first INTEGER PRIMARY KEY,count INTEGER,epoch INTEGER,checksum INTEGER,bytes BLOB)",
    "CREATE TABLE entries(number INTEGER PRIMARY KEY,since INTEGER,checksum INTEGER,name BLOB)",
    "CREATE TABLE log(id INTEGER PRIMARY KEY,epoch INTEGER,entries INTEGER,base INTEGER,base_checksum INTEGER,"
      + "checksum INTEGER,reserved BLOB)",
    "CREATE TABLE snapshots(slot INTEGER PRIMARY KEY,position INTEGER,version INTEGER,checksum INTEGER,bytes BLOB)",
  ]

  /// The checksum of a row: of its integers and of its blob.
  static func checksum(_ integers: Int64..., blob: [UInt8] = []) -> Int64 {
    var checksum = CRC32C()
    for value in integers { checksum.update(UInt64(bitPattern: value)) }
    checksum.update(blob.span.bytes)
    return Int64(checksum.value)
  }

  /// Whether a number can be a position, an epoch or a count of rows. No log gets as far as 2⁶², and a sum of two does not overflow.
  static func isPosition(_ number: Int64) -> Bool { number >= 0 && number < 1 << 62 }

  /// A position as a negative number, and the other way round.
  static func negated(_ position: Int64) -> Int64 { ~position }

  /// The rows of an entry's two snapshots.
  static func slots(of entry: UInt32) -> ClosedRange<Int64> { Int64(entry) * 2...Int64(entry) * 2 + 1 }

  /// How a connection is used, before it reads anything. Changes nothing in the file.
  static func configure(_ database: SQLiteDatabase) throws(SQLiteError) {
    // The mode must be first, or SQLite makes a file for memory that connections share (`-shm`).
    try database.execute(
      "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cell_size_check=ON; PRAGMA trusted_schema=OFF")
  }

  /// How a writer uses it besides. The file must be empty or a journal: another database would have a write-ahead log from then on.
  static func configureWriter(_ database: SQLiteDatabase) throws(SQLiteError) {
    // The size and the mode of vacuum matter only when the file is made. Then SQLite also has a rollback journal, whose removal must be
    // durable, or a power cut takes the whole file back: hence EXTRA, which is FULL for all that comes later.
    try database.execute(
      """
      PRAGMA page_size=4096; PRAGMA auto_vacuum=INCREMENTAL;
      PRAGMA synchronous=EXTRA; PRAGMA journal_mode=WAL;
      PRAGMA wal_autocheckpoint=0; PRAGMA journal_size_limit=67108864;
      PRAGMA cache_size=-8192; PRAGMA secure_delete=OFF
      """)
  }

  /// Makes the tables in an empty file.
  static func create(in database: SQLiteDatabase) throws(SQLiteError) {
    try database.execute("BEGIN IMMEDIATE")
    for table in tables { try database.execute(table) }
    try database.execute("PRAGMA application_id=\(applicationID); PRAGMA user_version=\(version)")
    try database.execute("INSERT INTO log VALUES(1,0,0,0,0,\(checksum(0, 0, 0, 0)),x'')")
    try database.execute("COMMIT")
  }

  /// Whether nothing is in the file yet.
  static func isEmpty(_ database: SQLiteDatabase) throws(SQLiteError) -> Bool {
    guard try database.integer("SELECT count(*) FROM sqlite_schema") == 0 else { return false }
    return try database.integer("PRAGMA application_id") == 0
  }

  /// Returns what is wrong with the file's header or its tables; nil if it is a journal that this version knows.
  static func fault(of database: SQLiteDatabase) throws(SQLiteError) -> String? {
    let application = try database.integer("PRAGMA application_id")
    guard application == applicationID else { return "The file is not a journal." }
    let version = try database.integer("PRAGMA user_version")
    guard version == Self.version else {
      return "The journal has version \(version); this program knows version \(Self.version)."
    }
    let found = try SQLiteStatement("SELECT CAST(sql AS BLOB) FROM sqlite_schema ORDER BY name", of: database)
    var bytes: [UInt8] = []
    for table in tables {
      guard try found.next() else { return "A table is missing." }
      try found.copyBlob(0, into: &bytes)
      guard bytes == Array(table.utf8) else { return "A table has another form." }
    }
    return try found.next() ? "There is one table too many." : nil
  }
}
