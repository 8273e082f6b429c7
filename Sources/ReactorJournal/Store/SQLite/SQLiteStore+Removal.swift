/// Removing what snapshots have made superfluous. Each function is one transaction, so that commits can come in between.
extension SQLiteStore {
  /// How many batches one transaction removes at most, and with how many bytes; and how many pages one gives back. So each one writes
  /// a few megabytes at most. Small batches share pages, and a wait for the disk for each few of them would take hours.
  private static let removedBatches = 4096
  private static let removedBytes: Int64 = 4 << 20
  private static let releasedPages: Int64 = 1024
  /// How many retired entries.
  private static let removedEntries = 4096

  public func removeSomeBatches(before position: UInt64) throws(JournalError) -> Bool {
    guard let next = try logWithoutSomeBatches(before: position) else {
      if try removeSomeEntries() { return true }
      return try releaseSomeSpace()
    }
    try transaction { connection throws(SQLiteError) in
      try connection.removeBatches.run(next.base)
      try next.put(connection)
    }
    log = next
    return true
  }

  /// Removes some of the retired entries that have no records any more.
  ///
  /// - Returns: Whether there were any.
  private func removeSomeEntries() throws(JournalError) -> Bool {
    let removed = retired.prefix(Self.removedEntries).prefix { $0.until <= UInt64(log.base) }
    if removed.isEmpty { return false }
    var next = log
    next.entryCount -= Int64(removed.count)
    try transaction { connection throws(SQLiteError) in
      for entry in removed { try connection.removeEntry.run(Int64(entry.number)) }
      try next.put(connection)
    }
    log = next
    retired.removeFirst(removed.count)
    return true
  }

  /// The log without the next batches that may be removed; nil if there are none.
  private func logWithoutSomeBatches(before position: UInt64) throws(JournalError) -> SQLiteLog? {
    var next = log
    var gap = false
    try perform(at: log.base + 1) { connection throws(SQLiteError) in
      let rows = connection.batchSizesFrom
      try rows.start(log.base + 1)
      defer { rows.reset() }
      var bytes: Int64 = 0
      for _ in 0..<Self.removedBatches {
        guard bytes < Self.removedBytes, try rows.next() else { break }
        let row = SQLiteBatchRow(rows)
        gap = row.first != next.base + 1 || !row.isPossible || row.last > log.position
        guard !gap, UInt64(row.last) < position else { break }
        next.base = row.last
        next.baseChecksum = row.checksum
        bytes += rows.integer(4)
      }
    }
    if gap { throw .gap(position: UInt64(next.base) + 1) }
    return next.base == log.base ? nil : next
  }

  /// Makes the file smaller by some of its unused pages, which those at its end replace. At last writes the log back.
  ///
  /// Only by as many as there were when the last batch was removed: commits in between may leave new ones for ever.
  ///
  /// - Returns: Whether there is more to do.
  private func releaseSomeSpace() throws(JournalError) -> Bool {
    let unused = try unusedPages()
    let left = min(unused, pagesToRelease ?? unused)
    if left > 0 {
      try transaction { connection throws(SQLiteError) in
        try connection.database.execute("PRAGMA incremental_vacuum(\(Self.releasedPages))")
      }
      if try unusedPages() < unused {
        pagesToRelease = left - Self.releasedPages
        return true
      }
    }
    pagesToRelease = nil
    try write { connection throws(SQLiteError) in try connection.database.checkpoint() }
    return false
  }

  private func unusedPages() throws(JournalError) -> Int64 {
    try perform { connection throws(SQLiteError) in
      try connection.database.integer("PRAGMA freelist_count")
    }
  }
}
