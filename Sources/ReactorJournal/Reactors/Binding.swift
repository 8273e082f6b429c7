import ReactorCore
import ReactorRuntime
import Synchronization

/// What a ``JournalMember`` knows of its reactor, without its type. Any thread, unless it says otherwise.
package protocol BoundReactor: AnyObject, Sendable {
  /// The reactor; nil if it is gone.
  var reactor: (any AnyObject & Sendable)? { get }
  /// The runtime of the ``Follower``, if there is one.
  var followerRuntime: AnyObject? { get }
  /// The digest of the latest state, and the version of the schema. The owner.
  func digestOfOwner() -> (digest: UInt64, version: UInt16)?
  /// Continues the reactor's turns.
  func resume(_ reactor: any AnyObject & Sendable)
  func close(_ reactor: any AnyObject & Sendable, _ closing: Closing)
  /// Waits for the end of the reactor.
  func finishClosing(before deadline: ContinuousClock.Instant) -> [Unfinished]
  /// Shows what a group has changed, then runs its ends, then allows the next group. The committer.
  func finish(_ group: CommittedGroup)
  /// Completes the observers of the follower's states.
  func completeStates()
  /// Makes a snapshot even if none is due, unless one is being made or waits for others.
  func requestSnapshot()
  /// Begins with the snapshot that was requested, on a thread of its own. Only the journal, which bounds how many there are: it must be
  /// told of the end by `Journal.endSnapshot()`.
  ///
  /// - Returns: False if the follower is busy.
  func tryBeginSnapshot() -> Bool
  /// Gives up a snapshot that was requested and did not begin. Only the journal.
  func dropSnapshot()
  /// How many snapshots were written or dropped.
  var snapshotCount: Int { get }
  /// Why the last snapshot was left out; nil if it was not.
  var snapshotFailure: JournalError? { get }
}

/// An object of a known class, as an atomic reference needs it.
final class BoundReference: Sendable {
  let bound: any BoundReactor

  init(_ bound: any BoundReactor) { self.bound = bound }
}

/// A group whose records are durable.
package struct CommittedGroup: Sendable {
  let bytes: [UInt8]
  let count: Int
  /// The position of the first record.
  let first: UInt64
  let ends: [HeldEnds]
  /// Alive until the records are applied.
  let reactor: (any AnyObject & Sendable)?

  func runEnds() { for ends in ends { ends.run() } }
}

/// A started reactor of a journal, and its ``Follower``.
final class Binding<R: DurableReactor>: BoundReactor, @unchecked Sendable {
  // Unchecked: only the owner of the follower uses the variables. The reactor is weak, since its runtime retains this.

  private weak let weakReactor: R?
  private unowned let member: JournalMember
  private let journal: Journal
  private let entry: JournalEntry
  private let follower: Follower<R>?
  private let replayer: RecordReplayer<R.State>
  private let isSnapshotDue = Atomic(false)
  /// Whether a snapshot waits for others, is being made, or waits for the committer: there is at most one in memory.
  /// Relaxed, as the flag above: what the snapshot contains is ordered by the ownership of the follower.
  private let isMakingSnapshot = Atomic(false)
  private let finishedSnapshots = Atomic(0)
  /// The size of the last snapshot. Relaxed: it decides when the next one is due.
  private let snapshotBytes: Atomic<Int>
  private let lastSnapshotFailure = SystemMutex<JournalError?>(nil)

  /// Up to where the follower's state contains the records.
  @exclusivity(unchecked) private var position: UInt64
  @exclusivity(unchecked) private var requests: RequestWindow
  @exclusivity(unchecked) private var growth: Growth

  init(_ reactor: R, of member: JournalMember, _ recovered: RecoveredState<R.State>) {
    weakReactor = reactor
    self.member = member
    (journal, entry) = (member.journal, member.entry)
    replayer = reactor.makeReplayer()
    position = recovered.position
    requests = recovered.requests
    growth = recovered.growth
    snapshotBytes = Atomic(recovered.growth.snapshotBytes)
    if member.visibility == .durable || journal.configuration.snapshotRecords != nil {
      follower = Follower(of: reactor, recovered.state, member.snapshots)
    } else {
      follower = nil
    }
    guard let follower else { return }
    follower.runtime.preparePipeline(of: follower)
    follower.noteStarted()
  }

  var reactor: (any AnyObject & Sendable)? { weakReactor }

  var followerRuntime: AnyObject? { follower?.runtime }

  func digestOfOwner() -> (digest: UInt64, version: UInt16)? {
    weakReactor.flatMap { reactor in reactor.runtime.readLatest(of: reactor, R.digest) }
      .map { ($0, R.schema.version) }
  }

  func resume(_ reactor: any AnyObject & Sendable) {
    withExtendedLifetime(reactor) { replayer.resume() }
  }

  func close(_ reactor: any AnyObject & Sendable, _ closing: Closing) {
    guard let reactor = reactor as? R else { return }
    reactor.close(closing)
  }

  func finishClosing(before deadline: ContinuousClock.Instant) -> [Unfinished] {
    weakReactor.map { $0.closer().finishClosing(before: deadline) } ?? []
  }

  // MARK: Following

  func finish(_ group: CommittedGroup) {
    // The reactor is gone if it had nothing to apply.
    guard let follower, group.reactor != nil else {
      group.runEnds()
      return member.finishGroup()
    }
    let member = member
    let step = { @Sendable [self] in
      if let error = apply(group, to: follower) {
        return member.journal.fail(error, applying: group, of: member)
      }
      // After the end of this turn, when its state can be read. The turn around it may be one of another durable reactor: it must not
      // hold them back, or refuse them, for the sake of its own records. In this order: no reply to a later turn overtakes them.
      // It does not keep the reactor, which that turn may drop, and then wait for its end.
      SettledTurnEnd { [ends = group.ends] in
        for ends in ends { ends.runInPlace() }
        member.finishGroup()
      }.runAfterTurn()
    }
    enqueue(step, to: follower)
    if isSnapshotDue.load(ordering: .relaxed) { requestSnapshot() }
  }

  func completeStates() {
    guard let follower else { return }
    enqueue({ follower.runtime.completeStatesInStep() }, to: follower)
  }

  /// Lets the follower run a step, behind those that it was given before.
  private func enqueue(_ step: @escaping @Sendable () -> Void, to follower: Follower<R>) {
    while follower.runtime.enqueueStep(of: follower, step, orDiscard: { _ in step() }) != nil {
      DedicatedThread.yield()
    }
  }

  /// Applies the records. The owner of the follower, in a step.
  ///
  /// - Returns: Why what was written cannot be applied; nil if it was.
  private func apply(_ group: CommittedGroup, to follower: Follower<R>) -> JournalError? {
    if group.count == 0 { return nil }
    let runtime = follower.runtime
    do {
      let count = try RecordReplayer<R.State>.apply(
        group.bytes.span.bytes, first: group.first, of: entry, version: R.schema.version,
        requests: &requests, digest: { runtime.readLatest(of: follower, R.digest) },
        { run throws(JournalError) in
          if runtime.hasStateObservers { return try notify(run, follower) }
          var failure: JournalError?
          runtime.changeInStep { state in
            do throws(JournalError) { try replayer.body(run, nil, &state) } catch { failure = error }
          }
          if let failure { throw failure }
        })
      position = group.first + UInt64(count) - 1
      growth.records += count
      growth.bytes += group.bytes.count
      growth.snapshotBytes = snapshotBytes.load(ordering: .relaxed)
      if growth.needsSnapshot(journal.configuration) { isSnapshotDue.store(true, ordering: .relaxed) }
      return nil
    } catch {
      return error
    }
  }

  /// Applies the records one by one, and notifies the observers of `state` of each state.
  private func notify(_ run: borrowing RecordRun, _ follower: Follower<R>) throws(JournalError) {
    var run = copy run
    var position = run.first
    do throws(MalformedRecord) {
      while let record = try run.next() {
        let mutation = try R.schema.decode(R.Mutation.self, record, run.version)
        follower.runtime.reduceInStep(mutation, of: follower)
        position += 1
      }
    } catch {
      throw .malformed(position: position, reason: error.reason)
    }
  }

  // MARK: Snapshots

  // Acquire: what `finishSnapshot` wrote before it.
  var snapshotCount: Int { finishedSnapshots.load(ordering: .acquiring) }

  var snapshotFailure: JournalError? { lastSnapshotFailure.withLock { $0 } }

  /// Called by the thread that made the snapshot, or by the committer.
  private func finishSnapshot(_ failure: JournalError? = nil) {
    lastSnapshotFailure.withLock { $0 = failure }
    // Release: pairs with the load in `snapshotCount`.
    finishedSnapshots.add(1, ordering: .releasing)
    isMakingSnapshot.store(false, ordering: .relaxed)
    journal.endSnapshot()
  }

  func requestSnapshot() {
    guard follower != nil, !isMakingSnapshot.exchange(true, ordering: .relaxed) else { return }
    journal.queueSnapshot(of: member)
  }

  func dropSnapshot() { isMakingSnapshot.store(false, ordering: .relaxed) }

  /// Writes the follower's state, on a thread of its own. The follower waits while the state is copied: collections share their storage,
  /// so that takes no time, and its next change copies what it changes. Encoding takes at least ten times as long as that. If the
  /// follower is busy, a later group tries again.
  func tryBeginSnapshot() -> Bool {
    guard let follower else { return false }
    // Retained: when the reactor is gone, another one with the same entry replaces its member.
    let member = member
    return follower.runtime.tryRunAlone(follower, named: "reactor-state") { [self] in
      isSnapshotDue.store(false, ordering: .relaxed)
      // Not only of this reactor's last record: otherwise a reactor without new ones would keep all records of others. In this
      // order: what is committed later has a later position. While the reactor exists, no other one writes to its entry; nor
      // after that, as long as no other one has got the entry.
      let (end, stored) = journal.log.withLock { ($0.end.position, $0.stored[entry.number]?.last) }
      if weakReactor != nil || journal.isLastUser(member), member.isApplied { position = max(position, end) }
      // The store keeps two snapshots: a second one of the same state would take the place of an older one, for nothing.
      if stored == position {
        finishSnapshot()
        return nil
      }
      // Also if there will be no snapshot: the next one is not due before there are as many records again.
      (growth.records, growth.bytes) = (0, 0)
      let copied = CopiedState(
        state: follower.runtime.readLatest(of: follower) { copy $0 }, position: position, requests: requests)
      return { self.encodeAndCheck(copied) }
    }
  }

  /// What a snapshot is made of.
  private struct CopiedState: Sendable {
    let state: R.State
    let position: UInt64
    let requests: RequestWindow
  }

  /// Leaves a snapshot to the committer if it can be decoded: it takes the place of an older one, and `compact()` removes the records
  /// that it contains. The thread made for that; the follower goes on meanwhile.
  private func encodeAndCheck(_ copied: consuming CopiedState) {
    do throws(JournalError) {
      let (snapshot, digest) = try encode(consume copied)
      let decoded: R.State
      do throws(MalformedRecord) {
        decoded = try R.decode(snapshot, requestLimit: journal.configuration.requestWindow).state
      } catch {
        let reason = error.reason.map { ": \($0)" } ?? ""
        throw .snapshotNotEncoded(entry: entry.name, message: "what was encoded cannot be decoded\(reason)")
      }
      if let digest, R.digest(of: decoded) != digest {
        throw .snapshotNotEncoded(
          entry: entry.name, message: "what was encoded gives another state: its digest differs")
      }
      journal.enqueue(
        PendingSnapshot(snapshot: snapshot) { [self] failure in
          finishSnapshot(failure)
          // Any other error has ended the journal: `onFailure` gets that.
          if failure == .diskFull { journal.configuration.onWarning(.diskFull) }
        })
    } catch {
      finishSnapshot(error)
      journal.configuration.onWarning(error)
    }
  }

  /// Encodes a state, and computes its digest. The copy is gone when it returns: then the state is decoded.
  private func encode(
    _ copied: consuming CopiedState
  ) throws(JournalError) -> (JournalSnapshot, digest: UInt64?) {
    var encoder = RecordEncoder()
    copied.requests.encode(into: &encoder)
    do {
      try R.encodeSnapshot(of: copied.state, into: &encoder)
    } catch {
      throw .snapshotNotEncoded(entry: entry.name, message: "\(error)")
    }
    let bytes = encoder.take()
    snapshotBytes.store(bytes.count, ordering: .relaxed)
    if bytes.count > journal.store.largestSnapshot {
      throw .snapshotTooLarge(entry: entry.name, byteCount: bytes.count)
    }
    let snapshot = JournalSnapshot(
      entry: entry.number, position: copied.position, version: R.schema.version, bytes: bytes)
    return (snapshot, R.digest(of: copied.state))
  }
}
