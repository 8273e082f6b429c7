import ReactorCore
import ReactorRuntime
import Synchronization

/// A reactor's part of the journal: records its turns, and keeps what they do at their end until it is durable.
///
/// ```
///   owner, in a turn              owner, at its end          committer                       follower
///   willReduce ─▶ writer ── endTurn ─▶ pending ── takeGroup ─▶ group ── commit ─▶ finish ─▶ apply, run the ends
/// ```
///
/// There is at most one pending group and one that is being committed. While the pending one is full, the reactor runs no
/// turns. That is the bound of its memory. The ends count, too: a reactor that only replies while the disk is slow has no records.
/// A loop that is shut down runs the turns all the same. Then there are several pending groups, and each is committed alone.
@usableFromInline
package final class JournalMember: RuntimeJournal, @unchecked Sendable {
  // Unchecked: only the owner of the reactor uses `writer`, `requests` and the counts. `user` is set once, before other threads find this
  // member, and `isOut` is under a lock.

  let journal: Journal
  let entry: JournalEntry
  let visibility: Visibility
  /// How the reactor shows its state to readers.
  let snapshots: SnapshotPolicy
  fileprivate let shared = SystemMutex(Shared())
  /// The position of the last commit that contained a record of this reactor. The committer stores it with release after the commit.
  /// Other threads load it with acquire, so they also see what the committer did before.
  let durablePosition = Atomic<UInt64>(0)

  @exclusivity(unchecked) @usableFromInline var writer = RecordRunWriter()
  /// How many records the owner has written.
  @exclusivity(unchecked) var recorded = 0
  @exclusivity(unchecked) private var recordedAtDigest = 0
  /// The identifiers of this turn's requests that are not written yet, and those of the last ones, which these are among.
  @exclusivity(unchecked) var newRequests: [UInt128] = []
  @exclusivity(unchecked) var requests = RequestWindow(limit: 0)
  /// Whether the pending group was full at the end of the last turn.
  @exclusivity(unchecked) private var wasFull = false
  let boundReference = AtomicReference<BoundReference>()
  /// The reactor, from its first use on.
  @exclusivity(unchecked) private weak var user: (any AnyObject & Sendable)?
  /// How many threads are reading the state for the start, or wait for that. Relaxed, as the next one: the lock of the members orders
  /// what depends on them.
  private let startingThreads = Atomic(0)
  /// Whether the state was read for the start.
  private let isRecovered = Atomic(false)
  /// Whether the journal knows it no more: its entry was retired, or its reactor was refused. Under the lock of the members.
  @exclusivity(unchecked) var isOut = false
  /// The member of the reactor that had the entry before, until it is known to be gone.
  let predecessor = SystemMutex<JournalMember?>(nil)
  private let recovery = SystemMutex(Recovery.none)
  /// Whether the reactor was started without its state, since the journal had ended. Relaxed: the owner sets it before the start is over.
  private let lacksState = Atomic(false)

  /// What was read before the start.
  private enum Recovery: Sendable {
    case none
    case recovered(any Sendable)
    /// So that not every send reads the log again.
    case failed(JournalError)
  }

  /// What the owner has handed over, and what becomes of it.
  fileprivate struct Shared: Sendable {
    var pending = PendingGroups()
    /// Whether the committer has a group that is not finished.
    var isCommitting = false
    /// Whether the committer knows that there is something pending.
    var isQueued = false
    /// Whether the reactor waits for room.
    var isSuspended = false
    var failure: JournalError?
  }

  init(
    _ journal: Journal, _ entry: JournalEntry, _ visibility: Visibility, _ snapshots: SnapshotPolicy
  ) {
    self.journal = journal
    self.entry = entry
    self.visibility = visibility
    self.snapshots = snapshots
  }

  deinit { boundReference.releaseObject() }

  /// What is known of the reactor; nil until it is started. Any thread.
  var bound: (any BoundReactor)? { boundReference.use { $0.bound } }

  // MARK: The start

  /// Recovers the state for the start, unless that was done before or the reactor has started. Any thread.
  ///
  /// - Parameter retries: Whether the log is read again if that has failed before.
  func ensureRecovered<R: DurableReactor>(
    _ reactor: R, retries: Bool, _ progress: ((RecoveryProgress) -> Void)?
  ) throws(JournalError) {
    if bound != nil { return }
    beginStarting(reactor)
    defer { endStarting() }
    try journal.awaitPredecessor(of: self)
    let result = recovery.withLock { recovery -> Result<Void, JournalError> in
      // Another thread may have started the reactor meanwhile: nobody would take the state then.
      if bound != nil { return .success(()) }
      switch recovery {
      case .recovered: return .success(())
      case .failed(let error) where !retries: return .failure(error)
      case .failed, .none: break
      }
      do throws(JournalError) {
        recovery = .recovered(try journal.recover(reactor, entry, progress))
        isRecovered.store(true, ordering: .relaxed)
        return .success(())
      } catch {
        // A retirement that is going on may fail.
        if error != .retired(entry: entry.name) { recovery = .failed(error) }
        return .failure(error)
      }
    }
    try result.get()
  }

  /// Keeps a state that was recovered together with others, for the start. Any thread.
  func keep<State>(_ recovered: RecoveredState<State>) {
    recovery.withLock { recovery in
      if bound != nil { return }
      if case .recovered = recovery { return }
      recovery = .recovered(recovered)
      isRecovered.store(true, ordering: .relaxed)
    }
  }

  /// Returns the state for the start. The thread that starts the reactor.
  private func recover<R: DurableReactor>(_ reactor: R) throws(JournalError) -> RecoveredState<R.State> {
    try ensureRecovered(reactor, retries: true, nil)
    guard case .recovered(let recovered as RecoveredState<R.State>) = recovery.withLock({ $0 }) else {
      fatalError("\(R.self) was started twice")
    }
    return recovered
  }

  @usableFromInline package func start(_ reactor: any AnyObject & Sendable) -> any Sendable {
    guard let reactor = reactor as? any DurableReactor else {
      fatalError("\(type(of: reactor)) has a journal and is no DurableReactor")
    }
    return bind(reactor)
  }

  private func bind<R: DurableReactor>(_ reactor: R) -> any Sendable {
    do throws(JournalError) {
      let recovered = try recover(reactor)
      requests = recovered.requests
      _ = boundReference.setIfNil(BoundReference(Binding(reactor, of: self, recovered)))
      // After that: a retirement looks for a reactor that may record after it has made this one find it. The runtime closes it before
      // its first turn.
      if !journal.admits(self) {
        shared.withLock { $0.failure = $0.failure ?? .retired(entry: entry.name) }
      }
      recovery.withLock { $0 = .none }
      // The journal is being closed, or was closed since the state was read. If it is closed from now on, it finds the reactor. The
      // runtime closes that before its first turn.
      if journal.work.withLock({ $0.isClosing || $0.hasStopped }) {
        shared.withLock { $0.failure = $0.failure ?? journal.failure ?? .fenced }
      }
      return recovered.state
    } catch {
      var error = error
      // While the journal is being closed, an earlier reactor that stays is no mistake of the program.
      if case .inUse = error, journal.work.withLock(\.isClosing) { error = .fenced }
      let isRetired = error == .retired(entry: entry.name)
      if error == .fenced || isRetired || journal.failure != nil {
        journal.members.withLock { $0.withdraw(self, isOut: true) }
        // The runtime closes the reactor before its first turn. A retired entry has no state but the first one.
        lacksState.store(!isRetired, ordering: .relaxed)
        shared.withLock { $0.failure = error }
        return reactor.initialState
      }
      if case .inUse = error { fatalError(Journal.useTwice(entry)) }
      fatalError(
        """
        Problem: \(R.self) cannot be started, since its journal cannot be read: \(error).
        Likely cause: recover() was not called, which throws that error.
        Remedy: try reactor.recover() before the first use.
        """)
    }
  }

  @usableFromInline package var hasEnded: Bool { shared.withLock { $0.failure != nil } }

  @usableFromInline package var hasState: Bool { !lacksState.load(ordering: .relaxed) }

  @usableFromInline package var shownRuntime: AnyObject? {
    if visibility == .durable, let runtime = bound?.followerRuntime { return runtime }
    checkHasState()
    return nil
  }

  @usableFromInline package func completeStates() { if visibility == .durable { bound?.completeStates() } }

  /// Stops the program if the state could not be read at the start. Any thread, after the start.
  func checkHasState() {
    if hasState { return }
    let error = shared.withLock { $0.failure } ?? .fenced
    fatalError(
      """
      Problem: The reactor "\(entry.name)" has no state, since its journal had ended before its first use: \(error).
      Likely cause: the journal was closed or has failed, and the program goes on.
      Remedy: try reactor.recover() before the first use, which throws that error.
      """)
  }

  // MARK: A turn. The owner.

  /// Begins the turn's run of records, unless that was done before.
  @inlinable
  @inline(__always)
  package func beginRun(version: @autoclosure () -> UInt16) {
    if writer.byteCount == 0 { writer.begin(entry: entryNumber, kind: .mutations, version: version()) }
  }

  @usableFromInline var entryNumber: UInt32 { entry.number }

  @usableFromInline var entryName: String { entry.name }

  /// How many records the turn has written.
  @usableFromInline var recordedInTurn: Int { writer.byteCount == 0 ? 0 : Int(writer.unfinishedCount) }

  // Otherwise a thousand large records in one turn are more than a row can hold.
  @usableFromInline package var mustEndTurn: Bool {
    writer.byteCount >= journal.configuration.groupBytes
  }

  @usableFromInline package func endTurn(_ ends: TurnEnds) {
    if writer.byteCount > journal.configuration.turnBytes { failForLargeTurn() }
    let count = recordedInTurn
    if count > 0 { endRun(of: count) }
    let (refused, mustQueue) = shared.withLock { shared -> ((ends: HeldEnds, reason: JournalError)?, Bool) in
      if let failure = shared.failure { return (takeEnds(ends).map { ($0, failure) }, false) }
      let mustHold = count > 0 || shared.mustHold
      if mustHold {
        shared.pending.append(limit: journal.configuration.groupBytes) { group in
          if count > 0 { group.append(&writer, count) }
          // Together with the records, so that they share their fate.
          if let held = takeEnds(ends) { group.append(held) }
          // It is kept until its records are applied.
          if group.reactor == nil, !group.isEmpty { group.reactor = bound?.reactor }
        }
      }
      wasFull = isFull(shared)
      return (nil, shared.tryQueue())
    }
    if count > 0 { writer.clear() }
    if let (ends, reason) = refused { ends.refuseElsewhere(.notWritten(reason)) }
    if mustQueue { journal.enqueue(self) }
  }

  /// Ends the journal, since no store could take what the turn has recorded. Nothing of it is written.
  private func failForLargeTurn() {
    let error = JournalError.failed(
      code: SQLiteError.tooBig,
      message: "A turn of the reactor \"\(entry.name)\" has recorded \(writer.byteCount) bytes.")
    writer.clear()
    newRequests.removeAll()
    shared.withLock { $0.failure = $0.failure ?? error }
    journal.fail(error)
  }

  private func takeEnds(_ ends: TurnEnds) -> HeldEnds? {
    if !ends.isRequested { return nil }
    let taken = visibility == .durable ? ends.takeUnsettled() : ends.takeThoseThatWait()
    return taken.isEmpty ? nil : HeldEnds(taken)
  }

  /// Ends the run of a turn, and writes what belongs to it.
  private func endRun(of count: Int) {
    writer.end()
    recorded += count
    if !newRequests.isEmpty { writeRequests() }
    if recorded - recordedAtDigest >= journal.configuration.digestRecords { writeDigest() }
  }

  /// Writes which requests the turn has processed.
  private func writeRequests() {
    writer.begin(entry: entry.number, kind: .identifiers, version: 0)
    for id in newRequests { writer.append { $0.append(id) } }
    writer.end()
    newRequests.removeAll(keepingCapacity: true)
  }

  /// Writes the digest of the state after the turn, if the reactor has one.
  private func writeDigest() {
    recordedAtDigest = recorded
    guard let (digest, version) = bound?.digestOfOwner() else { return }
    writer.begin(entry: entry.number, kind: .digests, version: version)
    writer.append { $0.append(digest) }
    writer.end()
  }

  // MARK: Room

  @usableFromInline package var isFull: Bool {
    if !wasFull { return false }
    wasFull = shared.withLock { isFull($0) }
    return wasFull
  }

  @usableFromInline package func resumeWhenThereIsRoom() {
    let reactor = bound?.reactor
    let mustResume = shared.withLock { shared in
      shared.isSuspended = isFull(shared)
      return !shared.isSuspended
    }
    if mustResume, let reactor { bound?.resume(reactor) }
  }

  @usableFromInline package func tryTakeBack() -> Bool {
    shared.withLock { shared in
      defer { shared.isSuspended = false }
      return shared.isSuspended
    }
  }

  private func isFull(_ shared: Shared) -> Bool {
    shared.failure == nil && shared.pending.memory >= journal.configuration.bufferBytes
  }

  // MARK: The committer

  /// Takes the first group that is pending, and lets the reactor run turns again. The committer.
  ///
  /// - Returns: Nil if there is nothing, or if the last group is not finished.
  func takeGroup() -> PendingGroup? {
    let (group, mustResume) = shared.withLock { shared -> (PendingGroup?, Bool) in
      shared.isQueued = false
      if shared.isCommitting || shared.pending.isEmpty { return (nil, false) }
      shared.isCommitting = true
      let group = shared.pending.takeFirst()
      let mustResume = shared.isSuspended && !isFull(shared)
      if mustResume { shared.isSuspended = false }
      return (group, mustResume)
    }
    if mustResume, let reactor = bound?.reactor { bound?.resume(reactor) }
    return group
  }

  /// Allows the next group. Any thread, when the effects of a group are seen.
  func finishGroup() {
    let mustQueue = shared.withLock { shared in
      shared.isCommitting = false
      return shared.tryQueue()
    }
    if mustQueue { journal.enqueue(self) }
  }

  /// Notes that the calling thread or task starts the reactor: from now on others of the entry wait for it. Any thread.
  func beginStarting(_ reactor: any AnyObject & Sendable) {
    Self.beginStarting([(self, reactor)], of: journal)
  }

  /// The same for several.
  static func beginStarting(
    _ members: [(member: JournalMember, reactor: any AnyObject & Sendable)], of journal: Journal
  ) {
    for (member, _) in members { member.startingThreads.wrappingAdd(1, ordering: .relaxed) }
    journal.addMembers(members)
  }

  /// Ends what ``beginStarting(_:)`` has begun. If no thread has read the state, others need not wait for this. Any thread.
  func endStarting() {
    // Under the lock, as the addition of a member: another thread that begins is counted, or adds this again.
    journal.members.withLock { members in
      let isLast = startingThreads.wrappingSubtract(1, ordering: .relaxed).newValue == 0
      if isLast, bound == nil, !isRecovered.load(ordering: .relaxed) { members.withdraw(self, isOut: false) }
    }
  }

  /// Notes the first use of the reactor, before other threads find this member.
  func noteUse(by reactor: any AnyObject & Sendable) { if user == nil { user = reactor } }

  /// Whether the reactor, which was used, does not exist any more. Any thread that has found this member in the journal.
  var isGone: Bool { bound.map { $0.reactor == nil } ?? (user == nil) }

  /// Whether some thread starts the reactor. Any thread.
  var isStarting: Bool { bound == nil && startingThreads.load(ordering: .relaxed) > 0 }

  /// The member before which none waits: this one, or one that this waits for. Any thread.
  var firstInLine: JournalMember {
    var first = self
    while let earlier = first.predecessor.withLock({ $0 }) { first = earlier }
    return first
  }

  /// Whether records of the reactor may come, or are not applied: it was started, and not refused; it is not gone, or not with all that
  /// it has handed over. Any thread.
  var mayRecord: Bool {
    guard let bound else { return false }
    return !isIdle || !hasEnded && bound.reactor != nil
  }

  /// Whether nothing is pending, or being committed or applied. Any thread.
  var isIdle: Bool { shared.withLock { !$0.isCommitting && $0.pending.isEmpty } }

  /// Whether everything that was committed is applied. The owner of the follower.
  var isApplied: Bool { shared.withLock { !$0.isCommitting } }

  /// Refuses everything that is pending, and what comes later, and closes the reactor. The committer, or after its end any thread
  /// that is inside of no turn.
  func fence(_ failure: JournalError) {
    let pending = shared.withLock { shared in
      shared.failure = failure
      defer { shared.pending = PendingGroups() }
      return shared.pending
    }
    pending.refuseEnds(.notWritten(failure))
    guard let bound, let reactor = bound.reactor else { return }
    bound.close(reactor, .discard)
    // Only now: a loop that is shut down waits for a reactor that is about to come back.
    if tryTakeBack() { bound.resume(reactor) }
  }
}

extension JournalMember.Shared {
  /// Whether what a turn does at its end must wait, since something before it is not durable.
  fileprivate var mustHold: Bool { failure != nil || isCommitting || !pending.isEmpty }

  /// Whether the caller must tell the committer of what is pending.
  fileprivate mutating func tryQueue() -> Bool {
    if isQueued || isCommitting || pending.isEmpty { return false }
    isQueued = true
    return true
  }
}
