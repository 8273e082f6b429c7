import ReactorCore
import Synchronization

/// The main function of a loop's thread: round after round, until the loop is sealed.
extension LoopState {
  @inlinable
  func run() {
    ownThread.store(CurrentCore.threadToken, ordering: .relaxed)
    currentThread.store(CurrentCore.threadToken, ordering: .relaxed)
    var rounds = LoopRounds(patience: waiting.patience, monitor: monitor)
    var pacer = Pacer()
    var emptyRounds = 0
    repeat {
      let processed = rounds.runRound(of: self)
      if processed > 0 {
        emptyRounds = 0
        if waiting.kind != .busy, processed < turnLimit { pacer.wait(afterReceiving: processed) }
      } else if waiting.kind == .parking, emptyRounds > waiting.limit, rounds.isIdle {
        park(until: rounds.tasks.deadline)
        emptyRounds = 0
      } else {
        emptyRounds += 1
        pause(after: emptyRounds)
      }
    } while !(isClosed && rounds.isDone && trySeal())
    currentThread.store(0, ordering: .relaxed)
    endIfSealed()
  }

  /// Waits a moment after a round in which nothing was done.
  @inlinable
  func pause(after emptyRounds: Int) {
    // Not after each one, since reading the clock costs as much as many checks of the inbox.
    if emptyRounds % 64 == 0 { monitor.beat() }
    if waiting.kind == .busy { return }
    CurrentCore.pause()
    let spins = waiting.kind == .spinning ? waiting.limit : 256
    if emptyRounds % spins == 0 { DedicatedThread.yield() }
  }

  /// Sleeps until something comes, the loop is closed, or that time has come. It may also return early.
  @inlinable
  func park(until deadline: Int64?) {
    let timeout = deadline.map { $0 - MonotonicTime.now }
    if let timeout, timeout <= 0 { return }
    var checks = 0
    _ = inbox.wake.wait(timeoutNanoseconds: timeout) {
      checks += 1
      // The second check is the last one before the sleep.
      if checks == 2 {
        Tracepoint.park(self)
        monitor.notePark()
      }
      // At most one sleep, so that each is counted.
      return checks > 2 || inbox.isReady
    }
    if checks > 1 { Tracepoint.wake(self) }
    monitor.noteWakes(total: inbox.wake.wakes)
    monitor.beat()
  }
}

/// What a loop does in a round: takes in what came, runs jobs and timers, and runs one turn of each reactor.
///
/// Only the thread that runs the rounds uses it.
@usableFromInline
struct LoopRounds: Sendable {
  @usableFromInline var reactors: ScheduledReactors
  @usableFromInline var tasks = LoopTasks()

  /// - Parameter patience: After how many turns without work in a row the loop releases a reactor.
  @inlinable
  init(patience: Int, monitor: LoopMonitor) {
    reactors = ScheduledReactors(patience: patience, monitor: monitor)
  }

  /// Takes in what came, then runs at most as many jobs, and as many timers, as a turn has actions, then one turn of
  /// each reactor. Returns how many actions, jobs and timers it ran.
  @inlinable
  mutating func runRound(of loop: LoopState) -> Int {
    // This terminates, because each reactor is in the ring at most once.
    _ = loop.inbox.ring.drain { reactors.accept($0) }
    if loop.inbox.hasContents.load(ordering: .relaxed) { takeContents(of: loop) }
    if loop.isClosed { reactors.close() }
    var processed = 0
    if !tasks.isEmpty { processed = runTasks(of: loop) }
    return processed + reactors.runTurns(upTo: loop.turnLimit)
  }

  @usableFromInline
  @inline(never)
  mutating func takeContents(of loop: LoopState) {
    var contents = loop.inbox.takeContents()
    // Moved out one by one: a copy would retain and release each.
    while let reactor = contents.reactors.popLast() { reactors.accept(reactor) }
    if contents.jobs.isEmpty, contents.timers.isEmpty { return }
    tasks.accept(contents, loop.monitor, loop.cancelledTimers)
  }

  @usableFromInline
  @inline(never)
  mutating func runTasks(of loop: LoopState) -> Int {
    if loop.isClosed { tasks.removeTimers(loop.monitor, loop.cancelledTimers) }
    loop.setRunningJob()
    defer { loop.setRunning(nil) }
    return tasks.run(upTo: loop.turnLimit, loop.monitor, loop.cancelledTimers)
  }

  /// Whether there is nothing to do until something comes or a timer is due.
  @inlinable
  var isIdle: Bool { reactors.isEmpty && !tasks.hasJobs }

  /// Whether everything that was taken in is done, and no timer is left.
  @inlinable
  var isDone: Bool { reactors.isEmpty && tasks.isEmpty }
}
