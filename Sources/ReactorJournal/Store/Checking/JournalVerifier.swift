/// Why a journal was not copied.
package enum SalvageError: Error {
  case source(JournalError)
  case target(JournalError)

  fileprivate var reason: JournalError {
    switch self {
    case .source(let reason), .target(let reason): reason
    }
  }
}

/// Examines journals that no process has open, and saves what is good of a damaged one.
public enum JournalVerifier {
  /// Reads a whole journal and checks everything but the meaning of the records: each batch, its place, its records, its
  /// entries, the snapshots. Changes nothing. O(size of the journal); one batch, or one snapshot, is in memory at a time.
  ///
  /// - Parameters:
  ///   - path: The journal's file.
  ///   - progress: Is called now and then with the part that is done, from 0 to 1.
  /// - Throws: ``JournalError/locked``, or why the file cannot be read at all. What is wrong with its contents is in the report.
  public static func verify(
    _ path: String, progress: (Double) -> Void = { _ in }
  ) throws(JournalError) -> JournalReport {
    try verify(SQLiteStore(path: path, access: .readOnly), progress: progress)
  }

  /// Does the same with a store that is not open.
  static func verify(
    _ store: SQLiteStore, progress: (Double) -> Void = { _ in }
  ) throws(JournalError) -> JournalReport {
    defer { store.close() }
    let opened = try store.openDamaged()
    do throws(SalvageError) {
      return try examine(store, opened, progress: progress) { _ throws(JournalError) in }
    } catch {
      throw error.reason
    }
  }

  /// Copies a journal up to its first fault into a new one: the batches, the entries that these know, and the snapshots of states
  /// that these end in. What is after the fault is lost, also newer snapshots, so this is never done unasked: see
  /// ``JournalReport/Entry/isRecoverableDespiteFault``.
  ///
  /// An entry whose snapshots are damaged, and whose first records were removed, cannot be saved: the new journal refuses it.
  ///
  /// - Parameters:
  ///   - path: The damaged journal, which stays as it is.
  ///   - newPath: Where there must be no file. There is none before everything is copied: until then, the file has the same name with
  ///     `.incomplete` behind it. One that an earlier process has left is replaced.
  ///   - progress: Called now and then with the part that is done, from 0 to 1.
  /// - Returns: The report on the damaged journal.
  /// - Throws: ``JournalError/locked``, or why one of the two files cannot be used.
  public static func salvage(
    _ path: String, to newPath: String, progress: (Double) -> Void = { _ in }
  ) throws(JournalError) -> JournalReport {
    try salvage(SQLiteStore(path: path, access: .readOnly), to: newPath, progress: progress)
  }

  /// Does the same with a store that is not open.
  static func salvage(
    _ source: SQLiteStore, to newPath: String, progress: (Double) -> Void = { _ in }
  ) throws(JournalError) -> JournalReport {
    do throws(SalvageError) {
      return try salvageOrTell(source, to: newPath, progress: progress)
    } catch {
      throw error.reason
    }
  }

  /// Does the same, and tells which of the two files cannot be used.
  package static func salvageOrTell(
    _ source: SQLiteStore, to newPath: String, progress: (Double) -> Void
  ) throws(SalvageError) -> JournalReport {
    defer { source.close() }
    let opened: (end: JournalEnd, fault: JournalError?)
    do throws(JournalError) { opened = try source.openDamaged() } catch { throw .source(error) }
    // What is wrong with its contents is in the report.
    var sourceError: JournalError?
    do throws(JournalError) {
      return try NewFile(newPath).write { path throws(JournalError) in
        let copy = SQLiteStore(path: path)
        defer { copy.close() }
        do throws(SalvageError) {
          return try self.copy(source, opened, to: copy, progress)
        } catch {
          if case .source(let reason) = error { sourceError = reason }
          throw error.reason
        }
      }
    } catch {
      if let sourceError { throw .source(sourceError) }
      throw .target(error)
    }
  }

  private static func copy(
    _ source: SQLiteStore, _ opened: (end: JournalEnd, fault: JournalError?), to copy: SQLiteStore,
    _ progress: (Double) -> Void
  ) throws(SalvageError) -> JournalReport {
    func write(_ body: () throws(JournalError) -> Void) throws(SalvageError) {
      do throws(JournalError) { try body() } catch { throw .target(error) }
    }
    try write { () throws(JournalError) in try copy.beginCopy(of: source) }
    let report = try examine(source, opened, progress: progress) { batch throws(JournalError) in
      try copy.commit(batch, entries: [], snapshots: [])
    }
    for entry in report.entries where entry.row.since <= report.position {
      if let until = entry.row.until {
        var (row, retired) = (entry.row, entry.row)
        (row.until, retired.until) = (nil, min(until, report.position))
        try write { () throws(JournalError) in try copy.commit(nil, entries: [row, retired], snapshots: []) }
        continue
      }
      try write { () throws(JournalError) in try copy.commit(nil, entries: [entry.row], snapshots: []) }
      for slot in SQLiteSchema.slots(of: entry.row.number) {
        let snapshot: JournalSnapshot?
        do throws(JournalError) {
          snapshot = try source.readableSnapshot(in: slot)
        } catch {
          throw .source(error)
        }
        guard let snapshot, snapshot.position <= report.position else { continue }
        try write { () throws(JournalError) in try copy.commit(nil, entries: [], snapshots: [snapshot]) }
      }
    }
    try write { () throws(JournalError) in try copy.endCopy() }
    return report
  }

  /// Reads a store to its end or its first fault.
  ///
  /// - Parameter body: Is called with each good batch. What it throws is not a fault of the store, but one of the target.
  private static func examine(
    _ store: SQLiteStore, _ opened: (end: JournalEnd, fault: JournalError?), progress: (Double) -> Void,
    _ body: (borrowing JournalBatch) throws(JournalError) -> Void
  ) throws(SalvageError) -> JournalReport {
    let end = opened.end
    var report = JournalReport(
      base: end.base, position: end.base, epoch: end.epoch, entries: end.entries.map { .init(row: $0) })
    let places = Dictionary(
      end.entries.enumerated().map { ($0.element.number, $0.offset) }, uniquingKeysWith: { first, _ in first }
    )
    let checker = BatchChecker(end.entries)
    var failure: JournalError?
    do throws(JournalError) {
      try store.readBatches(from: end.base + 1) { batch throws(JournalError) in
        for run in try checker.check(batch) { report.entries[places[run.entry]!].count(run) }
        report.batchCount += 1
        report.byteCount += UInt64(batch.bytes.count)
        report.position = batch.first + UInt64(batch.count) - 1
        do throws(JournalError) {
          try body(batch)
        } catch {
          failure = error
          return false
        }
        let whole = end.position - end.base
        progress(whole == 0 ? 1 : Double(report.position - end.base) / Double(whole))
        return true
      }
    } catch {
      report.fault = error
    }
    if let failure { throw .target(failure) }
    if case .failed = opened.fault {
      // Entries that the disk cannot read are why records are of no known entry.
      if case .malformed = report.fault { report.fault = nil }
      // Batches that it cannot read are why there are snapshots of later positions.
      report.fault = report.fault ?? opened.fault
    }
    do throws(JournalError) { try examineSnapshots(store, &report) } catch { throw .source(error) }
    // What the head says is wrong matters only if nothing else says where.
    report.fault = report.fault ?? opened.fault
    if opened.fault == nil, report.fault != nil { noteRecoverable(store, end, &report) }
    return report
  }

  private static func examineSnapshots(
    _ store: SQLiteStore, _ report: inout JournalReport
  ) throws(JournalError) {
    for index in report.entries.indices {
      let images = try store.describeSnapshots(of: report.entries[index].row.number)
      report.entries[index].snapshots = images
      report.entries[index].damagedSnapshotCount = store.damagedSnapshotCount(
        of: report.entries[index].row.number)
      guard report.fault == nil else { continue }
      if images.contains(where: { $0.position > report.position }) {
        report.fault = .gap(position: report.position + 1)
      } else if !report.entries[index].row.isRetired, report.entries[index].row.since < report.base,
        images.isEmpty
      {
        // Its first records were removed, for the sake of a snapshot that is not there.
        report.fault = .gap(position: report.entries[index].row.since + 1)
      }
    }
  }
}

extension JournalReport.Entry {
  fileprivate mutating func count(_ run: BatchChecker.Mutations) {
    recordCount += UInt64(run.count)
    byteCount += UInt64(run.byteCount)
    lastPosition = run.lastPosition
  }
}
