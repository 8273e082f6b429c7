import Dispatch
import ReactorCore
import ReactorRuntime
import Synchronization

/// Giving the committer something to do. Any thread.
extension Journal {
  /// Commits what a member has pending with the next commit; refuses it if the committer has ended.
  func enqueue(_ member: JournalMember) {
    if tryAddWork({ $0.members.append(member) }) { return }
    // Elsewhere: the calling thread owns the reactor, or its follower, and may be inside of a turn.
    DispatchQueue.global().async { [self] in member.fence(failure ?? .fenced) }
  }

  /// Writes a snapshot with one of the next commits; drops it if the committer has ended.
  func enqueue(_ snapshot: PendingSnapshot) {
    if !tryAddWork({ $0.extras.snapshots.append(snapshot) }) { snapshot.finish(failure ?? .fenced) }
  }

  /// Removes entries with the next commit; does not if the committer has ended.
  func enqueue(_ retirement: PendingRetirement) {
    if !tryAddWork({ $0.extras.retirements.append(retirement) }) { retirement.finish(failure ?? .fenced) }
  }

  /// Calls `add` unless the committer has ended; returns whether it did.
  private func tryAddWork(_ add: (inout Work) -> Void) -> Bool {
    let isAdded = work.withLock { work in
      if work.hasStopped { return false }
      add(&work)
      return true
    }
    if isAdded { wakeForWork() }
    return isAdded
  }

  func addWork(_ add: (inout Work) -> Void) {
    work.withLock { add(&$0) }
    wakeForWork()
  }

  private func wakeForWork() {
    // Release: pairs with the exchange of the committer, though the lock carries the work itself. The wake-up comes after it.
    hasWork.store(true, ordering: .sequentiallyConsistent)
    wake.notify()
  }

  /// Runs a job on the committer; on the calling thread if that has ended.
  func addJob(_ job: @escaping @Sendable () -> Void) {
    if !tryAddWork({ $0.jobs.append(job) }) { job() }
  }

  /// Ends the journal because of an error outside of a commit. No commit begins afterwards; one that has begun may still succeed. The
  /// committer tells the members later. Any thread; one that has used the store must still have the log, so that a
  /// commit of another thread finds the reason.
  func fail(_ error: JournalError) {
    failureStore.withLock { _ = $0.note(error) }
    addWork { $0.jobs.append { [self] in fence(error, tried: []) } }
  }

  /// Ends the journal because a group was written and cannot be applied. Any thread.
  func fail(_ error: JournalError, applying group: CommittedGroup, of member: JournalMember) {
    fail(error)
    addWork {
      $0.jobs.append {
        // After the members were told, as in `fence`.
        for ends in group.ends { ends.refuse(.unknownOutcome(error)) }
        member.finishGroup()
      }
    }
  }
}

/// Working with the log between two commits.
extension Journal {
  /// Runs `body` on the committer, between two commits; or, when that has ended, on any thread.
  func onCommitter<Result: Sendable>(
    _ body: @escaping @Sendable (inout Log) throws(JournalError) -> Result
  ) async throws(JournalError) -> Result {
    let result = await withCheckedContinuation { continuation in
      addJob { [self] in continuation.resume(returning: perform(body)) }
    }
    return try result.get()
  }

  private func perform<Success: Sendable>(
    _ body: (inout Log) throws(JournalError) -> Success
  ) -> Result<Success, JournalError> {
    if let failure { return .failure(failure) }
    return log.withLock { log in
      let result = Result { () throws(JournalError) in
        if !log.isOpen { throw .fenced }
        return try body(&log)
      }
      switch result {
      case .failure(.diskFull), .success: break
      case .failure(.fenced):
        guard let reason = store.failure else { break }
        fail(reason)
        return .failure(reason)
      case .failure(let error): fail(error)
      }
      return result
    }
  }
}

/// The committer.
extension Journal {
  func runCommitter() {
    // What runs here must not wait for room: it is the committer that makes room.
    let outer = TurnMark.enter()
    defer { TurnMark.leave(outer) }
    committer.store(CurrentCore.threadToken, ordering: .relaxed)
    var comesSoon = true
    while true {
      awaitWork(comesSoon: &comesSoon)
      hasWork.store(false, ordering: .sequentiallyConsistent)
      var (taken, snapshots) = work.withLock { work in
        let snapshots = work.extras.takeSnapshots(byteCount: configuration.batchBytes)
        defer { (work.members, work.extras.retirements, work.jobs) = ([], [], []) }
        return (work, snapshots)
      }
      for job in taken.jobs { job() }
      var extras = Extras(retirements: taken.extras.retirements)
      repeat {
        commitNext(&taken.members, extras)
        extras = Extras()
      } while !taken.members.isEmpty
      // Behind the records, whose confirmation must not wait until states are written; and not all at once, for the sake of the next ones.
      if !snapshots.isEmpty { commitNext(&taken.members, Extras(snapshots: snapshots)) }
      if !taken.extras.snapshots.isEmpty { hasWork.store(true, ordering: .sequentiallyConsistent) }
      if !taken.mustStop || hasWork.load(ordering: .sequentiallyConsistent) { continue }
      let hasStates = failure == nil && self.snapshots.withLock { $0.isRunning }
      if !hasStates, currentMembers.allSatisfy(\.isIdle) { break }
      // A state is being encoded or checked, which may take seconds; or a group is being applied on another thread, or waits there
      // for that.
      _ = wake.wait(timeoutNanoseconds: 1_000_000) { hasWork.load(ordering: .sequentiallyConsistent) }
      hasWork.store(true, ordering: .sequentiallyConsistent)
    }
    close()
  }

  /// Sleeps until there is work; but not at once if the last work came soon. A sender that was waiting for a commit sends again
  /// when it has been woken, and to wake the committer takes as long once more.
  private func awaitWork(comesSoon: inout Bool) {
    let beginning = MonotonicTime.now
    let limit = comesSoon ? Self.soon : Self.soon / 8
    while !hasWork.load(ordering: .relaxed), MonotonicTime.now - beginning < limit {
      CurrentCore.pause(times: 16)
    }
    _ = wake.wait { hasWork.load(ordering: .sequentiallyConsistent) }
    comesSoon = MonotonicTime.now - beginning < Self.soon
  }

  /// 200 µs: what it takes to wake a thread, a few times over.
  private static var soon: Int64 { 200_000 }

  /// Commits the groups of as many members as a commit has room for, and finishes them.
  private func commitNext(_ members: inout [JournalMember], _ extras: Extras) {
    var reasonOfDrop: JournalError?
    defer { extras.finish(reasonOfDrop) }
    var groups: [(member: JournalMember, group: PendingGroup)] = []
    var (size, taken) = (0, 0)
    for member in members {
      if taken > 0, size >= configuration.batchBytes { break }
      taken += 1
      guard let group = member.takeGroup() else { continue }
      size += group.byteCount
      groups.append((member, group))
    }
    members.removeFirst(taken)
    if groups.isEmpty, extras.isEmpty { return }
    if let failure {
      reasonOfDrop = failure
      return fence(.fenced, tried: groups)
    }
    do {
      var position = try commit(groups, extras, &reasonOfDrop)
      for (member, group) in groups {
        let committed = CommittedGroup(
          bytes: group.bytes, count: group.count, first: position, ends: group.ends, reactor: group.reactor)
        position += UInt64(group.count)
        if group.count > 0 { member.durablePosition.store(position - 1, ordering: .releasing) }
        member.bound?.finish(committed)
      }
    } catch {
      reasonOfDrop = error
      fence(error, tried: groups)
    }
  }

  /// Writes one batch, and repeats it while the disk is full.
  ///
  /// - Parameter reasonOfDrop: Becomes the reason why the extras were left out, if they were.
  /// - Returns: The position of the first record.
  private func commit(
    _ groups: [(member: JournalMember, group: PendingGroup)], _ extras: Extras,
    _ reasonOfDrop: inout JournalError?
  ) throws(JournalError) -> UInt64 {
    var bytes = groups.first?.group.bytes ?? []
    for (_, group) in groups.dropFirst() { bytes.append(contentsOf: group.bytes) }
    let counts = groups.map { (entry: $0.member.entry.number, count: $0.group.count) }
    var extras = extras
    // From the first time that there is no room for the records: the wait for the log, or a large snapshot, may take longer.
    var deadline: ContinuousClock.Instant?
    while true {
      do {
        return try log.withLock { log in
          let result = Result { () throws(JournalError) in
            try log.append(bytes, counts, extras, to: store)
          }
          // The store refuses it because of an earlier error, of which the journal may not have been told.
          if case .failure(.fenced) = result, let reason = store.failure {
            failureStore.withLock { _ = $0.note(reason) }
          }
          return result
        }.get()
      } catch .diskFull where !extras.isEmpty {
        // They can wait; the records cannot.
        reasonOfDrop = .diskFull
        extras = Extras()
      } catch .diskFull {
        let now = ContinuousClock.now
        let end = deadline ?? now + configuration.diskFullLimit
        if now >= end { throw .diskFull }
        deadline = end
        _ = wake.wait(timeoutNanoseconds: 20_000_000) { false }
      }
    }
  }

  private func refuse(_ groups: [(member: JournalMember, group: PendingGroup)], _ error: DurabilityError) {
    for (member, group) in groups {
      for ends in group.ends { ends.refuse(error) }
      member.finishGroup()
    }
  }

  /// Ends the journal for good. The committer.
  ///
  /// - Parameter tried: The groups that the failed commit contained.
  private func fence(_ error: JournalError, tried: [(member: JournalMember, group: PendingGroup)]) {
    let (first, isAnnounced) = failureStore.withLock { failure in
      defer { failure.isAnnounced = true }
      return (failure.note(error), failure.isAnnounced)
    }
    // Before the groups are refused, which allows their members to reply again: no reply may leave that tells of what is lost.
    if !isAnnounced { for member in currentMembers { member.fence(first) } }
    // A store that refuses everything after an error does not say which.
    let reason = error == .fenced ? first : error
    refuse(tried, error.isOutcomeKnown ? .notWritten(reason) : .unknownOutcome(reason))
    if !isAnnounced { configuration.onFailure(first) }
  }
}

/// The end.
extension Journal: Closeable {
  /// Closes the reactors of the journal; they process what they have accepted. One that is used for the first time from now on is closed
  /// before it does anything, and what is sent to it is refused. Any thread.
  public func beginClosing() {
    // First: of a reactor that is just being bound, the thread that does so finds this, or this one finds the reactor.
    work.withLock { $0.isClosing = true }
    for member in currentMembers {
      if let bound = member.bound, let reactor = bound.reactor { bound.close(reactor, .drain) }
    }
  }

  /// Waits until the reactors have ended, everything is durable, and the states that are being encoded are written, and closes the
  /// store. Any thread, but not one of the journal's or of its reactors' turns.
  public func finishClosing(before deadline: ContinuousClock.Instant) -> [Unfinished] {
    var unfinished: [Unfinished] = []
    for member in currentMembers { unfinished += member.bound?.finishClosing(before: deadline) ?? [] }
    if !unfinished.isEmpty { return unfinished }
    addWork { $0.mustStop = true }
    while !work.withLock({ $0.hasEnded }) {
      if .now >= deadline {
        return [Unfinished(name: "journal", loop: nil, occupation: .waiting(actions: 0))]
      }
      _ = wake.wait(timeoutNanoseconds: 1_000_000) { work.withLock { $0.hasEnded } }
    }
    return []
  }

  private func close() {
    log.withLock { log in
      log.isOpen = false
      store.close()
    }
    let late = work.withLock { work in
      work.hasStopped = true
      defer { (work.members, work.extras, work.jobs) = ([], Extras(), []) }
      return work
    }
    refuseLate(late.members)
    // They find the journal closed.
    late.extras.finish(failure ?? .fenced)
    for job in late.jobs { job() }
    dropWaitingSnapshots()
    removeMembers()
    // Last: a thread that waits for the end must not return while this one still runs code of the program.
    work.withLock { $0.hasEnded = true }
    wake.notify()
  }

  /// Refuses what was handed over when the journal no longer waited for it, and closes the reactors. What comes later is refused by
  /// ``enqueue(_:)``.
  private func refuseLate(_ late: [JournalMember]) {
    let reason = failure ?? .fenced
    for member in late { member.fence(reason) }
    for member in currentMembers where member.bound != nil { member.fence(reason) }
  }

  /// Their reactors have ended. A member retains the journal; this destroys them outside of the lock.
  private func removeMembers() {
    let ended = members.withLock { members in
      defer { members.removeAll() }
      return members
    }
    withExtendedLifetime(ended) {}
  }
}
