import ReactorCore
import ReactorRuntime

/// One reactor at a time uses an entry, in the order of their first uses: the next one waits until the earlier one is gone.
extension Journal {
  /// Waits until the reactor is gone whose entry the one of a member uses now, so that everything that it has handed over is in the log.
  /// Stops the program if it stays. The thread that recovers or starts the new one; outside of locks, since the earlier reactor may end
  /// here.
  func awaitPredecessor(of member: JournalMember) {
    guard var wait = PredecessorWait(of: member) else { return }
    while !wait.isOver() {
      if wait.mayEndSoon {
        DedicatedThread.yield()
      } else {
        _ = wake.wait(timeoutNanoseconds: Int64(wait.nextPause()) * 1_000_000) { false }
      }
    }
    wait.forgetEarlier()
  }

  /// The same, and suspends the task: the tasks that the earlier reactors wait for need the threads of the pool.
  func awaitPredecessorSuspending(of member: JournalMember) async {
    guard var wait = PredecessorWait(of: member) else { return }
    while !wait.isOver() {
      if wait.mayEndSoon {
        await Task.yield()
      } else {
        // Another task: in one that is cancelled, a sleep ends at once.
        let pause = wait.nextPause()
        await Task { try? await Task.sleep(for: .milliseconds(pause)) }.value
      }
    }
    wait.forgetEarlier()
  }

  /// How long a reactor may stay whose entry another one has got, or that is retired: five seconds, in which the time does not count that
  /// it waits for a commit, however slow the disk is, nor that in which this thread did not run.
  struct Patience {
    private var last = ContinuousClock.now
    private var waited = Duration.zero
    private var pauses = 0

    /// - Parameter waitsForDisk: Whether it has waited for a commit since the last call.
    mutating func isOver(waitsForDisk: Bool) -> Bool {
      let now = ContinuousClock.now
      if !waitsForDisk { waited += min(now - last, .milliseconds(100)) }
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

  fileprivate static func useTwice(_ entry: JournalEntry) -> String {
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
  private let earlier: JournalMember
  private var position: UInt64
  private var patience = Journal.Patience()
  private var attempts = 0

  /// Nil if there is none.
  init?(of member: JournalMember) {
    guard let earlier = member.predecessor.withLock({ $0 }) else { return nil }
    (self.member, self.earlier) = (member, earlier)
    position = earlier.durablePosition.load(ordering: .relaxed)
  }

  /// Mostly it has just been confirmed and is about to go.
  var mayEndSoon: Bool { attempts < 100 }

  /// In milliseconds.
  mutating func nextPause() -> Int { patience.nextPause() }

  /// Returns whether the earlier reactor is gone. Stops the program if it stays too long.
  mutating func isOver() -> Bool {
    if earlier.isGone || earlier.isRefused { return true }
    guard member.journal.committer.load(ordering: .relaxed) != CurrentCore.threadToken else {
      fatalError(waitsForItself(member.entry))
    }
    let newPosition = earlier.durablePosition.load(ordering: .relaxed)
    // If a commit has ended meanwhile, it does more than wait for one.
    let hasMoved = newPosition != position
    position = newPosition
    // One that starts has a patience of its own if it waits, and may read for long.
    guard !patience.isOver(waitsForDisk: !earlier.isIdle && !hasMoved || earlier.isStarting) else {
      fatalError(Journal.useTwice(member.entry))
    }
    attempts += 1
    return false
  }

  /// Removes what is left of the earlier reactor, which is gone.
  func forgetEarlier() {
    let predecessor = member.predecessor.withLock { $0.take() }
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
