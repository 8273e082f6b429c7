import ReactorCore
import ReactorRuntime

extension Journal {
  /// Removes an entry whose reactor is not needed any more, such as the one of an order that is delivered: its name, and its states. Its
  /// records do not keep those of others any more: ``compact()`` removes them together.
  ///
  /// Durable when it returns: with the same commit as the records that are pending then. After a crash before that, the entry is there as
  /// it was. A reactor that gets the same name later begins with its `initialState`, and knows no `id` of an earlier one.
  ///
  /// Release the reactor first: this waits until it is gone and everything that it has recorded is applied, up to five seconds. Meanwhile
  /// no reactor starts with the entry: it is closed before its first turn, and ``DurableReactor/recover(progress:)`` throws
  /// ``JournalError/retired(entry:)``. So it is later with one that got its ``JournalEntry`` before. Any task, also one
  /// that an effect of `afterCommit` has begun.
  ///
  /// ```swift
  /// case .delivered: return .afterCommit(.delivered) { orders.remove(id); Task { try await journal.retire("order/\(id)") } }
  /// ```
  ///
  /// - Parameter name: If there is no entry with this name, nothing happens.
  /// - Throws: ``JournalError/inUse(entry:)`` if a reactor uses the entry still, or the task is cancelled before that is known;
  ///   ``JournalError/diskFull``: then the entry is there as before, and it may be tried again. ``JournalError/fenced`` if the
  ///   journal was closed, or the error that has ended it.
  public func retire(_ name: String) async throws(JournalError) { try await retire([name]) }

  /// Removes several entries with one commit: all of them, or none. Otherwise as ``retire(_:)-(String)``.
  public func retire(_ names: [String]) async throws(JournalError) {
    var begun: [JournalEntryRow] = []
    do throws(JournalError) {
      for name in Set(names) {
        guard let row = try await beginRetiring(name) else { continue }
        begun.append(row)
        try await awaitEnd(ofUsers: row)
      }
      if begun.isEmpty { return }
      try await commitRetirement(of: begun.map(\.number))
    } catch {
      members.withLock { members in for row in begun { members.cancelRetiring(row.number) } }
      throw error
    }
    let ended = members.withLock { members in begun.flatMap { members.removeAll(of: $0.number) } }
    // Outside of the lock: a member retains a state, and the journal.
    withExtendedLifetime(ended) {}
  }

  /// Lets no reactor start with the entry from now on. Waits while somebody else is retiring it.
  ///
  /// - Returns: Nil if there is no such entry, or not any more.
  private func beginRetiring(_ name: String) async throws(JournalError) -> JournalEntryRow? {
    while true {
      // Not by the calling thread, which would wait for a commit: there are few threads for tasks.
      guard let row = try await onCommitter({ log in log.row(named: name) }) else { return nil }
      if members.withLock({ $0.tryBeginRetiring(row.number) }) { return row }
      try await pause(before: row)
    }
  }

  /// Waits until the reactors that have started with an entry are gone.
  private func awaitEnd(ofUsers row: JournalEntryRow) async throws(JournalError) {
    let deadline = ContinuousClock.now + Self.patience
    // A reactor that is started at the same time finds that it must not, or this finds that reactor: see `JournalMember.bind`.
    while members.withLock({ $0.all(of: row.number) }).contains(where: \.mayRecord) {
      guard .now < deadline else { throw .inUse(entry: row.name) }
      try await pause(before: row)
    }
  }

  private func pause(before row: JournalEntryRow) async throws(JournalError) {
    do { try await Task.sleep(for: .milliseconds(1)) } catch { throw .inUse(entry: row.name) }
  }

  private func commitRetirement(of entries: [UInt32]) async throws(JournalError) {
    let failure = await withCheckedContinuation { continuation in
      enqueue(
        PendingRetirement(entries: entries) { [self] failure in
          // Another entry may get the number when the next process has removed the records.
          if failure == nil { log.withLock { _ in for entry in entries { mark?.forget(entry) } } }
          continuation.resume(returning: failure)
        })
    }
    if let failure { throw failure }
  }
}
