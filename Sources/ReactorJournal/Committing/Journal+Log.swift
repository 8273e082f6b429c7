extension Journal {
  /// What the log contains, and which entries there are. The thread that holds the lock.
  struct Log: Sendable {
    /// Without the entries.
    private(set) var end: JournalEnd
    /// The entries, by number. Not those that are retired.
    private(set) var rows: [UInt32: JournalEntryRow]
    private var numbers: [String: UInt32]
    private var lastNumber: UInt32
    /// Entries that the store does not know yet.
    private var newEntries: [UInt32] = []
    /// The positions of the snapshots that the store keeps of an entry, as far as that is known; the older one first.
    var stored: [UInt32: [UInt64]] = [:]
    /// The last position whose record no entry needs. The records up to there are removed, or are about to be.
    private(set) var released: UInt64
    /// The positions of the last mutations of entries: of this process, and of earlier ones up to ``examined``.
    private var lastMutations: [UInt32: UInt64] = [:]
    /// Up to where the records of earlier processes were looked at, and where they end.
    private var examined: UInt64
    private let opened: UInt64
    var isOpen = true

    init(end: JournalEnd) {
      (released, examined, opened) = (end.base, end.base, end.position)
      self.end = end
      self.end.entries = []
      let rows = end.entries.filter { !$0.isRetired }
      self.rows = Dictionary(rows.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
      numbers = Dictionary(rows.map { ($0.name, $0.number) }, uniquingKeysWith: { first, _ in first })
      // Also of those that are retired, whose records are still there.
      lastNumber = end.entries.map(\.number).max() ?? 0
    }
  }
}

/// The entries.
extension Journal.Log {
  func row(named name: String) -> JournalEntryRow? { numbers[name].flatMap { rows[$0] } }

  /// Adds an entry with a name that none has.
  mutating func add(_ name: String) -> JournalEntryRow {
    lastNumber += 1
    let row = JournalEntryRow(number: lastNumber, name: name, since: end.position)
    newEntries.append(row.number)
    rows[row.number] = row
    numbers[name] = row.number
    return row
  }

  /// The position after which an entry without a snapshot is read. The store learns of an entry with the next commit, so nothing
  /// has become longer since it was added.
  func start(of entry: JournalEntry) -> UInt64 { rows[entry.number]?.since ?? end.position }
}

/// Writing.
extension Journal.Log {
  /// Writes a batch, if there are records, and what comes with it.
  ///
  /// - Parameter counts: How many mutations the batch has of which entries, in order.
  /// - Returns: The position of the first record.
  mutating func append(
    _ bytes: [UInt8], _ counts: [(entry: UInt32, count: Int)], _ extras: Extras, to store: any JournalStore
  ) throws(JournalError) -> UInt64 {
    let count = counts.reduce(0) { $0 + $1.count }
    let first = end.position + 1
    if !isOpen { throw .fenced }
    let retired = extras.retired.compactMap(retiredRow)
    let retiredNumbers = Set(retired.map(\.number))
    let snapshots = extras.snapshots.map(\.snapshot).filter {
      isNeeded($0) && !retiredNumbers.contains($0.entry)
    }
    if count == 0, snapshots.isEmpty, retired.isEmpty { return first }
    let batch = JournalBatch(epoch: end.epoch, first: first, count: UInt32(count), bytes: bytes)
    for number in newEntries { rows[number]?.since = end.position }
    let entries = newEntries.compactMap { rows[$0] } + retired
    try store.commit(count > 0 ? batch : nil, entries: entries, snapshots: snapshots)
    for (entry, count) in counts where count > 0 {
      end.position += UInt64(count)
      lastMutations[entry] = end.position
    }
    newEntries = []
    note(snapshots)
    for row in retired { remove(row) }
    return first
  }

  /// Whether a snapshot is later than those that the store keeps of the entry. One that is not is of a reactor that was replaced while
  /// it was encoded. It would take the place of a later one, and the records behind it may be removed. One of an entry that is
  /// retired would never be removed.
  private func isNeeded(_ snapshot: JournalSnapshot) -> Bool {
    guard rows[snapshot.entry] != nil else { return false }
    return stored[snapshot.entry]?.last.map { $0 < snapshot.position } ?? true
  }

  /// All records of the entry are in the log: its reactor is gone. Nil if another one has retired it.
  private func retiredRow(_ number: UInt32) -> JournalEntryRow? {
    var row = rows[number]
    row?.until = end.position
    return row
  }

  private mutating func remove(_ row: JournalEntryRow) {
    (rows[row.number], numbers[row.name]) = (nil, nil)
    (stored[row.number], lastMutations[row.number]) = (nil, nil)
  }

  /// Notes which snapshots the store keeps.
  private mutating func note(_ snapshots: [JournalSnapshot]) {
    for snapshot in snapshots {
      stored[snapshot.entry] = ((stored[snapshot.entry] ?? []).suffix(1) + [snapshot.position]).sorted()
    }
  }
}

/// Compacting.
extension Journal.Log {
  /// Whether the state of an entry at a position is stored. Also if the two kept snapshots are of the state at that position since the
  /// entry has no mutation behind the older one, and if this program has encoded the newer one: an older program may have encoded it
  /// in a way that only this one reads.
  func isStored(_ number: UInt32, at position: UInt64) -> Bool {
    let kept = stored[number] ?? []
    guard let oldest = kept.first, let newest = kept.last else { return false }
    if newest >= position { return true }
    return kept.count == 2 && oldest >= opened && lastMutations[number] ?? 0 <= oldest
  }

  /// The entries of which it is not known which snapshots the store keeps.
  var entriesToRead: [UInt32] { rows.keys.filter { stored[$0] == nil }.sorted() }

  /// Reads which snapshots the store keeps of an entry, unless that is known.
  mutating func readStored(of number: UInt32, _ store: any JournalStore) throws(JournalError) {
    if rows[number] == nil || stored[number] != nil { return }
    stored[number] = try store.readSnapshotPositions(of: number).sorted()
  }

  /// Whether ``examineSome(of:)`` can release records. O(number of entries).
  var mustExamine: Bool {
    max(examined, released) < opened && superfluous(ifUnknown: true) > superfluous(ifUnknown: false)
  }

  /// Looks at some of the records of earlier processes, whether they are the last ones of their entries. At each record once at most.
  ///
  /// - Returns: Whether there are more; and what is wrong with them. Then nothing is known of the entries, so they keep their records.
  mutating func examineSome(
    of store: any JournalStore
  ) throws(JournalError) -> (hasMore: Bool, damage: JournalError?) {
    examined = max(examined, released)
    if examined >= opened { return (false, nil) }
    var bytes = 0
    do throws(JournalError) {
      try store.readBatches(from: examined + 1) { batch throws(JournalError) in
        var reader = RecordRunReader(batch.bytes.span.bytes, first: batch.first)
        while let run = try reader.next() {
          guard run.kind == .mutations, run.count > 0, rows[run.entry] != nil else { continue }
          let last = run.first + UInt64(run.count) - 1
          lastMutations[run.entry] = max(lastMutations[run.entry] ?? 0, last)
        }
        examined = batch.first + UInt64(batch.count) - 1
        bytes += batch.bytes.count
        return bytes < Self.examinedBytes && examined < opened
      }
    } catch {
      switch error {
      // The store has ended: that is no damage of the records.
      case .failed, .fenced: throw error
      default: return (false, error)
      }
    }
    return (examined < opened, nil)
  }

  /// Commits wait meanwhile: some milliseconds.
  private static var examinedBytes: Int { 4 << 20 }

  /// Releases the records that no entry needs. What is committed later changes nothing in that.
  ///
  /// - Returns: The last position of those that are to be removed.
  mutating func releaseSuperfluous() -> UInt64 {
    released = max(released, superfluous(ifUnknown: false))
    return released
  }

  /// The last position whose record no entry needs.
  ///
  /// Of an entry with two snapshots, that is the position of the older one, or any if it has no mutations since. Because of the latter,
  /// a snapshot may be older than the first record that is left: then it needs none of those between.
  ///
  /// - Parameter isQuiet: Whether an entry is taken for one without mutations of which that is not known.
  private func superfluous(ifUnknown isQuiet: Bool) -> UInt64 {
    var last = end.position
    for row in rows.values {
      let kept = stored[row.number] ?? []
      if kept.count < 2 {
        last = min(last, row.since)
      } else if hasMutations(row.number, after: kept[0]) ?? !isQuiet {
        last = min(last, kept[0])
      }
    }
    return last
  }

  /// Whether an entry has mutations behind a position that is not below ``released``. Nil if it is not known: earlier processes may
  /// have recorded some.
  func hasMutations(_ number: UInt32, after position: UInt64) -> Bool? {
    if lastMutations[number] ?? 0 > position { return true }
    return position < opened && examined < opened ? nil : false
  }

  /// Removes some of the records up to a position.
  ///
  /// - Returns: Whether there are more.
  mutating func removeSome(upTo last: UInt64, _ store: any JournalStore) throws(JournalError) -> Bool {
    if last <= end.base { return false }
    if try store.removeSomeBatches(before: last + 1) { return true }
    end.base = last
    return false
  }
}
