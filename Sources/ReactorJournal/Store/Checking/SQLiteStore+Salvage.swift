/// What the examination of damaged journals needs besides ``JournalStore``.
extension SQLiteStore {
  /// Opens the store as ``open()`` does, but whatever is wrong with its contents.
  ///
  /// - Returns: Where the log may end, what is left of its entries, and what is wrong with them.
  package func openDamaged() throws(JournalError) -> (end: JournalEnd, fault: JournalError?) {
    var fault: JournalError?
    // What is wrong with the head or the entries matters only if nothing else says where.
    let end = try open { if fault == nil || fault == .badChecksum(position: 0) { fault = $0 } }
    return (end, fault)
  }

  /// The snapshots of an entry that can be read, newest first, even if they are of records that the log has lost. After an error of
  /// the disk, a store that is open for writing refuses this.
  package func readableSnapshots(of entry: UInt32) throws(JournalError) -> [JournalSnapshot] {
    var found: [JournalSnapshot] = []
    for slot in SQLiteSchema.slots(of: entry) {
      if let snapshot = try readableSnapshot(in: slot) { found.append(snapshot) }
    }
    return found.sorted { $0.position > $1.position }
  }

  /// The same without their bytes: one is in memory at a time.
  package func describeSnapshots(of entry: UInt32) throws(JournalError) -> [JournalReport.Snapshot] {
    var found: [JournalReport.Snapshot] = []
    for slot in SQLiteSchema.slots(of: entry) {
      guard let snapshot = try readableSnapshot(in: slot) else { continue }
      found.append(
        .init(position: snapshot.position, version: snapshot.version, byteCount: snapshot.bytes.count))
    }
    return found.sorted { $0.position > $1.position }
  }

  /// The snapshot in a slot; nil if there is none that can be read.
  func readableSnapshot(in slot: Int64) throws(JournalError) -> JournalSnapshot? {
    // A damaged page of one snapshot must not hide the other, nor one that the disk cannot read.
    do throws(JournalError) {
      return try readSnapshot(in: slot)
    } catch .badChecksum {
      damagedSlots.insert(slot)
    } catch .failed(let code, _) where access == .readOnly && SQLiteError.isInputOutput(code) {
      damagedSlots.insert(slot)
    }
    return nil
  }

  /// How many snapshots of an entry were found damaged. After one of these functions.
  func damagedSnapshotCount(of entry: UInt32) -> Int {
    SQLiteSchema.slots(of: entry).count { damagedSlots.contains($0) }
  }

  /// Opens a new store, whose log begins where that of `other` does.
  ///
  /// Nothing is durable before ``endCopy()``: a wait for the disk in each commit would take hours.
  func beginCopy(of other: SQLiteStore) throws(JournalError) {
    _ = try open()
    var next = SQLiteLog()
    next.epoch = other.log.epoch
    next.base = other.log.base
    next.baseChecksum = other.log.baseChecksum
    next.position = next.base
    next.checksum = next.baseChecksum
    try write { connection throws(SQLiteError) in try connection.database.execute("PRAGMA synchronous=OFF") }
    try transaction { connection throws(SQLiteError) in try next.put(connection) }
    log = next
  }

  /// Makes a copy durable.
  func endCopy() throws(JournalError) {
    try write { connection throws(SQLiteError) in
      try connection.database.execute("PRAGMA synchronous=EXTRA")
      try connection.database.checkpoint()
    }
  }
}
