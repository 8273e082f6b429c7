import ReactorCore
import ReactorRuntime

extension Journal {
  /// Stores the states of the reactors that have started, and removes the records that all kept states contain. Any task. The states of
  /// reactors that were released are among them, as long as the journal has them: see <doc:Durability>.
  ///
  /// Two states of each reactor are kept, so that one that cannot be read leaves another. The records behind the older one are kept, too,
  /// with those of all others, if the reactor has any there; of a reactor with fewer than two states, all records.
  ///
  /// The states of reactors that were not started are not decoded. After a change of the state, start all reactors before the first call:
  /// otherwise it may remove the records of one whose stored states this program cannot decode.
  ///
  /// Commits go on meanwhile, one between any two steps of the removal. Before that, it reads the stored states of the reactors that were
  /// not started, with a commit between any two reactors; and once in a process, if that can release records, what is left of the log of
  /// earlier ones. If that is damaged, ``JournalConfiguration/onWarning`` is called, and the records are kept.
  ///
  /// - Returns: Up to which position no record is needed besides the kept states, so that these are removed; but not those of a commit that
  ///   has later records, too. 0 if there never was such a position.
  /// - Throws: ``JournalError``; ``JournalError/fenced`` if the journal was closed. ``JournalError/diskFull``,
  ///   ``JournalError/snapshotTooLarge(entry:byteCount:)`` and ``JournalError/snapshotNotEncoded(entry:message:)`` do not end the journal,
  ///   every other error does. If states cannot be stored for one of these three reasons, the others are, and what can be removed is;
  ///   then the first of these errors is thrown.
  @discardableResult
  public func compact() async throws(JournalError) -> UInt64 {
    let end = durablePosition
    var leftOut: JournalError?
    let members = currentMembers
    for (index, member) in members.enumerated() {
      if index % Self.statesAtOnce == 0 {
        // So that they are encoded side by side. Those that are not made now are when it is their turn.
        for member in members[index...].prefix(Self.statesAtOnce) where !isStored(member, at: end) {
          member.bound?.requestSnapshot()
        }
      }
      let failure = try await storeState(of: member, at: end)
      leftOut = leftOut ?? failure
    }
    let store = store
    // One entry at a time: of 10,000 that were not started, it would take seconds.
    for number in log.withLock({ $0.entriesToRead }) {
      try await onCommitter { log throws(JournalError) in try log.readStored(of: number, store) }
    }
    var mustExamine = try await onCommitter { log in log.mustExamine }
    while mustExamine {
      let (hasMore, damage) = try await onCommitter { log throws(JournalError) in
        try log.examineSome(of: store)
      }
      if let damage { configuration.onWarning(damage) }
      mustExamine = hasMore
    }
    let last = try await onCommitter { log throws(JournalError) in log.releaseSuperfluous() }
    // One short transaction at a time: everything that waits for the disk is committed in between.
    while try await onCommitter({ log throws(JournalError) in try log.removeSome(upTo: last, store) }) {}
    if let leftOut { throw leftOut }
    return log.withLock { $0.end.base }
  }

  private func isStored(_ member: JournalMember, at end: UInt64) -> Bool {
    log.withLock { $0.isStored(member.entry.number, at: end) }
  }

  /// Waits until a state with the records up to a position is stored. Gives up when groups that are being committed have prevented it
  /// a few times.
  ///
  /// - Returns: Why the state was left out; nil if it was not.
  private func storeState(of member: JournalMember, at end: UInt64) async throws(JournalError)
    -> JournalError?
  {
    for _ in 0..<3 {
      guard let bound = member.bound, bound.followerRuntime != nil else { return nil }
      if isStored(member, at: end) { return nil }
      let before = bound.snapshotCount
      // Also if the reactor is gone: its durable state is still there.
      while bound.snapshotCount == before {
        if let failure { throw failure }
        if !log.withLock({ $0.isOpen }) { throw .fenced }
        bound.requestSnapshot()
        do { try await Task.sleep(for: .milliseconds(1)) } catch { return nil }
      }
      if let failure = bound.snapshotFailure { return failure }
    }
    return nil
  }
}
