/// Writing: each function is one transaction.
extension SQLiteStore {
  public func commit(
    _ batch: JournalBatch?, entries: [JournalEntryRow], snapshots: [JournalSnapshot]
  ) throws(JournalError) {
    var next = log
    if let batch { try append(batch, to: &next) }
    // One without records in the log is removed at once.
    let removed = entries.filter { $0.isRemovable(base: UInt64(next.base)) }
    next.entryCount += Int64(entries.count { !$0.isRetired } - removed.count)
    for snapshot in snapshots where snapshot.position > UInt64(next.position) {
      throw .gap(position: UInt64(next.position) + 1)
    }
    try transaction { connection throws(SQLiteError) in
      if let batch {
        try connection.insertBatch.run(
          Int64(batch.first), Int64(batch.count), next.batchEpoch, next.checksum, blob: batch.bytes)
      }
      for entry in entries { try put(entry, connection) }
      for entry in removed { try connection.removeEntry.run(Int64(entry.number)) }
      if !entries.isEmpty { try next.put(connection) }
      for snapshot in snapshots { try put(snapshot, end: next.position, connection) }
    }
    log = next
    for entry in entries {
      guard let until = entry.until else { continue }
      damagedSlots.subtract(SQLiteSchema.slots(of: entry.number))
      for slot in SQLiteSchema.slots(of: entry.number) { readPositions[slot] = nil }
      if !entry.isRemovable(base: UInt64(next.base)) { retired.append((entry.number, until)) }
    }
    // Not before the transaction has succeeded. A snapshot has gone into one of its entry's damaged slots, if there was one.
    for snapshot in snapshots {
      if let slot = damagedSlot(of: snapshot.entry) { damagedSlots.remove(slot) }
    }
  }

  /// Checks that a batch follows the end of the log. What does not is refused before anything is written.
  private func append(_ batch: JournalBatch, to log: inout SQLiteLog) throws(JournalError) {
    guard batch.first == UInt64(log.position) + 1 else { throw .gap(position: UInt64(log.position) + 1) }
    guard batch.count > 0, let epoch = Int64(exactly: batch.epoch) else {
      throw .malformed(position: batch.first)
    }
    guard epoch >= log.batchEpoch else { throw .epochWentBack(position: batch.first) }
    log.checksum = SQLiteSchema.checksum(
      log.checksum, log.position + 1, Int64(batch.count), epoch, blob: batch.bytes)
    log.position += Int64(batch.count)
    log.batchEpoch = epoch
  }

  /// Inserts a new entry, or replaces one that is retired.
  private func put(_ entry: JournalEntryRow, _ connection: SQLiteConnection) throws(SQLiteError) {
    let number = Int64(entry.number)
    let name = Array(entry.name.utf8)
    let since = Int64(bitPattern: entry.since)
    let place = entry.until.map { SQLiteSchema.negated(Int64(bitPattern: $0)) } ?? since
    let statement = entry.isRetired ? connection.putRetired : connection.insertEntry
    try statement.run(number, place, SQLiteSchema.checksum(number, place, blob: name), blob: name)
    if !entry.isRetired { return }
    let slots = SQLiteSchema.slots(of: entry.number)
    try connection.removeSnapshots.run(slots.lowerBound, slots.upperBound)
  }

  /// The first slot of an entry with a snapshot that was found damaged or useless. They are read, and so checked,
  /// before the entry gets another snapshot.
  private func damagedSlot(of entry: UInt32) -> Int64? {
    damagedSlots.isEmpty ? nil : SQLiteSchema.slots(of: entry).first(where: damagedSlots.contains)
  }

  /// Overwrites a snapshot of the entry that cannot be read, or else the older one of two.
  private func put(
    _ snapshot: JournalSnapshot, end: Int64, _ connection: SQLiteConnection
  ) throws(SQLiteError) {
    let slots = SQLiteSchema.slots(of: snapshot.entry)
    // A slot is free if its position is none of this log.
    var positions = [Int64](repeating: -1, count: 2)
    try connection.snapshots.start(slots.lowerBound, slots.upperBound)
    while try connection.snapshots.next() {
      let position = connection.snapshots.integer(1)
      if position <= end { positions[Int(connection.snapshots.integer(0) - slots.lowerBound)] = position }
    }
    connection.snapshots.reset()
    let older = positions[0] <= positions[1] ? slots.lowerBound : slots.upperBound
    let slot = damagedSlot(of: snapshot.entry) ?? older
    readPositions[slot] = nil
    let position = Int64(snapshot.position)
    let version = Int64(snapshot.version)
    try connection.putSnapshot.run(
      slot, position, version, SQLiteSchema.checksum(slot, position, version, blob: snapshot.bytes),
      blob: snapshot.bytes)
  }

  /// Notes that a new process writes from here on.
  func beginEpoch() throws(JournalError) {
    var next = log
    next.epoch = max(log.epoch, log.batchEpoch) + 1
    try transaction { connection throws(SQLiteError) in try next.put(connection) }
    log = next
  }
}
