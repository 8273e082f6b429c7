import ReactorCore
import ReactorRuntime

extension Journal {
  /// Stores the states of the reactors that have started, and removes the records that all kept states contain. Any task.
  ///
  /// Two states of each reactor are kept, so that one that cannot be read leaves another. The records behind the older one are
  /// kept, too. An entry without a state, whose reactor has not been started, keeps all records behind its beginning.
  ///
  /// - Returns: The position of the last record that was removed; 0 if none ever was.
  /// - Throws: ``JournalError``, also if the journal has ended.
  @discardableResult
  public func compact() async throws(JournalError) -> UInt64 {
    for member in currentMembers where member.bound?.followerRuntime != nil {
      let before = log.withLock { $0.stored[member.entry.number]?.last }
      let end = durablePosition
      if before == end { continue }
      while log.withLock({ $0.stored[member.entry.number]?.last == before }), member.bound?.reactor != nil {
        if let failure { throw failure }
        member.bound?.requestSnapshot()
        do { try await Task.sleep(for: .milliseconds(1)) } catch { break }
      }
    }
    let result = await withCheckedContinuation { continuation in
      addWork { [self] work in
        work.jobs.append { [self] in
          continuation.resume(
            returning: log.withLock { log in
              Result { () throws(JournalError) in try log.compact(store) }
            })
        }
      }
    }
    if case .failure(let error) = result { fail(error) }
    return try result.get()
  }
}

extension Journal.Log {
  /// Removes the records that all kept snapshots contain.
  fileprivate mutating func compact(_ store: any JournalStore) throws(JournalError) -> UInt64 {
    if !isOpen { throw .fenced }
    var last = end.position
    for entry in end.entries {
      if stored[entry.number] == nil {
        stored[entry.number] = try store.readSnapshots(of: entry.number).map(\.position).reversed()
      }
      last = min(last, stored[entry.number]?.first ?? entry.since)
    }
    if last > end.base {
      try store.removeBatches(before: last + 1)
      end.base = last
    }
    return end.base
  }

  /// Notes which snapshots the store keeps.
  mutating func note(_ snapshots: [JournalSnapshot]) {
    for snapshot in snapshots {
      stored[snapshot.entry] = (stored[snapshot.entry] ?? []).suffix(1) + [snapshot.position]
    }
  }
}
