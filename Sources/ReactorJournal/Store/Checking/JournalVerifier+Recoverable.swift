/// Which reactors can be recovered from a journal that is damaged.
extension JournalVerifier {
  /// Notes the entries of which a recovery reads nothing that is damaged. O(size of the log), if it is read to its end once.
  ///
  /// - Parameters:
  ///   - store: One that can be opened for writing: its head and its last batch are good.
  ///   - end: Where its log ends, and its entries.
  static func noteRecoverable(_ store: SQLiteStore, _ end: JournalEnd, _ report: inout JournalReport) {
    let starts = report.entries.map {
      $0.startOfRecovery(base: end.base).flatMap { $0 <= end.position ? $0 : nil }
    }
    guard let first = firstWithoutFault(of: starts.compactMap { $0 }, store, end) else { return }
    for (index, start) in starts.enumerated() {
      report.entries[index].isRecoverableDespiteFault = start.map { $0 >= first } ?? false
    }
  }

  /// The first of some positions behind which all records are good; nil if there is none.
  private static func firstWithoutFault(of starts: [UInt64], _ store: SQLiteStore, _ end: JournalEnd)
    -> UInt64?
  {
    let checker = BatchChecker(end.entries)
    // The first record that is damaged, of those known: nothing that begins before it gets further.
    var fault: UInt64 = 0
    for start in starts.sorted() where start >= fault {
      var position = start
      do throws(JournalError) {
        try store.readBatches(from: start + 1) { batch throws(JournalError) in
          _ = try checker.check(batch)
          position = batch.first + UInt64(batch.count) - 1
          return true
        }
        return start
      } catch {
        fault = position + 1
      }
    }
    return nil
  }
}

extension JournalReport.Entry {
  /// The position behind which a recovery reads; nil if there is none, since what it needs was removed.
  fileprivate func startOfRecovery(base: UInt64) -> UInt64? {
    if row.isRetired { return nil }
    // A state that is older than the first record that is left needs none of those between.
    if let newest = snapshots.first { return max(newest.position, base) }
    return row.since >= base ? row.since : nil
  }
}
