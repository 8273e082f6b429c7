import ReactorCore
import Synchronization

/// What a loop does, round by round. Belongs to whoever runs them.
@usableFromInline
struct LoopRounds: Sendable {
  @usableFromInline var hosting: LoopHosting
  @usableFromInline var errands = LoopErrands()

  /// - Parameter patience: After how many turns in vain a reactor is given up.
  @inlinable
  init(patience: Int, monitor: LoopMonitor) {
    hosting = LoopHosting(patience: patience, monitor: monitor)
  }

  /// Takes in what has come, and runs one turn of each reactor, and at most as many jobs, and timers, as a
  /// turn has actions. Answers how many actions, jobs and timers that were.
  @inlinable
  mutating func run(of loop: LoopState) -> Int {
    // At most each reactor once.
    _ = loop.intake.ring.drain { hosting.accept($0) }
    if loop.intake.hasMail.load(ordering: .relaxed) { takeMail(of: loop) }
    if loop.isClosed { hosting.close() }
    var processed = 0
    if !errands.isEmpty { processed = runErrands(of: loop) }
    return processed + hosting.runTurns(upTo: loop.turnLimit)
  }

  @usableFromInline
  @inline(never)
  mutating func takeMail(of loop: LoopState) {
    var mail = loop.intake.takeMail()
    // Moved, not copied: that would count references to each.
    while let scheduled = mail.reactors.popLast() { hosting.accept(scheduled) }
    if mail.jobs.isEmpty, mail.timers.isEmpty { return }
    errands.accept(mail, loop.monitor, loop.cancelledTimers)
  }

  @usableFromInline
  @inline(never)
  mutating func runErrands(of loop: LoopState) -> Int {
    if loop.isClosed { errands.removeTimers(loop.monitor, loop.cancelledTimers) }
    loop.setRunningJob()
    defer { loop.setRunning(nil) }
    return errands.run(upTo: loop.turnLimit, loop.monitor, loop.cancelledTimers)
  }

  /// Whether there is nothing to do but to wait for what comes, or for a timer.
  @inlinable
  var isResting: Bool { hosting.isEmpty && !errands.hasJobs }

  /// Whether there is nothing to do and nothing to wait for.
  @inlinable
  var isDone: Bool { hosting.isEmpty && errands.isEmpty }
}
