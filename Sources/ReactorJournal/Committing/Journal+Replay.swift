import ReactorCore
import ReactorRuntime

extension Journal {
  /// Goes through the history of a reactor: calls `body` after each mutation. Begins with the oldest kept state that can be read, or with
  /// the initial one. The log keeps its records. No process may have the store open. One that is opened for writing notes a new epoch;
  /// `SQLiteStore(path: path, access: .readOnly)` changes nothing.
  ///
  /// ```swift
  /// try Journal.replay(store, Ledger(…), entry: "ledger/1", until: 4711) { state, mutation, position in … }
  /// ```
  ///
  /// - Parameters:
  ///   - store: Opened meanwhile.
  ///   - reactor: Whose `reduce` is called. It need not belong to this journal.
  ///   - name: The name of the entry.
  ///   - last: The position after which it stops.
  ///   - body: Gets the state after a mutation, the mutation, and its position.
  /// - Returns: The last state.
  /// - Throws: ``JournalError``; ``JournalError/removed(entry:until:)`` if `last` is before the oldest kept state, and the records up to
  ///   there are removed; ``JournalError/gap(position:)`` if no kept state can be read, and records before them are removed.
  public static func replay<R: DurableReactor>(
    _ store: any JournalStore, _ reactor: R, entry name: String, until last: UInt64 = .max,
    _ body: (borrowing R.State, R.Mutation, UInt64) -> Void
  ) throws(JournalError) -> R.State {
    let end = try store.open()
    defer { store.close() }
    guard let row = end.entries.first(where: { $0.name == name && !$0.isRetired }) else {
      throw .unknownFormat("there is no entry \(name)")
    }
    let all = try store.readSnapshots(of: row.number)
    let snapshots = all.filter { $0.position <= last }
    let (start, reason) = oldest(of: snapshots, R.self)
    // As in a recovery: a missing record would be reported otherwise, which hides why it is needed.
    if start == nil, row.since < end.base {
      // For their sake the records were removed.
      if all.isEmpty { throw .gap(position: row.since + 1) }
      guard let newest = snapshots.first else { throw .removed(entry: name, until: end.base) }
      try R.schema.check(newest.version, of: name, at: newest.position)
      throw .unreadableSnapshot(entry: name, position: newest.position, reason: reason)
    }
    var state = start?.state ?? reactor.initialState
    // The reactor has no record before those that are left, if its state is older.
    let first = (start.map { max($0.position, end.base) } ?? row.since) + 1
    if first > end.position { return state }
    try store.readBatches(from: first) { batch throws(JournalError) in
      if batch.first > last { return false }
      var reader = RecordRunReader(batch.bytes.span.bytes, first: batch.first)
      while var run = try reader.next() {
        guard run.entry == row.number, run.kind == .mutations else { continue }
        try R.schema.check(run.version, of: name, at: run.first)
        var position = run.first
        do throws(MalformedRecord) {
          while let record = try run.next() {
            if position > last { return false }
            defer { position += 1 }
            if position < first { continue }
            let mutation = try R.schema.decode(R.Mutation.self, record, run.version)
            reactor.apply(mutation, to: &state)
            body(state, mutation, position)
          }
        } catch {
          throw .malformed(position: position, reason: error.reason)
        }
      }
      return true
    }
    return state
  }

  /// The oldest state that can be read; nil if there is none, and then why the newest one cannot.
  ///
  /// - Parameter snapshots: The newest first.
  private static func oldest<R: DurableReactor>(
    of snapshots: [JournalSnapshot], _: R.Type
  ) -> ((position: UInt64, state: R.State)?, reason: String?) {
    var reason: String?
    for snapshot in snapshots.reversed() {
      do throws(MalformedRecord) {
        return ((snapshot.position, try R.decode(snapshot, requestLimit: 0).state), nil)
      } catch {
        reason = error.reason
      }
    }
    return (nil, reason)
  }
}
