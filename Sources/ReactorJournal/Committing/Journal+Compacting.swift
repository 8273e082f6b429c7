import ReactorCore
import ReactorRuntime

extension Journal {
  /// Stores the states of the reactors that have started, and removes the records that all kept states contain. Any task.
  ///
  /// Two states of each reactor are kept, so that one that cannot be read leaves another. The records behind the older one are
  /// kept, too; of a reactor with fewer than two states, all records.
  ///
  /// - Returns: The position of the last record that was removed; 0 if none ever was.
  /// - Throws: ``JournalError``; ``JournalError/fenced`` if the journal was closed. ``JournalError/diskFull`` and
  ///   ``JournalError/snapshotTooLarge(entry:byteCount:)`` do not end the journal, every other error does.
  @discardableResult
  public func compact() async throws(JournalError) -> UInt64 {
    let end = durablePosition
    let members = currentMembers
    for (index, member) in members.enumerated() {
      if index % Self.statesAtOnce == 0 {
        // So that one commit has many of them. Those that are not made now are when it is their turn.
        for member in members[index...].prefix(Self.statesAtOnce) where !isStored(member, at: end) {
          member.bound?.requestSnapshot()
        }
      }
      try await storeState(of: member, at: end)
    }
    let result = await withCheckedContinuation { continuation in
      addJob { [self] in
        continuation.resume(returning: Result { () throws(JournalError) in try removeRecords() })
      }
    }
    return try result.get()
  }

  /// How many states are encoded at once, each by a thread, and are in memory.
  private static var statesAtOnce: Int { 16 }

  private func isStored(_ member: JournalMember, at end: UInt64) -> Bool {
    log.withLock { $0.stored[member.entry.number]?.last ?? 0 } >= end
  }

  /// Waits until a state with the records up to a position is stored. Gives up when others than the reactor have prevented it a
  /// few times: a full disk, or groups that are being committed.
  private func storeState(of member: JournalMember, at end: UInt64) async throws(JournalError) {
    for _ in 0..<3 {
      guard let bound = member.bound, bound.followerRuntime != nil else { return }
      if isStored(member, at: end) { return }
      let before = bound.snapshotCount
      while bound.snapshotCount == before, bound.reactor != nil {
        if let failure { throw failure }
        if !log.withLock({ $0.isOpen }) { throw .fenced }
        bound.requestSnapshot()
        do { try await Task.sleep(for: .milliseconds(1)) } catch { return }
      }
      if let failure = bound.snapshotFailure { throw failure }
    }
  }

  /// The committer; or, when it has ended, any thread.
  private func removeRecords() throws(JournalError) -> UInt64 {
    if let failure { throw failure }
    return try log.withLock { log in
      let result = Result { () throws(JournalError) in try log.compact(store) }
      switch result {
      case .failure(.diskFull), .failure(.fenced), .success: break
      case .failure(let error): fail(error)
      }
      return result
    }.get()
  }
}

extension Journal.Log {
  /// Removes the records that all kept snapshots contain.
  fileprivate mutating func compact(_ store: any JournalStore) throws(JournalError) -> UInt64 {
    if !isOpen { throw .fenced }
    var last = end.position
    for entry in end.entries {
      if stored[entry.number] == nil {
        stored[entry.number] = try store.readSnapshots(of: entry.number).map(\.position).sorted()
      }
      let kept = stored[entry.number] ?? []
      last = min(last, kept.count < 2 ? entry.since : kept[0])
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
      stored[snapshot.entry] = ((stored[snapshot.entry] ?? []).suffix(1) + [snapshot.position]).sorted()
    }
  }
}
