import ReactorCore
import ReactorRuntime

/// How far a recovery is.
public struct RecoveryProgress: Sendable, Hashable {
  /// The position that was read last.
  public let position: UInt64
  /// Where the log ends.
  public let end: UInt64
  /// Where the reading began: behind the snapshot.
  public let start: UInt64
}

/// What the log says about a reactor.
struct RecoveredState<State: Sendable>: Sendable {
  var state: State
  /// Contains every record up to there.
  var position: UInt64
  var requests: RequestWindow
  /// Since the last snapshot.
  var growth = Growth()
}

/// How much was written since a snapshot.
struct Growth: Sendable {
  var records = 0
  var bytes = 0
  /// The size of that snapshot.
  var snapshotBytes = 0

  func needsSnapshot(_ configuration: JournalConfiguration) -> Bool {
    guard let limit = configuration.snapshotRecords, records >= limit else { return false }
    return Double(bytes) >= configuration.snapshotRatio * Double(snapshotBytes)
  }
}

extension RecordReplayer {
  /// Applies what a batch contains of one reactor. Compares the digests.
  ///
  /// - Parameters:
  ///   - bytes: Those of the batch.
  ///   - first: The position of its first record.
  ///   - entry: The reactor's entry.
  ///   - version: That of the reactor's schema. A digest of another version is that of another state, and not compared.
  ///   - requests: Gets the identifiers.
  ///   - digest: Computes the digest of the state.
  ///   - apply: Applies a run of mutations.
  /// - Returns: How many records there were.
  static func apply(
    _ bytes: RawSpan, first: UInt64, of entry: JournalEntry, version: UInt16,
    requests: inout RequestWindow, digest: () -> UInt64?,
    _ apply: (borrowing RecordRun) throws(JournalError) -> Void
  ) throws(JournalError) -> Int {
    var reader = RecordRunReader(bytes, first: first)
    var count = 0
    while let run = try reader.next() {
      if run.entry != entry.number { continue }
      count += try self.apply(run, of: entry, version: version, requests: &requests, digest: digest, apply)
    }
    return count
  }

  /// Applies one run of a reactor: as above.
  static func apply(
    _ run: borrowing RecordRun, of entry: JournalEntry, version: UInt16,
    requests: inout RequestWindow, digest: () -> UInt64?,
    _ apply: (borrowing RecordRun) throws(JournalError) -> Void
  ) throws(JournalError) -> Int {
    switch run.kind {
    case .mutations:
      try apply(run)
      return Int(run.count)
    case .identifiers: try requests.insertAll(of: run)
    case .digests: if run.version == version { try compare(run, digest(), of: entry) }
    }
    return 0
  }

  private static func compare(_ run: borrowing RecordRun, _ digest: UInt64?, of entry: JournalEntry)
    throws(JournalError)
  {
    guard let digest else { return }
    var run = copy run
    do throws(MalformedRecord) {
      while let record = try run.next() {
        var decoder = RecordDecoder(record)
        if try decoder.read(UInt64.self) == digest { continue }
        throw MalformedRecord()
      }
    } catch {
      throw .diverged(entry: entry.name, position: run.first - 1)
    }
  }
}

extension RequestWindow {
  fileprivate mutating func insertAll(of run: borrowing RecordRun) throws(JournalError) {
    var run = copy run
    do throws(MalformedRecord) {
      while let record = try run.next() {
        var decoder = RecordDecoder(record)
        insert(try decoder.read())
      }
    } catch {
      throw .malformed(position: run.first, reason: error.reason)
    }
  }
}
