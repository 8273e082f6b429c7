import ReactorCore
import ReactorRuntime

/// One reactor at a time uses an entry, in the order of their first uses: the next one waits until the earlier one is gone.
extension Journal {
  /// Waits until the reactor is gone whose entry the one of a member uses now, so that everything that it has handed over is in the log.
  /// The thread that recovers or starts the new one; outside of locks, since the earlier reactor may end here.
  ///
  /// - Throws: ``JournalError/inUse(entry:)`` if it stays. Then the reactor does not have the entry, and may try it again.
  func awaitPredecessor(of member: JournalMember) throws(JournalError) {
    var wait = PredecessorWait(of: member)
    while try !wait.isOver() {
      if wait.mayEndSoon {
        DedicatedThread.yield()
      } else {
        _ = wake.wait(timeoutNanoseconds: Int64(wait.nextPause()) * 1_000_000) { false }
      }
    }
  }

  /// The same, and suspends the task: the tasks that the earlier reactors wait for need the threads of the pool.
  func awaitPredecessorSuspending(of member: JournalMember) async throws(JournalError) {
    var wait = PredecessorWait(of: member)
    while try !wait.isOver() {
      if wait.mayEndSoon {
        await Task.yield()
      } else {
        // Another task: in one that is cancelled, a sleep ends at once.
        let pause = wait.nextPause()
        await Task { try? await Task.sleep(for: .milliseconds(pause)) }.value
      }
    }
  }

  /// How long a reactor may stay whose entry another one has got, or that is retired: five seconds, in which the time does not count that
  /// it waits for a commit, however slow the disk is, nor that in which this thread did not run. And ten minutes while it starts, since it
  /// may read a long log.
  struct Patience {
    private var last = ContinuousClock.now
    private var waited = Duration.zero
    private var pauses = 0

    /// - Parameters:
    ///   - waitsForDisk: Whether it has waited for a commit since the last call.
    ///   - isStarting: Whether it has not started yet.
    mutating func isOver(waitsForDisk: Bool, isStarting: Bool = false) -> Bool {
      let now = ContinuousClock.now
      if !waitsForDisk { waited += min(now - last, .milliseconds(100)) / (isStarting ? 120 : 1) }
      last = now
      return waited >= .seconds(5)
    }

    /// How many milliseconds to wait before the next look: more and more, up to ten.
    mutating func nextPause() -> Int {
      pauses = min(pauses + 1, 10)
      return pauses
    }
  }

  /// Whether the reactor of a member, which starts, may record: its entry is not retired.
  func admits(_ member: JournalMember) -> Bool {
    let (isThere, isRetiring) = members.withLock { members in
      (members.contains(member), members.isRetiring(member.entry.number))
    }
    // The end of the journal removes all members, and a retirement those of its entry.
    return isThere ? !isRetiring : work.withLock(\.hasStopped)
  }

  static func useTwice(_ entry: JournalEntry) -> String {
    """
    Problem: two reactors use the entry "\(entry.name)" of a journal.
    Likely cause: the reactor was made twice, or something still refers to the one that was used before.
    Remedy: give each reactor an entry of its own, or release the earlier one before the first use of the next.
    """
  }
}

/// The wait of a reactor for the earlier one with its entry.
private struct PredecessorWait {
  private let member: JournalMember
  /// The reactor that has the entry now: the earlier one, or the one that this waits for. And its position.
  private var first: ObjectIdentifier?
  private var position: UInt64 = 0
  private var patience = Journal.Patience()
  private var attempts = 0

  init(of member: JournalMember) { self.member = member }

  /// Mostly it has just been confirmed and is about to go.
  var mayEndSoon: Bool { attempts < 100 }

  /// In milliseconds.
  mutating func nextPause() -> Int { patience.nextPause() }

  /// Returns whether the earlier reactor is gone, or there is none, or the journal has ended, which the recovery finds.
  mutating func isOver() throws(JournalError) -> Bool {
    // Looked up each time: if the earlier reactor does not start, this one waits for the one before that.
    guard let earlier = member.predecessor.withLock({ $0 }) else { return true }
    if member.journal.failure != nil || member.journal.work.withLock({ $0.hasStopped }) { return true }
    if earlier.isGone {
      forget(earlier)
      return false
    }
    guard member.journal.committer.load(ordering: .relaxed) != CurrentCore.threadToken else {
      fatalError(waitsForItself(member.entry))
    }
    let user = earlier.firstInLine
    let newPosition = user.durablePosition.load(ordering: .relaxed)
    if first != ObjectIdentifier(user) {
      // Each has its own five seconds.
      (first, position, patience) = (ObjectIdentifier(user), newPosition, Journal.Patience())
    }
    // If a commit has ended meanwhile, it does more than wait for one.
    let hasMoved = newPosition != position
    position = newPosition
    guard !patience.isOver(waitsForDisk: !user.isIdle && !hasMoved, isStarting: user.isStarting) else {
      throw .inUse(entry: member.entry.name)
    }
    attempts += 1
    return false
  }

  /// Removes what is left of the earlier reactor.
  private func forget(_ earlier: JournalMember) {
    let predecessor = member.predecessor.withLock { predecessor in
      predecessor === earlier ? predecessor.take() : nil
    }
    member.journal.members.withLock { $0.remove(earlier) }
    withExtendedLifetime(predecessor) {}
  }

  private func waitsForItself(_ entry: JournalEntry) -> String {
    """
    Problem: a reactor is started on the journal's thread, and the reactor that had its entry "\(entry.name)" still waits for that thread.
    Likely cause: an effect of `afterCommit`, or an observer of a durable state, replaces a reactor.
    Remedy: replace it on another thread or in another reactor's turn.
    """
  }
}
