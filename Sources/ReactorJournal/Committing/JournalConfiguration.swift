import ReactorCore

/// The limits of a ``Journal``. All are positive, but ``snapshotRatio``, ``requestWindow`` and ``diskFullLimit``, which may be 0;
/// others stop the program when the journal is made.
public struct JournalConfiguration: Sendable {
  /// How many bytes of records a reactor's turns hand over before the reactor waits for the disk. Each reply, confirmation or effect
  /// that waits for the disk counts as 128 bytes. As many again are being committed; a turn that is running ends
  /// within eight actions of the limit.
  /// Together this bounds the memory of each reactor's journal.
  public var bufferBytes = 1024 * 1024
  /// How many bytes of records a commit collects before it leaves other reactors to the next one, and how many of snapshots, which have
  /// commits of their own.
  public var commitBytes = 1024 * 1024
  /// How long a commit of records is repeated while the disk is full. Snapshots for which there is no room are left out.
  public var diskFullLimit = Duration.seconds(30)
  /// After how many records of a reactor its state is stored; nil stores no states.
  public var snapshotRecords: Int? = 1_000_000
  /// How many bytes of records there must be for each byte of the last snapshot before the next one is made.
  public var snapshotRatio = 2.0
  /// After how many records of a reactor the digest of its state is stored, if it has one.
  public var digestRecords = 100_000
  /// How many identifiers of requests are remembered for each reactor.
  public var requestWindow = 1024
  /// Whether a record is replayed again at which two processes have ended: see ``JournalError/trapped(entry:position:)``. For the
  /// first start after the error was corrected.
  public var replaysTrappedRecords = false
  /// Called once, with the error that has ended the journal. On the journal's thread.
  public var onFailure: @Sendable (JournalError) -> Void = { _ in }
  /// Called with what does not end the journal but needs attention, for each snapshot that was left out:
  /// ``JournalError/snapshotTooLarge(entry:byteCount:)``, ``JournalError/snapshotNotEncoded(entry:message:)``, and
  /// ``JournalError/diskFull`` if there was no room for it. On a thread of the journal, which may be the one that
  /// commits: it must not wait for the journal. The default writes a line to standard error.
  public var onWarning: @Sendable (JournalError) -> Void = { warning in
    StandardError.write("warning: journal: \(warning)\n")
  }

  public init() {}

  /// Stops the program if with one of the limits a reactor would wait for ever, or if it means nothing.
  func check() {
    guard bufferBytes > 0 else { fatalError("bufferBytes is \(bufferBytes); it must be positive") }
    guard commitBytes > 0 else { fatalError("commitBytes is \(commitBytes); it must be positive") }
    guard diskFullLimit >= .zero else {
      fatalError("diskFullLimit is \(diskFullLimit); it must not be negative")
    }
    guard snapshotRecords ?? 1 > 0 else {
      fatalError("snapshotRecords is \(snapshotRecords ?? 1); it must be positive")
    }
    guard snapshotRatio >= 0 else { fatalError("snapshotRatio is \(snapshotRatio); it must not be negative") }
    guard digestRecords > 0 else { fatalError("digestRecords is \(digestRecords); it must be positive") }
    guard requestWindow >= 0 else { fatalError("requestWindow is \(requestWindow); it must not be negative") }
  }

  /// How many bytes make a group of a reactor full, and a commit. All records of a commit are one row, of which SQLite takes 10⁹ bytes.
  var groupBytes: Int { min(bufferBytes, Self.rowLimit) }
  var batchBytes: Int { min(commitBytes, Self.rowLimit) }
  private static var rowLimit: Int { 1 << 28 }

  /// How many bytes of records a turn may have: with those of a group, they fit into the 32 bits of a run's header.
  var turnBytes = 1 << 31

  /// About what the journal and its reply need. What the asker keeps is not known.
  static var bytesOfEnd: Int { 128 }
}
