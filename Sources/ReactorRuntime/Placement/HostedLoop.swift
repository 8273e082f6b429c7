import Glibc
import ReactorCore
import Synchronization

/// A loop without a thread. A foreign loop calls ``run(rounds:)``, and the rounds run there. The foreign loop may be a
/// loop around epoll, or that of GLib.
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
/// A send to a loop that has nothing to do makes the descriptor readable. Further sends cost nothing extra until the
/// rounds are over.
///
/// One thread at a time runs the rounds, usually always the same; until the first round, the thread that made the loop counts
/// as that thread. If it waits for room in a mailbox between two rounds, it runs rounds of its hosted loops in the middle of
/// the send: in its own loop it would wait for itself otherwise, and hosts that send to each other would wait for each other.
public final class HostedLoop: Sendable {
  private let stepper: LoopStepper
  private let poller: Poller
  private let hostThread: HostThread

  /// Makes a hosted loop. Any thread.
  ///
  /// Stops the program, with a message, if a limit is not positive.
  ///
  /// - Parameters:
  ///   - name: The loop's name in reports.
  ///   - turnLimit: After how many actions of one reactor the next gets its turn.
  ///   - jobCapacity: How many jobs and timers may wait.
  /// - Throws: `CoreError.outOfMemory`, or `CoreError.noDescriptor`.
  public init(
    name: String = "hosted-loop", turnLimit: Int = 1024, jobCapacity: Int = 1 << 20
  ) throws(CoreError) {
    let hostThread = HostThread()
    let poller = try Poller()
    let state = try LoopState(
      name: name, waiting: .parking, turnLimit: turnLimit, jobCapacity: jobCapacity, waking: .descriptor,
      runRoundHere: { hostThread.tryRunRound() },
      hostWatches: { watched in (try? poller.add(watched, for: .readable, tag: 1)) != nil })
    self.poller = poller
    self.hostThread = hostThread
    stepper = LoopStepper(of: state)
    hostThread.stepper.value = stepper
    // Until another thread runs rounds, the one that makes the loop counts as its host: if it fills a mailbox before its
    // first run(), it must not wait for itself.
    hostThread.note()
    state.lastRunner.store(CurrentCore.threadToken, ordering: .relaxed)
    // Never nil for an event count of this kind.
    let wake = state.inbox.wake.descriptor!
    do {
      try poller.add(wake, for: .readable, tag: 0)
    } catch {
      throw .noDescriptor
    }
    _ = state.inbox.wake.arm { false }
  }

  deinit { shutdown() }

  /// For jobs, timers, counters and actors. It has no thread, so its `shutdown()` does not wait; ``shutdown()`` of the
  /// hosted loop runs what is left.
  public var loop: Loop { stepper.loop }

  /// The placement of reactors whose turns are to run here.
  public var placement: Placement { .loop(loop) }

  /// Readable while there is something to do. It belongs to this object: watch it, but do not read from it or close it.
  public var descriptor: Int32 { poller.descriptor }

  /// Runs all pending work, up to `limit` rounds. Call it when ``descriptor`` is readable; at any other time it does no
  /// harm.
  ///
  /// Any thread, one at a time, but not from inside a turn, a job or a timer of this loop: that stops the program, with
  /// a message.
  ///
  /// - Parameter limit: After how many rounds it returns although something is left; then the descriptor is
  ///   still readable. In a round each reactor has one turn. Positive.
  /// - Returns: How many actions, mutations from elsewhere, jobs and timers it ran.
  @discardableResult
  public func run(rounds limit: Int = 16) -> Int {
    precondition(
      limit > 0 && !loop.isCurrent,
      """
      Problem: \(limit) rounds of the loop "\(loop.name)" were to be run\(loop.isCurrent ? " by itself" : "").
      Likely cause: the foreign loop was entered from inside a turn, or the number was computed.
      Remedy: call run() where the descriptor is found readable, with at least one round.
      """)
    hostThread.note()
    poller.wait(timeoutMilliseconds: 0) { _, _ in }
    var processed = 0
    for _ in 0..<limit {
      let inThisRound = stepper.step()
      processed += inThisRound
      if inThisRound == 0, tryBecomeIdle() { return processed }
    }
    // Something is left: keeps the descriptor readable.
    poller.setTimer(1)
    return processed
  }

  /// Makes the descriptor unreadable until new work arrives. Returns false if work is left.
  private func tryBecomeIdle() -> Bool {
    let state = loop.state
    let (isIdle, deadline) = stepper.checkForWork()
    if !isIdle { return false }
    state.inbox.wake.acknowledge()
    state.monitor.notePark()
    state.monitor.noteWakes(total: state.inbox.wake.wakes)
    // The check comes after arming: what comes later makes the descriptor readable.
    if !state.inbox.wake.arm(unless: { state.inbox.isWaiting || isEnding }) { return false }
    poller.setTimer(deadline)
    return true
  }

  /// Whether the loop was closed since the last round: then it needs one more, in which it ends.
  private var isEnding: Bool { loop.state.isClosed && !loop.state.hasEnded }

  /// Refuses what is sent from now on, and runs what was accepted on the calling thread. Any thread, but not from
  /// inside a turn, a job or a timer of this loop. It also happens when this object goes away.
  public func shutdown() { stepper.shutdown() }
}

extension HostedLoop: Closeable {
  /// Refuses what is sent from now on. The next ``run(rounds:)`` goes on with what was accepted. Any thread.
  public func beginClosing() { loop.beginClosing() }

  /// Runs what was accepted on the calling thread, round by round, until the loop has ended or the time has come. A round
  /// that another thread is in the middle of is waited for, until then. Any thread; from inside a turn, a job or a timer of
  /// this loop, it does not wait.
  public func finishClosing(before deadline: ContinuousClock.Instant) -> [Unfinished] {
    let state = loop.state
    if loop.isCurrent {
      return [Unfinished(name: "loop", loop: loop.name, occupation: .closesItself)]
    }
    while !state.hasEnded {
      if ContinuousClock.now >= deadline { return state.findUnfinished(isRunByOthers: false) }
      if stepper.stepIfIdle() == nil { usleep(100) }
    }
    return state.lifecycle.wait(until: deadline) ? [] : state.findUnfinished(isRunByOthers: false)
  }
}

/// The thread that ran the last rounds of a hosted loop, or made it, and probably runs the next.
final class HostThread: Sendable {
  /// All of them, by the tokens of their threads. Used when a loop gets another host, and by a thread that waits for room.
  private static let all = SystemMutex<[UInt64: [WeakCell<HostThread>]]>([:])
  /// Whether there ever was one: without, threads that wait for room need not take that lock. Relaxed: a thread that is a host
  /// has set it itself.
  private static let isUsed = Atomic(false)

  /// Weak, because the stepper has the loop, which has this. Set once, before another thread has the loop.
  let stepper = WeakCell<LoopStepper>()
  // Relaxed: a thread that finds its own token has stored it itself, or got the token of a thread that has ended. Then
  // it runs a round too many, which any thread may do.
  private let token = Atomic<UInt64>(0)

  deinit { Self.remove(token.load(ordering: .relaxed)) { $0.value == nil } }

  /// Notes that the calling thread is the host.
  func note() {
    let mine = CurrentCore.threadToken
    let before = token.exchange(mine, ordering: .relaxed)
    if before == mine { return }
    Self.isUsed.store(true, ordering: .relaxed)
    Self.remove(before) { [self] in $0.value == nil || $0.value === self }
    let cell = WeakCell<HostThread>()
    cell.value = self
    Self.all.withLock { $0[mine, default: []].append(cell) }
  }

  private static func remove(_ token: UInt64, where isOver: (WeakCell<HostThread>) -> Bool) {
    all.withLock { all in
      all[token]?.removeAll(where: isOver)
      if all[token]?.isEmpty == true { all[token] = nil }
    }
  }

  /// If the calling thread ran the last round and is not inside one, runs a round and returns true. A sender that waits
  /// for room would otherwise wait for itself.
  func tryRunRound() -> Bool {
    guard token.load(ordering: .relaxed) == CurrentCore.threadToken, let stepper = stepper.value,
      !stepper.loop.isCurrent
    else { return false }
    _ = stepper.step()
    return true
  }

  /// Runs a round of each loop of which the calling thread is the host. Not from inside of a turn. A thread that waits for
  /// room calls it, since the one that makes that room may be waiting for room in a mailbox of such a loop.
  ///
  /// - Returns: How many actions, jobs and timers it ran; nil if the thread hosts no loop.
  static func runRounds() -> Int? {
    if !isUsed.load(ordering: .relaxed) { return nil }
    let mine = CurrentCore.threadToken
    guard let hosts = all.withLock({ $0[mine] })?.compactMap(\.value), !hosts.isEmpty else { return nil }
    return hosts.reduce(0) { sum, host in
      guard let stepper = host.stepper.value, !stepper.loop.isCurrent else { return sum }
      return sum + (stepper.stepIfIdle() ?? 0)
    }
  }
}

/// A weak reference that is set once, before other threads see it.
final class WeakCell<Object: AnyObject & Sendable>: @unchecked Sendable {
  // Unchecked: written once, before it is handed to other threads; loading a weak reference is atomic.
  weak var value: Object?
}
