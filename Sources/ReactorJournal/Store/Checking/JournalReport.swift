/// What a journal contains, and the first thing that is wrong with it.
public struct JournalReport: Sendable {
  /// The records of one reactor.
  public struct Entry: Sendable {
    public var row: JournalEntryRow
    /// How many mutations the log has, and how many bytes they are.
    public var recordCount: UInt64 = 0
    public var byteCount: UInt64 = 0
    /// The position of the last one; nil if the log has none.
    public var lastPosition: UInt64?
    /// Newest first. Those that cannot be read are not among them.
    public var snapshots: [Snapshot] = []
    /// How many snapshots there are that cannot be read. They are no ``JournalReport/fault`` of the log: a recovery uses the other one, or
    /// the records.
    public var damagedSnapshotCount = 0
    /// If there is a ``JournalReport/fault``, whether the reactor can be recovered from this journal all the same: it can be opened, and
    /// what a recovery reads, the newest snapshot and the records behind it, is not damaged. False if there is no fault.
    public var isRecoverableDespiteFault = false
  }

  /// A snapshot without its bytes.
  public struct Snapshot: Sendable, Equatable {
    public var position: UInt64
    public var version: UInt16
    public var byteCount: Int
  }

  /// The last position that was removed.
  public var base: UInt64
  /// The last position before which nothing is wrong.
  public var position: UInt64
  /// Of the last process that wrote.
  public var epoch: UInt64
  public var entries: [Entry]
  public var batchCount: UInt64 = 0
  /// Of all batches.
  public var byteCount: UInt64 = 0
  /// What is wrong with the log first; nil if nothing is.
  public var fault: JournalError?
  /// How many snapshots of all entries cannot be read.
  public var damagedSnapshotCount: Int { entries.reduce(0) { $0 + $1.damagedSnapshotCount } }
}
