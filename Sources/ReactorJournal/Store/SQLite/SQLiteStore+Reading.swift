/// Reading: each row is checked before its contents are used.
extension SQLiteStore {
  /// Reads where the log begins and ends, and its entries.
  ///
  /// - Parameter report: As with ``open(_:)``.
  func readLog(
    _ report: (JournalError) throws(JournalError) -> Void
  ) throws(JournalError) -> [JournalEntryRow] {
    do throws(JournalError) {
      guard let head = try readHead() else { throw .badChecksum(position: 0) }
      log = head
    } catch {
      try report(error)
      do throws(JournalError) { try findBase() } catch { try report(error) }
    }
    log.position = log.base
    log.checksum = log.baseChecksum
    do throws(JournalError) {
      try findEnd()
    } catch {
      try report(error)
    }
    var entries: [JournalEntryRow] = []
    do throws(JournalError) {
      try readEntries(into: &entries)
      if entries.count != Int(log.entryCount) { throw .badChecksum(position: 0) }
    } catch {
      try report(error)
    }
    return entries
  }

  /// The row of the table `log`; nil if it is damaged.
  private func readHead() throws(JournalError) -> SQLiteLog? {
    try perform { connection throws(SQLiteError) in
      let row = connection.log
      try row.start()
      defer { row.reset() }
      guard try row.next() else { return nil }
      var head = SQLiteLog()
      head.epoch = row.integer(0)
      head.entryCount = row.integer(1)
      head.base = row.integer(2)
      head.baseChecksum = row.integer(3)
      let isValid = [head.epoch, head.entryCount, head.base].allSatisfy { SQLiteSchema.isPosition($0) }
      return row.integer(4) == head.rowChecksum && isValid ? head : nil
    }
  }

  /// Finds where a log without a head begins: with the first batch that is there, since earlier ones may have been removed. Nothing says
  /// whether that one follows the last one of these. If all were removed, it ends where the newest entry or snapshot says.
  private func findBase() throws(JournalError) {
    let first = try perform(at: 1) { connection throws(SQLiteError) in
      let rows = connection.batchSizesFrom
      try rows.start(1)
      defer { rows.reset() }
      return try rows.next() ? SQLiteBatchRow(rows).first : nil
    }
    if let first, !SQLiteSchema.isPosition(first) { throw .badChecksum(position: 0) }
    if let first { log.base = first - 1 } else { log.base = try lastKnownPosition() }
    log.isBaseChecksumKnown = log.base == 0
  }

  /// The last position of which an entry or one of its snapshots tells.
  private func lastKnownPosition() throws(JournalError) -> Int64 {
    var entries: [JournalEntryRow] = []
    try readEntries(into: &entries)
    var last: UInt64 = 0
    for entry in entries {
      let positions = try describeSnapshots(of: entry.number).map(\.position)
      last = max(last, entry.since, entry.until ?? 0, positions.max() ?? 0)
    }
    return Int64(last)
  }

  /// Finds and checks the last batch, which follows the one before it or the base. Of a damaged log, the end is what it may be.
  private func findEnd() throws(JournalError) {
    var bytes: [UInt8] = []
    let rows: [SQLiteBatchRow]
    do throws(JournalError) {
      rows = try readLastBatches(at: log.base + 1, &bytes)
    } catch {
      // The batches before the one that cannot be read may be good. The second attempt reports the position.
      let first = try walkToEnd()
      _ = try readLastBatches(at: first, &bytes)
      throw error
    }
    guard let last = rows.last else { return }
    if rows.count == 2 {
      guard rows[0].isPossible, rows[0].last > log.base else {
        // The batches before it may be good.
        _ = try walkToEnd()
        throw .badChecksum(position: UInt64(log.position) + 1)
      }
      log.append(rows[0])
    }
    if let fault = last.fault(after: log, bytes: bytes) { throw fault }
    log.append(last)
  }

  /// Reads the last batch and the integers of the one before it.
  ///
  /// - Parameters:
  ///   - position: Where an error is reported.
  ///   - bytes: Gets the bytes of the last one.
  private func readLastBatches(
    at position: Int64, _ bytes: inout [UInt8]
  ) throws(JournalError) -> [SQLiteBatchRow] {
    try perform(at: position) { connection throws(SQLiteError) in
      let rows = connection.batchesBackFrom
      try rows.start(.max)
      defer { rows.reset() }
      guard try rows.next() else { return [] }
      let last = SQLiteBatchRow(rows)
      try rows.copyBlob(4, into: &bytes)
      return try rows.next() ? [SQLiteBatchRow(rows), last] : [last]
    }
  }

  /// Finds where a damaged log may end: behind the last batch whose integers can be read and follow those before. Their bytes and
  /// checksums are not looked at.
  ///
  /// - Returns: The first position of that batch; of the log, if there is none.
  private func walkToEnd() throws(JournalError) -> Int64 {
    var first = log.base + 1
    try perform(at: first) { connection throws(SQLiteError) in try connection.batchSizesFrom.start(first) }
    defer { connection?.batchSizesFrom.reset() }
    while true {
      let row = try perform(at: log.position + 1) { connection throws(SQLiteError) in
        let rows = connection.batchSizesFrom
        return try rows.next() ? SQLiteBatchRow(rows) : nil
      }
      guard let row, row.first == log.position &+ 1, row.isPossible else { return first }
      first = row.first
      log.append(row)
    }
  }

  /// Appends the rows of the table `entries` that are not damaged.
  private func readEntries(into entries: inout [JournalEntryRow]) throws(JournalError) {
    try perform { connection throws(SQLiteError) in
      let rows = connection.entries
      try rows.start()
      defer { rows.reset() }
      var name: [UInt8] = []
      while try rows.next() {
        let number = rows.integer(0)
        let since = rows.integer(1)
        try rows.copyBlob(3, into: &name)
        let isRetired = since < 0
        let place = isRetired ? SQLiteSchema.negated(since) : since
        guard rows.integer(2) == SQLiteSchema.checksum(number, since, blob: name),
          let entry = UInt32(exactly: number), SQLiteSchema.isPosition(place)
        else { continue }
        entries.append(
          JournalEntryRow(
            number: entry, name: String(decoding: name, as: UTF8.self),
            since: isRetired ? 0 : UInt64(place), until: isRetired ? UInt64(place) : nil))
      }
    }
  }

  public func readBatches(
    from first: UInt64, _ body: (borrowing JournalBatch) throws(JournalError) -> Bool
  ) throws(JournalError) {
    guard first > UInt64(log.base) else { throw .gap(position: first) }
    guard first <= UInt64(log.position) else { return }
    var end = try logBefore(batchOf: Int64(first))
    var batch = JournalBatch(epoch: 0, first: 0, count: 0, bytes: [])
    try perform { connection throws(SQLiteError) in try connection.batchesFrom.start(end.position + 1) }
    defer { connection?.batchesFrom.reset() }
    while end.position < log.position {
      let row = try perform(at: end.position + 1) { connection throws(SQLiteError) in
        let rows = connection.batchesFrom
        guard try rows.next() else { return SQLiteBatchRow?.none }
        try rows.copyBlob(4, into: &batch.bytes)
        return SQLiteBatchRow(rows)
      }
      guard let row else { throw .gap(position: UInt64(end.position) + 1) }
      if let fault = row.fault(after: end, bytes: batch.bytes) { throw fault }
      end.append(row)
      batch.epoch = UInt64(row.epoch)
      batch.first = UInt64(row.first)
      batch.count = UInt32(row.count)
      guard try body(batch) else { return }
    }
  }

  /// The log as it was before the batch that has the record with a position.
  private func logBefore(batchOf position: Int64) throws(JournalError) -> SQLiteLog {
    let rows = try perform(at: position) { connection throws(SQLiteError) in
      let rows = connection.batchesBackFrom
      try rows.start(position)
      defer { rows.reset() }
      var found: [SQLiteBatchRow] = []
      while try rows.next() { found.append(SQLiteBatchRow(rows)) }
      return found
    }
    guard let row = rows.first, row.first > log.base, row.last >= position else {
      throw .gap(position: UInt64(position))
    }
    var before = log
    before.position = log.base
    before.checksum = log.baseChecksum
    before.batchEpoch = 0
    if rows.count == 2 { before.append(rows[1]) }
    guard row.first == before.position &+ 1 else {
      throw .gap(position: UInt64(bitPattern: before.position) &+ 1)
    }
    return before
  }

  public func readSnapshots(of entry: UInt32) throws(JournalError) -> [JournalSnapshot] {
    readPositions.removeAll(keepingCapacity: true)
    let found = try readableSnapshots(of: entry)
    try checkPositions(found.map(\.position))
    return found
  }

  public func readSnapshotPositions(of entry: UInt32) throws(JournalError) -> [UInt64] {
    readPositions.removeAll(keepingCapacity: true)
    let positions = try describeSnapshots(of: entry).map(\.position)
    try checkPositions(positions)
    return positions
  }

  /// Throws if the log has lost its end: a snapshot contains later records.
  private func checkPositions(_ positions: [UInt64]) throws(JournalError) {
    if positions.contains(where: { $0 > log.position }) { throw .gap(position: UInt64(log.position) + 1) }
  }

  /// Reads nothing: an error of the disk would end the store, and nobody would be told.
  public func noteUseless(_ snapshot: JournalSnapshot) {
    for slot in SQLiteSchema.slots(of: snapshot.entry) where readPositions[slot] == snapshot.position {
      damagedSlots.insert(slot)
    }
  }

  func readSnapshot(in slot: Int64) throws(JournalError) -> JournalSnapshot? {
    try perform { connection throws(SQLiteError) in
      let rows = connection.snapshots
      try rows.start(slot, slot)
      defer { rows.reset() }
      guard try rows.next() else { return nil }
      let position = rows.integer(1)
      let version = rows.integer(2)
      var bytes: [UInt8] = []
      try rows.copyBlob(4, into: &bytes)
      guard rows.integer(3) == SQLiteSchema.checksum(slot, position, version, blob: bytes),
        SQLiteSchema.isPosition(position), let version = UInt16(exactly: version)
      else {
        damagedSlots.insert(slot)
        return nil
      }
      readPositions[slot] = UInt64(position)
      return JournalSnapshot(
        entry: UInt32(slot / 2), position: UInt64(position), version: version, bytes: bytes)
    }
  }
}
