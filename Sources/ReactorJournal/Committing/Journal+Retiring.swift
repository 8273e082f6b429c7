import ReactorCore
import ReactorRuntime

extension Journal {
  /// Removes an entry whose reactor is not needed any more, such as the one of an order that is delivered: its name, and its states. Its
  /// records do not keep those of others any more: ``compact()`` removes them together.
  ///
  /// Durable when it returns: with the same commit as the records that are pending then. After a crash before that, the entry is there as
  /// it was. A reactor that gets the same name later begins with its `initialState`, and knows no `id` of an earlier one.
  ///
  /// Release the reactor first: this waits until it is gone and everything that it has recorded is applied, up to five seconds without the
  /// time that commits take. Meanwhile no reactor starts with the entry: one that is used first then is closed before its first turn, has its
  /// `initialState`, and its ``DurableReactor/recover(progress:)`` throws ``JournalError/retired(entry:)``. The same happens later to a
  /// reactor that was made with a ``JournalEntry`` from before the retirement. Any task, also one that an effect of
  /// `afterCommit` has begun.
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

  /// Removes several entries with one commit: all of them, or none. Otherwise as ``retire(_:)-(String)``. Other commits wait for that, so
  /// do not give it very many: a thousand take some milliseconds.
  public func retire(_ names: [String]) async throws(JournalError) {
    // Not by the calling thread, which would wait for a commit: there are few threads for tasks.
    let rows = try await onCommitter { log in Set(names).compactMap { log.row(named: $0) } }
    guard let first = rows.first else { return }
    let numbers = Set(rows.map(\.number))
    // All at once: otherwise two of these could wait for each other. What somebody else is retiring is not there any more afterwards.
    while !members.withLock({ $0.tryBeginRetiring(numbers) }) { try await pause(1, before: first.name) }
    do throws(JournalError) {
      try await awaitEnd(ofUsers: numbers)
      try await commitRetirement(of: Array(numbers))
    } catch {
      members.withLock { $0.cancelRetiring(numbers) }
      throw error
    }
    let ended = members.withLock { $0.removeAll(of: numbers) }
    // Outside of the lock: a member retains a state, and the journal.
    withExtendedLifetime(ended) {}
  }

  /// Waits until the reactors that have started with some entries are gone.
  private func awaitEnd(ofUsers numbers: Set<UInt32>) async throws(JournalError) {
    // A reactor that is started at the same time finds that it must not, or this finds that reactor: see `JournalMember.bind`.
    var users = members.withLock { $0.all(of: numbers) }
    var patience = Patience()
    while true {
      users.removeAll { !$0.mayRecord }
      guard let user = users.first else { return }
      guard !patience.isOver(waitsForDisk: !users.allSatisfy(\.isIdle)) else {
        throw .inUse(entry: user.entry.name)
      }
      try await pause(patience.nextPause(), before: user.entry.name)
    }
  }

  private func pause(_ milliseconds: Int, before name: String) async throws(JournalError) {
    do { try await Task.sleep(for: .milliseconds(milliseconds)) } catch { throw .inUse(entry: name) }
  }

  private func commitRetirement(of entries: [UInt32]) async throws(JournalError) {
    let failure = await withCheckedContinuation { continuation in
      enqueue(PendingRetirement(entries: entries) { continuation.resume(returning: $0) })
    }
    if let failure { throw failure }
  }
}
