/// Why a journal cannot be opened, read or written.
public enum JournalError: Error, Sendable, Equatable {
  /// Another process has the journal open.
  case locked
  /// The file is not a journal, or one of a format that this version does not know.
  case unknownFormat(String)
  /// A record was written by a version of its schema that the reactor does not know.
  case unknownVersion(entry: String, version: UInt16, position: UInt64)
  /// The batch with this position is not what was written.
  case badChecksum(position: UInt64)
  /// The record with this position is missing.
  case gap(position: UInt64)
  /// The batch with this position was written by an older process than the one before it.
  case epochWentBack(position: UInt64)
  /// The batch with this position is no sequence of records, or this record cannot be decoded, for the reason that the decoder gives.
  case malformed(position: UInt64, reason: String? = nil)
  /// The disk is full, or a quota is used up. Nothing was written; the same batch may be committed again.
  case diskFull
  /// The system or SQLite reports an error. Whether the batch was written is not known.
  case failed(code: Int32, message: String)
  /// An earlier error has ended the journal, or it was closed.
  case fenced
  /// Replaying the record with this position stopped the process before.
  case trapped(entry: String, position: UInt64)
  /// The state that the records give has another digest than when they were written.
  case diverged(entry: String, position: UInt64)

  /// No stored state of a reactor can be read by this program, and the records before them are removed. The newest of them has this
  /// position, and cannot be decoded for this reason.
  case unreadableSnapshot(entry: String, position: UInt64, reason: String? = nil)

  /// The reactor had its state at the position that is asked for, but ``Journal/compact()`` has removed the records up to this one, and no
  /// state from before is kept.
  case removed(entry: String, until: UInt64)

  /// The entry was retired: see ``Journal/retire(_:)-(String)``.
  case retired(entry: String)
  /// A reactor uses the entry, and stays: so it cannot be retired, nor used by another reactor.
  case inUse(entry: String)

  /// The state of a reactor is too large for the store, so it has no new snapshot. Records are written and read as before, but the
  /// log grows: ``Journal/compact()`` removes nothing that an older snapshot does not contain.
  case snapshotTooLarge(entry: String, byteCount: Int)
  /// ``DurableReactor/encodeSnapshot(of:into:)`` has thrown an error, or what it has written cannot be decoded, or is then a state with
  /// another digest. So the reactor has no new snapshot, with the same consequences.
  case snapshotNotEncoded(entry: String, message: String)

  /// Whether it is known that a commit that throws this has written nothing.
  public var isOutcomeKnown: Bool {
    if case .failed = self { false } else { true }
  }
}
