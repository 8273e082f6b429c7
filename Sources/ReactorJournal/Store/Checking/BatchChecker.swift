/// Checks that the bytes of a batch are what they should be, beyond its checksum.
struct BatchChecker {
  /// The entries, and between which positions they are in the log.
  private let entries: [UInt32: (since: UInt64, until: UInt64)]

  init(_ entries: [JournalEntryRow]) {
    self.entries = Dictionary(
      entries.map { ($0.number, ($0.since, $0.until ?? .max)) }, uniquingKeysWith: { first, _ in first })
  }

  /// The mutations of one run.
  struct Mutations {
    var entry: UInt32
    var count: UInt32
    var byteCount: Int
    var lastPosition: UInt64
  }

  /// Returns the runs of mutations.
  ///
  /// - Throws: ``JournalError/malformed(position:reason:)`` if something is not a run or a record, if an entry is not known or not at that
  ///   position, or if there are not as many mutations as the batch says.
  func check(_ batch: borrowing JournalBatch) throws(JournalError) -> [Mutations] {
    var found: [Mutations] = []
    let bytes = batch.bytes
    var reader = RecordRunReader(bytes.span.bytes, first: batch.first)
    while var run = try reader.next() {
      var byteCount = 0
      do throws(MalformedRecord) {
        // What belongs to the last mutation has the position of the next one.
        guard let entry = entries[run.entry], entry.since < run.first, batch.first <= entry.until else {
          throw MalformedRecord()
        }
        while let record = try run.next() { byteCount += record.byteCount }
      } catch {
        throw .malformed(position: run.first)
      }
      guard run.kind == .mutations, run.count > 0 else { continue }
      found.append(
        Mutations(
          entry: run.entry, count: run.count, byteCount: byteCount,
          lastPosition: run.first + UInt64(run.count) - 1))
    }
    guard reader.position == batch.first + UInt64(batch.count) else {
      throw .malformed(position: batch.first)
    }
    return found
  }
}
