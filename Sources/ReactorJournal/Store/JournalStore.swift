/// Where a journal keeps its records: one ordered log of batches, and snapshots beside it.
///
/// A store is used by one thread at a time, which need not be the same: by the thread that opens the journal, by its committer, and by
/// threads that recover reactors. The journal has a lock for that. A store knows nothing of reactors; what
/// the bytes mean is the journal's.
///
/// A store never repeats an operation that failed: the journal decides.
public protocol JournalStore: AnyObject, Sendable {
  /// How many bytes a snapshot may have. A larger one is never given to ``commit(_:entries:snapshots:)``. A constant; any thread. The
  /// default is no limit.
  var largestSnapshot: Int { get }

  /// The first error after which the store refuses everything with ``JournalError/fenced``; nil if there was none. The journal reports
  /// it as the reason of its end, even if no call has thrown it. The default is nil.
  var failure: JournalError? { get }

  /// Opens the store for writing: makes sure that no other process has it open, and checks the end of the log.
  ///
  /// - Throws: ``JournalError/locked`` if another process has it open; the error of what is wrong with the log otherwise.
  /// - Returns: Where the log ends, and the entries that it knows.
  func open() throws(JournalError) -> JournalEnd

  /// Writes a batch, the entries and the snapshots as one: all of it is durable when this returns, or none of it is there
  /// after the next ``open()``, unless ``JournalError/isOutcomeKnown`` is false.
  ///
  /// - Parameters:
  ///   - batch: The next one: its first position follows the end of the log. Nil writes no records.
  ///   - entries: Entries that the log does not know yet, and those that are retired: of these it knows the number, and what it has is
  ///     replaced. Their snapshots are removed. One that was never used may be both: then it is there twice, as a new one first.
  ///   - snapshots: Each replaces the older ones of its entry, but the newest of these that can be used: a snapshot that cannot be read
  ///     must leave another.
  func commit(
    _ batch: JournalBatch?, entries: [JournalEntryRow], snapshots: [JournalSnapshot]
  ) throws(JournalError)

  /// Calls `body` with each batch that has a position of `first` or later, in order, and checks each one: its checksum, that no
  /// position is missing, that the epoch does not go back. Holds one batch in memory at a time.
  ///
  /// - Parameters:
  ///   - first: A position after ``JournalEnd/base``.
  ///   - body: Returns false to stop.
  /// - Throws: ``JournalError/gap(position:)`` if the record with the position `first` was removed.
  func readBatches(
    from first: UInt64, _ body: (borrowing JournalBatch) throws(JournalError) -> Bool
  ) throws(JournalError)

  /// The snapshots of an entry, newest first. One that cannot be read is left out.
  func readSnapshots(of entry: UInt32) throws(JournalError) -> [JournalSnapshot]

  /// The positions of the snapshots of an entry, newest first, without those that cannot be read. The default calls
  /// ``readSnapshots(of:)``; a store that can check a snapshot without holding the other one in memory should do so.
  func readSnapshotPositions(of entry: UInt32) throws(JournalError) -> [UInt64]

  /// Removes some of the batches whose last position is before `position`, the oldest ones, or retired entries that have no records any
  /// more, or gives some of the space back. The journal calls it again and again, with commits in between, which wait for each call.
  /// So a call should take about as long as a commit.
  ///
  /// - Returns: Whether there is more to do: false if all of them are gone, and their space.
  func removeSomeBatches(before position: UInt64) throws(JournalError) -> Bool

  /// Notes that the journal cannot use a snapshot that ``readSnapshots(of:)`` has returned, though the store has found it good:
  /// the next snapshot of the entry must replace this one, and not the older one. The default does nothing.
  func noteUseless(_ snapshot: JournalSnapshot)

  /// Closes the store and lets other processes open it. Nothing may be called afterwards.
  func close()
}

extension JournalStore {
  public var largestSnapshot: Int { .max }

  public var failure: JournalError? { nil }

  public func noteUseless(_ snapshot: JournalSnapshot) {}

  public func readSnapshotPositions(of entry: UInt32) throws(JournalError) -> [UInt64] {
    try readSnapshots(of: entry).map(\.position)
  }

  /// Removes all batches whose last position is before `position`, and gives their space back.
  public func removeBatches(before position: UInt64) throws(JournalError) {
    while try removeSomeBatches(before: position) {}
  }
}

/// Where a log ends.
public struct JournalEnd: Sendable {
  /// The position of the last record that was removed; 0 if there is none. Reading begins after it.
  public var base: UInt64
  /// The position of the last record; 0 if there was never one.
  public var position: UInt64
  /// The epoch of the process that has just opened the log: 1 more than any before it.
  public var epoch: UInt64
  public var entries: [JournalEntryRow]

  public init(base: UInt64, position: UInt64, epoch: UInt64, entries: [JournalEntryRow]) {
    self.base = base
    self.position = position
    self.epoch = epoch
    self.entries = entries
  }
}

/// What one group commit writes: records of whole actions, in the order of the journal.
public struct JournalBatch: Sendable {
  /// Of the process that wrote it; never goes back along the log.
  public var epoch: UInt64
  /// The position of the first record. Positions count the records of the whole journal from 1, without a gap.
  public var first: UInt64
  /// How many records there are.
  public var count: UInt32
  /// The records, as runs of records of one reactor each: see `Format/RecordRun.swift`.
  public var bytes: [UInt8]

  public init(epoch: UInt64, first: UInt64, count: UInt32, bytes: [UInt8]) {
    self.epoch = epoch
    self.first = first
    self.count = count
    self.bytes = bytes
  }
}

/// A reactor's place in a journal: its number in the records, and its name.
public struct JournalEntryRow: Sendable, Equatable {
  public var number: UInt32
  public var name: String
  /// Where the log ended when the entry was added: all its records are later. Without a snapshot, an entry is read from there.
  public var since: UInt64
  /// Where the log ended when the entry was retired: none of its records is later. Nil while it may be used. A store keeps a retired
  /// entry until it has no records up to there, so that each record has an entry. It need not keep its ``since``, and another entry
  /// may have its name.
  public var until: UInt64?

  public init(number: UInt32, name: String, since: UInt64, until: UInt64? = nil) {
    self.number = number
    self.name = name
    self.since = since
    self.until = until
  }

  public var isRetired: Bool { until != nil }

  /// Whether a store may remove the entry: it is retired, and its records are.
  ///
  /// - Parameter base: The last position that was removed.
  public func isRemovable(base: UInt64) -> Bool { until.map { $0 <= base } ?? false }
}

/// The state of one entry at a position.
public struct JournalSnapshot: Sendable, Equatable {
  public var entry: UInt32
  /// Contains every record of the entry up to this position of the journal.
  public var position: UInt64
  /// Of the schema that encoded it.
  public var version: UInt16
  public var bytes: [UInt8]

  public init(entry: UInt32, position: UInt64, version: UInt16, bytes: [UInt8]) {
    self.entry = entry
    self.position = position
    self.version = version
    self.bytes = bytes
  }
}
