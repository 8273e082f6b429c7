import ReactorCore

/// A loop without a thread. A test, a foreign loop or the main queue runs its rounds, on any thread, one at a time.
package final class LoopStepper: Sendable {
  /// The placement of its reactors.
  package let loop: Loop
  private let rounds: SystemMutex<LoopRounds>

  private var state: LoopState { loop.state }

  /// - Parameter turnLimit: After how many actions of one reactor the next gets its turn.
  package convenience init(turnLimit: Int) throws(CoreError) {
    self.init(
      of: try LoopState(
        name: "stepped-loop", waiting: .parking, turnLimit: turnLimit, jobCapacity: 1 << 20))
  }

  init(of state: LoopState) {
    loop = Loop(withoutThread: state)
    // A limit of 0: between two rounds, reactors that are still here would have no owner.
    rounds = SystemMutex(LoopRounds(quietLimit: 0, monitor: state.monitor))
  }

  deinit {
    // What was accepted is done, as by a loop with a thread.
    shutdown()
  }

  /// Runs one round, and returns how many actions, mutations from elsewhere, jobs and timers it ran. Any thread, but
  /// not from inside a round of this loop.
  ///
  /// - Parameter besideHost: Whether the caller is not the code that normally runs the rounds, but waits for something. That code
  ///   may have gone idle before: it is woken if something is left after this round.
  package func step(besideHost: Bool = false) -> Int {
    guard !state.runsTurnsHere else { fatalError("a loop was stepped from inside one of its own turns") }
    var processed = 0
    // The turns must not count as a part of what the calling thread is in the middle of.
    ThreadScope.leaveAll { rounds.withLock { processed = runRound(&$0, besideHost) } }
    finishRound(processed)
    return processed
  }

  /// As ``step(besideHost:)``, but returns nil at once if another thread is in the middle of a round.
  func stepIfIdle(besideHost: Bool = false) -> Int? {
    var processed: Int?
    ThreadScope.leaveAll { processed = rounds.withLockIfAvailable { runRound(&$0, besideHost) } }
    if let processed { finishRound(processed) }
    return processed
  }

  private func finishRound(_ processed: Int) {
    // Also if another thread sealed it.
    state.endIfSealed()
    // What is left of a loop that is closed may be a claim that another thread is about to publish. That thread may need this
    // processor: the caller runs rounds until the loop has ended.
    if processed == 0, state.isEnding { DedicatedThread.yield() }
  }

  /// Runs a round, and seals the loop if it is closed and nothing is left.
  private func runRound(_ rounds: inout LoopRounds, _ besideHost: Bool) -> Int {
    // Nothing is left. From the end on, another thread may be inside of the loop: that of `LateJobs`.
    if state.lifecycle.isSealed { return 0 }
    let processed = state.asCurrent {
      state.monitor.beat()
      rounds.reactors.acquireAll()
      defer { rounds.reactors.releaseAll() }
      return rounds.runRound(of: state)
    }
    if state.isClosed, rounds.isDone { _ = state.trySeal() }
    if besideHost, !rounds.isIdle || rounds.tasks.deadline != nil || state.inbox.isWaiting {
      state.inbox.wakeForRest()
    }
    return processed
  }

  /// Runs `body` as a job of the loop, now. Threads: like ``step(besideHost:)``.
  func perform(_ body: () -> Void) {
    rounds.withLock { _ in
      state.asCurrent {
        state.monitor.beat()
        state.setRunningJob()
        body()
        state.setRunning(nil)
        state.monitor.noteJob()
      }
    }
  }

  /// Refuses what is sent from now on, and runs what was accepted, on the calling thread. If another thread ends the loop,
  /// waits until that has run the actions for the end. Threads: like ``step(besideHost:)``.
  package func shutdown() {
    guard !state.runsTurnsHere else { fatalError("a loop was shut down from inside one of its own turns") }
    state.close()
    while !state.hasEnded { _ = step() }
    while !state.lifecycle.wait(until: .now + .seconds(3600)) {}
  }

  /// Whether something was left to do after the last round, or has come since. Threads: like ``step(besideHost:)``.
  package var hasWork: Bool { !checkForWork().isIdle || state.inbox.isWaiting }

  /// Returns whether nothing was left to do after the last round, and when the first timer is due. It does not count
  /// what has come since then. Threads: like ``step(besideHost:)``.
  func checkForWork() -> (isIdle: Bool, deadline: Int64?) {
    rounds.withLock { ($0.isIdle, $0.tasks.deadline) }
  }
}
