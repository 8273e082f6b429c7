import ReactorCore
import ReactorRuntime

extension Journal {
  /// Reads the states of many reactors with one pass over the log, and starts them; leaves out those that have started. Any
  /// thread, before the reactors' first use.
  ///
  /// ``DurableReactor/recover(progress:)`` of one reactor reads the log behind its snapshot. For each of 10,000 reactors that would be
  /// 10,000 passes.
  ///
  /// Holds locks of the journal meanwhile: its commits and other recoveries wait.
  ///
  /// - Parameters:
  ///   - reactors: Reactors of this journal, of any types. Another journal's reactor stops the program.
  ///   - progress: As with ``DurableReactor/recover(progress:)``.
  /// - Throws: ``JournalError``: a snapshot or a record cannot be read, or another reactor uses one of the entries, or there are two of one
  ///   entry. None of the reactors is started then.
  /// - Complexity: O(number of reactors + number of records in the journal since the oldest of their snapshots).
  public func recover(
    _ reactors: [any DurableReactor], progress: ((RecoveryProgress) -> Void)? = nil
  ) throws(JournalError) {
    var members: [UInt32: JournalMember] = [:]
    for reactor in reactors {
      let member = reactor.member
      guard member.journal === self else { fatalError("\(type(of: reactor)) belongs to another journal") }
      // The second would wait for the first.
      guard members.updateValue(member, forKey: member.entry.number) ?? member === member else {
        throw .inUse(entry: member.entry.name)
      }
    }
    let left = reactors.filter { $0.member.bound == nil }
    JournalMember.beginStarting(left.map { ($0.member, $0) }, of: self)
    defer { for reactor in left { reactor.member.endStarting() } }
    var recoveries: [any EntryRecovering] = []
    for reactor in left {
      try awaitPredecessor(of: reactor.member)
      if let recovery = makeRecovery(of: reactor) { recoveries.append(recovery) }
    }
    try recover(recoveries, progress)
    for recovery in recoveries { recovery.startReactor() }
  }

  private func makeRecovery<R: DurableReactor>(of reactor: R) -> (any EntryRecovering)? {
    let member = reactor.member
    return member.bound == nil ? EntryRecovery(reactor, member.entry, configuration) : nil
  }

  /// Reads the state of a reactor: its newest snapshot that can be read, and then the records behind it. Any thread.
  func recover<R: DurableReactor>(
    _ reactor: R, _ entry: JournalEntry, _ progress: ((RecoveryProgress) -> Void)?
  ) throws(JournalError) -> RecoveredState<R.State> {
    let recovery = EntryRecovery(reactor, entry, configuration)
    try recover([recovery], progress)
    return recovery.recovered
  }

  private func recover(
    _ recoveries: [any EntryRecovering], _ progress: ((RecoveryProgress) -> Void)?
  ) throws(JournalError) {
    if let failure { throw failure }
    try log.withLock { log -> Result<Void, JournalError> in
      let result = Result { () throws(JournalError) in
        guard log.isOpen else { throw .fenced }
        for recovery in recoveries {
          let entry = recovery.entry
          guard log.rows[entry.number] != nil, !members.withLock({ $0.isRetiring(entry.number) }) else {
            throw .retired(entry: entry.name)
          }
          try mark?.check(recovery.entry)
          try recovery.begin(store, &log)
        }
        try replay(recoveries, until: log.end.position, progress)
      }
      // The store refuses everything now. What is wrong with the records of one reactor does not end the others.
      if case .failure(let error) = result, case .failed = error { fail(error) }
      if case .failure(.fenced) = result, let reason = store.failure {
        fail(reason)
        return .failure(reason)
      }
      return result
    }.get()
  }

  /// Applies the records behind the snapshots, one batch at a time.
  private func replay(
    _ recoveries: [any EntryRecovering], until end: UInt64, _ progress: ((RecoveryProgress) -> Void)?
  ) throws(JournalError) {
    let start = recoveries.map(\.start).min() ?? end
    if start >= end { return }
    let byNumber = Dictionary(
      recoveries.map { ($0.entry.number, $0) }, uniquingKeysWith: { first, _ in first })
    let only = recoveries.count == 1 ? recoveries.first : nil
    var position = start
    try store.readBatches(from: start + 1) { batch throws(JournalError) in
      position = batch.first + UInt64(batch.count) - 1
      var reader = RecordRunReader(batch.bytes.span.bytes, first: batch.first)
      while let run = try reader.next() {
        // A state with no other one beside it needs no table.
        let recovery = only.map { $0.entry.number == run.entry ? $0 : nil } ?? byNumber[run.entry]
        try recovery?.apply(run, ofBatch: batch.first, mark)
      }
      progress?(RecoveryProgress(position: position, end: end, start: start))
      return true
    }
    if position < end { throw .gap(position: position + 1) }
    for recovery in recoveries {
      recovery.end(at: end)
      mark?.forget(recovery.entry.number)
    }
  }
}

/// The recovery of one reactor, without its type. The thread that recovers, which holds the lock of the log until the start.
protocol EntryRecovering: AnyObject {
  var entry: JournalEntry { get }
  /// The position that the state had before the first record was applied. After ``begin(_:_:)``.
  var start: UInt64 { get }
  /// Reads the snapshot.
  func begin(_ store: any JournalStore, _ log: inout Journal.Log) throws(JournalError)
  /// Applies a run of the entry, unless the snapshot contains it.
  ///
  /// - Parameters:
  ///   - run: One of the entry.
  ///   - first: The first position of its batch.
  ///   - mark: Notes which record is being replayed.
  func apply(_ run: borrowing RecordRun, ofBatch first: UInt64, _ mark: ReplayMark?) throws(JournalError)
  /// Notes that all records up to a position were applied.
  func end(at position: UInt64)
  /// Starts the reactor with the state.
  func startReactor()
}

final class EntryRecovery<R: DurableReactor>: EntryRecovering {
  let entry: JournalEntry
  private(set) var start: UInt64 = 0
  // Not one value: the digest of the state is computed while the identifiers change.
  private var state: R.State
  private var requests: RequestWindow
  private var position: UInt64 = 0
  private var growth = Growth()
  private let reactor: R
  private let replayer: RecordReplayer<R.State>
  private let configuration: JournalConfiguration

  init(_ reactor: R, _ entry: JournalEntry, _ configuration: JournalConfiguration) {
    (self.reactor, self.entry, self.configuration) = (reactor, entry, configuration)
    replayer = reactor.makeReplayer()
    state = reactor.initialState
    requests = RequestWindow(limit: configuration.requestWindow)
  }

  var recovered: RecoveredState<R.State> {
    RecoveredState(state: state, position: position, requests: requests, growth: growth)
  }

  func begin(_ store: any JournalStore, _ log: inout Journal.Log) throws(JournalError) {
    position = log.start(of: entry)
    // The newest snapshot that can be read is used. It and the older one are noted as stored: a newer one is worth nothing.
    let snapshots = try store.readSnapshots(of: entry.number)
    log.stored[entry.number] = []
    var reason: String?
    for (index, snapshot) in snapshots.enumerated() {
      do throws(MalformedRecord) {
        (requests, state) = try R.decode(snapshot, requestLimit: configuration.requestWindow)
      } catch {
        if index == 0 { reason = error.reason }
        // Otherwise the next snapshot would replace the older one, which is good.
        store.noteUseless(snapshot)
        continue
      }
      log.stored[entry.number] = snapshots[index...].map(\.position).sorted()
      // If the snapshot is older than that, its entry has no record between.
      position = max(snapshot.position, log.released)
      growth.snapshotBytes = snapshot.bytes.count
      break
    }
    // Otherwise each of many reactors that are made together, and used one after the other, would read all that the others have
    // recorded. Of records that are released nothing is known: without a readable snapshot, the entry may need some of them.
    if position >= log.released, log.hasMutations(entry.number, after: position) == false {
      position = log.end.position
    }
    start = position
    // Otherwise a missing record would be reported, which hides why it is needed.
    if start < log.end.base, let newest = snapshots.first {
      try R.schema.check(newest.version, of: entry.name, at: newest.position)
      throw .unreadableSnapshot(entry: entry.name, position: newest.position, reason: reason)
    }
  }

  func apply(
    _ run: borrowing RecordRun, ofBatch first: UInt64, _ mark: ReplayMark?
  ) throws(JournalError) {
    // All of the entry's records in a batch are in one group, so a snapshot contains all of them or none.
    if first <= start { return }
    let mark = mark?.begin(entry)
    growth.bytes += run.byteCount
    growth.records += try RecordReplayer<R.State>.apply(
      run, of: entry, version: R.schema.version, requests: &requests, digest: { R.digest(of: state) },
      { run throws(JournalError) in try replayer.body(run, mark, &state) })
  }

  func end(at position: UInt64) { self.position = max(self.position, position) }

  func startReactor() {
    reactor.member.keep(recovered)
    reactor.runtime.ensureStarted(reactor)
  }
}
