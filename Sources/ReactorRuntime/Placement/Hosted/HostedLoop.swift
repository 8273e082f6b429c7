import ReactorCore

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
