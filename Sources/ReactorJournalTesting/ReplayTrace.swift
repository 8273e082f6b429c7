import Foundation
import ReactorJournal
import ReactorRuntime

/// States of a replay: 64 of them, evenly spaced, and the last one.
struct ReplayTrace<R: DurableReactor> where R.State: Equatable {
  private static var stateCount: UInt64 { 64 }

  private let entry: String
  private var states: [(position: UInt64, state: R.State)] = []

  /// Replays a history from its beginning.
  init(_ path: String, _ entry: String, _ reactor: R) throws {
    self.entry = entry
    let info = try HistoryStore.info(path)
    let step = max(1, (info.end - info.base) / Self.stateCount)
    var states: [(position: UInt64, state: R.State)] = []
    // The oldest snapshot is the beginning if the first records are gone.
    let oldest = info.base > 0 ? try info.snapshots(of: entry).last : nil
    let last = try Journal.replay(
      HistoryStore(path, oldest.map { [$0] } ?? []), reactor, entry: entry
    ) { state, _, position in
      if position >= (states.last?.position ?? info.base) + step { states.append((position, copy state)) }
    }
    states.append((info.end, last))
    self.states = states
  }

  /// Compares each snapshot with the replay up to it, and the replay from it on with the last state.
  func checkSnapshots(_ path: String, _ reactor: R) throws {
    let info = try HistoryStore.info(path)
    for snapshot in try info.snapshots(of: entry) {
      // Otherwise a replay would begin with the first record, if that is there, and not compare anything.
      guard let stored = R.state(in: snapshot) else {
        throw ReplayDifference.snapshot(position: snapshot.position)
      }
      let oldest = info.base > 0 ? try info.snapshots(of: entry).last : nil
      let reached = try Journal.replay(
        HistoryStore(path, oldest.map { [$0] } ?? []), reactor, entry: entry, until: snapshot.position
      ) { _, _, _ in }
      if stored != reached { throw ReplayDifference.snapshot(position: snapshot.position) }
      let last = try Journal.replay(HistoryStore(path, [snapshot]), reactor, entry: entry) { _, _, _ in }
      if last != states.last?.state { throw ReplayDifference.tail(position: snapshot.position) }
    }
  }

  /// Finds the first state that differs from that of another process.
  ///
  /// - Parameter other: Its states were encoded and decoded. So these are, too: what a snapshot does not contain is not a
  ///   difference between the processes.
  func compare(with other: ReplayTrace) throws {
    var before: UInt64 = 0
    for (one, two) in zip(states, other.states) {
      let decoded = try Self.decode(try Self.encode(one.state))
      if decoded != one.state { throw ReplayDifference.snapshot(position: one.position) }
      if one.position != two.position || decoded != two.state {
        throw ReplayDifference.otherProcess(after: before, upTo: one.position)
      }
      before = one.position
    }
    if states.count != other.states.count { throw ReplayDifference.otherProcess(after: before, upTo: .max) }
  }

  // MARK: Between two processes

  func write(to path: String) throws {
    var encoder = RecordEncoder()
    for (position, state) in states {
      encoder.append(position)
      encoder.append(try Self.encode(state))
    }
    // In one step, so that an answer is whole or not there.
    try Data(encoder.take()).write(to: URL(fileURLWithPath: path), options: .atomic)
  }

  init(reading bytes: [UInt8]) throws {
    entry = ""
    var decoder = RecordDecoder(bytes.span.bytes)
    while decoder.remainingCount > 0 {
      let position: UInt64 = try decoder.read()
      states.append((position, try Self.decode(try decoder.readBytes())))
    }
  }

  private static func encode(_ state: R.State) throws -> [UInt8] {
    var encoder = RecordEncoder()
    try R.encodeSnapshot(of: state, into: &encoder)
    return encoder.take()
  }

  private static func decode(_ bytes: [UInt8]) throws -> R.State {
    var decoder = RecordDecoder(bytes.span.bytes)
    return try R.decodeSnapshot(from: &decoder, version: R.schema.version)
  }
}

/// A journal's file with chosen snapshots, which the replay begins with. It writes nothing.
final class HistoryStore: JournalStore {
  private let store: SQLiteStore
  private let snapshots: [JournalSnapshot]

  init(_ path: String, _ snapshots: [JournalSnapshot]) {
    store = SQLiteStore(path: path, access: .readOnly)
    self.snapshots = snapshots
  }

  /// What a journal contains besides its records.
  struct Info {
    let base: UInt64
    let end: UInt64
    fileprivate let entries: [JournalEntryRow]
    fileprivate let path: String

    /// Newest first.
    func snapshots(of name: String) throws(JournalError) -> [JournalSnapshot] {
      let store = SQLiteStore(path: path, access: .readOnly)
      defer { store.close() }
      _ = try store.open()
      guard let entry = entries.first(where: { $0.name == name }) else { return [] }
      return try store.readSnapshots(of: entry.number)
    }
  }

  static func info(_ path: String) throws(JournalError) -> Info {
    let store = SQLiteStore(path: path, access: .readOnly)
    defer { store.close() }
    let end = try store.open()
    return Info(
      base: end.base, end: end.position, entries: end.entries.filter { !$0.isRetired }, path: path)
  }

  func open() throws(JournalError) -> JournalEnd { try store.open() }

  func readSnapshots(of entry: UInt32) throws(JournalError) -> [JournalSnapshot] { snapshots }

  func readBatches(
    from first: UInt64, _ body: (borrowing JournalBatch) throws(JournalError) -> Bool
  ) throws(JournalError) { try store.readBatches(from: first, body) }

  func close() { store.close() }

  private static var isReadOnly: JournalError { .failed(code: 0, message: "The history is only read.") }

  func commit(
    _ batch: JournalBatch?, entries: [JournalEntryRow], snapshots: [JournalSnapshot]
  ) throws(JournalError) { throw Self.isReadOnly }

  func removeSomeBatches(before position: UInt64) throws(JournalError) -> Bool { throw Self.isReadOnly }
}
