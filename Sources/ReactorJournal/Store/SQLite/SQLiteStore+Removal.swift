/// Removing what snapshots have made superfluous.
extension SQLiteStore {
  /// How many batches one transaction removes, and how many pages one gives back, so that the log stays small.
  private static let removedBatches = 64
  private static let releasedPages = 1024

  public func removeBatches(before position: UInt64) throws(JournalError) {
    while let next = try logWithoutSomeBatches(before: position) {
      try transaction { connection throws(SQLiteError) in
        try connection.removeBatches.run(next.base)
        try next.put(connection)
      }
      log = next
    }
    try releaseSpace()
  }

  /// The log without the next batches that may be removed; nil if there are none.
  private func logWithoutSomeBatches(before position: UInt64) throws(JournalError) -> SQLiteLog? {
    var next = log
    var gap = false
    try perform(at: log.base + 1) { connection throws(SQLiteError) in
      let rows = connection.batchesFrom
      try rows.start(log.base + 1)
      defer { rows.reset() }
      for _ in 0..<Self.removedBatches {
        guard try rows.next() else { break }
        let row = SQLiteBatchRow(rows)
        gap = row.first != next.base + 1 || row.count < 1 || row.last > log.position
        guard !gap, UInt64(row.last) < position else { break }
        next.base = row.last
        next.baseChecksum = row.checksum
      }
    }
    if gap { throw .gap(position: UInt64(next.base) + 1) }
    return next.base == log.base ? nil : next
  }

  /// Makes the file smaller by its unused pages, which those at its end replace.
  private func releaseSpace() throws(JournalError) {
    func unusedPages() throws(JournalError) -> Int64 {
      try perform { connection throws(SQLiteError) in try connection.database.integer("PRAGMA freelist_count")
      }
    }
    var unused = try unusedPages()
    while unused > 0 {
      try transaction { connection throws(SQLiteError) in
        try connection.database.execute("PRAGMA incremental_vacuum(\(Self.releasedPages))")
      }
      let rest = try unusedPages()
      guard rest < unused else { break }
      unused = rest
    }
    try write { connection throws(SQLiteError) in try connection.database.checkpoint() }
  }
}
