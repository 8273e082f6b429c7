import ReactorCore
import Synchronization

/// A loop without a thread: its rounds run where a foreign loop says so, that of epoll, GLib or NIO.
///
/// The foreign loop watches ``descriptor`` and calls ``run(rounds:)`` whenever that is readable:
///
/// ```swift
/// let hosted = try HostedLoop()
/// let counter = Counter(on: hosted.placement)
/// var watched = pollfd(fd: hosted.descriptor, events: Int16(POLLIN), revents: 0)
/// while poll(&watched, 1, -1) > 0 { hosted.run() }
/// ```
///
/// Whoever sends while nothing was to be done makes the descriptor readable, once; until the rounds are over
/// others pay nothing for it.
///
/// One thread at a time runs the rounds, usually always the same. If that one sends between rounds more than
/// a mailbox holds, it runs a round in the middle of the send instead of waiting for itself.
public final class HostedLoop: Sendable {
  private let stepper: LoopStepper
  private let poller: Poller
  private let host: HostingThread

  /// Stops the program, with a sentence, if a limit is not positive.
  ///
  /// - Parameters:
  ///   - name: The loop's name in reports.
  ///   - turnLimit: After how many actions of one reactor the next gets its turn.
  ///   - jobCapacity: How many jobs and timers may wait.
  /// - Throws: `CoreError.outOfMemory`, or `CoreError.noDescriptor`.
  public init(
    name: String = "hosted-loop", turnLimit: Int = 1024, jobCapacity: Int = 1 << 20
  ) throws(CoreError) {
    let host = HostingThread()
    let state = try LoopState(
      name: name, waiting: .parking, turnLimit: turnLimit, jobCapacity: jobCapacity, waking: .descriptor,
      roundHere: { host.runsRoundHere() })
    poller = try Poller()
    self.host = host
    stepper = LoopStepper(of: state)
    host.stepper.value = stepper
    // Never nil with an event count of this kind.
    let wake = state.intake.wake.descriptor!
    do {
      try poller.add(wake, for: .readable, tag: 0)
    } catch {
      throw .noDescriptor
    }
    _ = state.intake.wake.arm { false }
  }

  deinit { shutdown() }

  /// For jobs, timers, counters and actors. It has no thread, so its `shutdown()` does not wait:
  /// ``shutdown()`` here does what is left.
  public var loop: Loop { stepper.loop }

  /// Where a reactor is to be placed so that its turns run here.
  public var placement: Placement { .loop(loop) }

  /// Readable while there is something to do; belongs to this object. Only to be watched, not read from.
  public var descriptor: Int32 { poller.descriptor }

  /// Runs what is there: to be called when ``descriptor`` is readable; at any other time it does no harm.
  ///
  /// - Parameter limit: After how many rounds it returns although something is left; then the descriptor is
  ///   still readable. In a round each reactor has one turn.
  /// - Returns: How many actions, mutations that came from elsewhere, jobs and timers that were.
  @discardableResult
  public func run(rounds limit: Int = 16) -> Int {
    precondition(
      limit > 0 && !loop.isCurrent,
      """
      Problem: \(limit) rounds of the loop "\(loop.name)" were to be run\(loop.isCurrent ? " by itself" : "").
      Likely cause: the foreign loop was entered from inside a turn, or the number was computed.
      Remedy: call run() where the descriptor is found readable, with at least one round.
      """)
    host.note()
    poller.wait(timeoutMilliseconds: 0) { _, _ in }
    var processed = 0
    for _ in 0..<limit {
      let inThisRound = stepper.step()
      processed += inThisRound
      if inThisRound == 0, rests() { return processed }
    }
    // At once, since something is left.
    poller.setTimer(1)
    return processed
  }

  /// Makes the descriptor wait for what comes; false if something has come already.
  private func rests() -> Bool {
    let rest = stepper.rest
    if !rest.isResting { return false }
    loop.state.intake.wake.acknowledge()
    loop.state.monitor.notePark()
    loop.state.monitor.noteWakes(total: loop.state.intake.wake.wakes)
    if !loop.state.intake.wake.arm(unless: { loop.state.intake.isWaiting || isToEnd }) { return false }
    poller.setTimer(rest.deadline)
    return true
  }

  /// Whether it was closed since the last round: there is one more, in which it ends.
  private var isToEnd: Bool { loop.state.isClosed && !loop.state.ending.isOver }

  /// Refuses what is sent from now on, and runs what was accepted, on the calling thread. Any thread, but not
  /// from inside a turn. It also happens when this goes away.
  public func shutdown() { stepper.shutdown() }
}

/// The thread that runs the rounds of a hosted loop: the one that did so last.
final class HostingThread: Sendable {
  /// Weak: the stepper has the loop, which has this. Set once, before anybody else has it.
  let stepper = WeakCell<LoopStepper>()
  // Relaxed: a thread that finds its own token wrote it, or has got the token of one that has ended.
  private let token = Atomic<UInt64>(0)

  func note() { token.store(CurrentCore.threadToken, ordering: .relaxed) }

  /// Runs a round, if the caller is the one that must: who waits for room would wait for itself.
  func runsRoundHere() -> Bool {
    guard token.load(ordering: .relaxed) == CurrentCore.threadToken, let stepper = stepper.value,
      !stepper.loop.isCurrent
    else { return false }
    _ = stepper.step()
    return true
  }
}

/// A weak reference that is set once, before other threads see it.
final class WeakCell<Object: AnyObject & Sendable>: @unchecked Sendable {
  // Unchecked: written once, before it is handed to other threads; loading a weak reference is atomic.
  weak var value: Object?
}

/// A loop whose rounds somebody else runs, on any thread, one at a time: a test, a foreign loop, the main
/// queue.
package final class LoopStepper: Sendable {
  /// To be given to reactors as their placement. It has no thread.
  package let loop: Loop
  private let rounds: SystemMutex<LoopRounds>

  /// - Parameter turnLimit: After how many actions of one reactor the next gets its turn.
  package convenience init(turnLimit: Int) throws(CoreError) {
    self.init(
      of: try LoopState(
        name: "stepped-loop", waiting: .parking, turnLimit: turnLimit, jobCapacity: 1 << 20))
  }

  init(of state: LoopState) {
    loop = Loop(steppedFrom: state)
    rounds = SystemMutex(LoopRounds(patience: 0, monitor: state.monitor))
  }

  deinit {
    // What is left is done, as by a loop with a thread that goes away.
    shutdown()
  }

  /// Runs one turn of each reactor that has something to do; answers how many actions, mutations and other
  /// steps that were, and jobs. Any thread, but not from inside a turn of this loop.
  package func step() -> Int {
    precondition(!loop.isCurrent, "a loop was stepped from inside one of its own turns")
    var processed = 0
    var isOver = false
    // What the calling thread is in the middle of elsewhere does not concern the turns.
    ThreadScope.outside {
      rounds.withLock { rounds in
        processed = loop.state.asCurrent { run(&rounds) }
        isOver = loop.state.isClosed && rounds.isDone && loop.state.intake.end()
      }
    }
    if isOver { loop.state.ending.finish() }
    return processed
  }

  private func run(_ rounds: inout LoopRounds) -> Int {
    loop.state.monitor.beat()
    rounds.hosting.resume()
    defer { rounds.hosting.suspend() }
    return rounds.run(of: loop.state)
  }

  /// Runs `body` as if the loop did. Threads: as ``step()``.
  func perform(_ body: () -> Void) {
    rounds.withLock { _ in
      loop.state.asCurrent {
        loop.state.monitor.beat()
        loop.state.setRunningJob()
        body()
        loop.state.setRunning(nil)
        loop.state.monitor.noteJob()
      }
    }
  }

  /// Refuses what is sent from now on, and runs what was accepted. Threads: as ``step()``.
  package func shutdown() {
    precondition(!loop.isCurrent, "a loop was shut down from inside one of its own turns")
    loop.state.intake.close()
    while !loop.state.ending.isOver { _ = step() }
  }

  /// Whether nothing is to be done but what may have come since, and when the first timer is due.
  var rest: (isResting: Bool, deadline: Int64?) {
    rounds.withLock { ($0.isResting, $0.tasks.deadline) }
  }
}
