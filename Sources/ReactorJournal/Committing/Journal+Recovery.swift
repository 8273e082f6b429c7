import ReactorCore
import ReactorRuntime

extension Journal {
  /// Reads the state of a reactor: its newest snapshot that can be read, and then the records behind it. Any thread.
  func recover<R: DurableReactor>(
    _ reactor: R, _ entry: JournalEntry, _ progress: ((RecoveryProgress) -> Void)?
  ) throws(JournalError) -> RecoveredState<R.State> {
    if let failure { throw failure }
    return try log.withLock { log in
      Result { () throws(JournalError) in
        guard log.isOpen else { throw .fenced }
        try mark?.check(entry)
        var recovered =
          try readSnapshot(of: R.self, entry, &log)
          ?? RecoveredState(
            state: reactor.initialState,
            position: log.end.entries.first { $0.number == entry.number }?.since ?? log.end.position,
            requests: RequestWindow(limit: configuration.requestWindow))
        try replay(
          reactor.makeReplayer(), R.digest, entry, into: &recovered, until: log.end.position, progress)
        return recovered
      }
    }.get()
  }

  /// Reads the newest snapshot that can be read, and notes it and the older one as stored: a newer one is worth nothing.
  private func readSnapshot<R: DurableReactor>(
    of _: R.Type, _ entry: JournalEntry, _ log: inout Log
  ) throws(JournalError) -> RecoveredState<R.State>? {
    let snapshots = try store.readSnapshots(of: entry.number)
    log.stored[entry.number] = []
    for (index, snapshot) in snapshots.enumerated() {
      guard R.schema.reads(snapshot.version) else { continue }
      var decoder = RecordDecoder(snapshot.bytes.span.bytes)
      guard let requests = try? RequestWindow(limit: configuration.requestWindow, from: &decoder),
        let state = try? R.decodeSnapshot(from: &decoder, version: snapshot.version)
      else { continue }
      log.stored[entry.number] = snapshots[index...].map(\.position).sorted()
      return RecoveredState(
        state: state, position: snapshot.position, requests: requests,
        growth: Growth(snapshotBytes: snapshot.bytes.count))
    }
    return nil
  }

  /// Applies the records behind a snapshot, one batch at a time.
  private func replay<State>(
    _ replayer: RecordReplayer<State>, _ digest: (borrowing State) -> UInt64?, _ entry: JournalEntry,
    into recovered: inout RecoveredState<State>, until end: UInt64, _ progress: ((RecoveryProgress) -> Void)?
  ) throws(JournalError) {
    let start = recovered.position
    if start >= end { return }
    let mark = mark?.begin(entry)
    try store.readBatches(from: start + 1) { batch throws(JournalError) in
      let last = batch.first + UInt64(batch.count) - 1
      // All of the entry's records in a batch are in one group, so a snapshot contains all of them or none.
      if batch.first <= start {
        recovered.position = max(start, last)
        return true
      }
      let count = try RecordReplayer<State>.apply(
        batch.bytes.span.bytes, first: batch.first, of: entry, requests: &recovered.requests,
        digest: { digest(recovered.state) },
        { run throws(JournalError) in try replayer.body(run, mark, &recovered.state) })
      recovered.position = last
      recovered.growth.records += count
      recovered.growth.bytes += count > 0 ? batch.bytes.count : 0
      progress?(RecoveryProgress(position: last, end: end, start: start))
      return true
    }
    if recovered.position < end { throw .gap(position: recovered.position + 1) }
    mark?.succeed(entry)
  }
}
