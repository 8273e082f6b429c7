import Glibc
import ReactorCore

/// A loop without a thread. A foreign loop calls ``run(rounds:)``, and the rounds run there. The foreign loop may be a
/// loop around epoll, that of GLib, or that of swift-nio (for which the package trait `NIO` has a placement).
///
/// A foreign loop that watches descriptors watches ``descriptor``, and calls ``run(rounds:)`` whenever that is readable:
///
/// ```swift
/// let hosted = try HostedLoop()
/// let counter = Counter(on: hosted.placement)
/// var watched = pollfd(fd: hosted.descriptor, events: Int16(POLLIN), revents: 0)
/// while poll(&watched, 1, -1) > 0 || errno == EINTR { hosted.run() }
/// ```
///
/// One that does not, but takes closures, is called instead:
///
/// ```swift
/// let hosted = try HostedLoop { hosted in foreign.post { hosted.run() } }
/// ```
///
/// A send to a loop that has nothing to do makes the descriptor readable, or calls the closure. Further sends cost nothing
/// extra until the rounds are over.
///
/// One thread at a time runs the rounds, usually always the same; until the first round, the thread that made the loop counts
/// as that thread. If it waits for room in a mailbox between two rounds, it runs rounds of its hosted loops in the middle of
/// the send: in its own loop it would wait for itself otherwise, and hosts that send to each other would wait for each other.
public final class HostedLoop: Sendable {
  let stepper: LoopStepper
  private let waking: any HostWaking
  private let hostThread: HostThread

  /// Makes a hosted loop for a foreign loop that watches ``descriptor``. Any thread.
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
    let hostThread = HostThread(isHost: nil)
    let poller = try Poller()
    let state = try LoopState(
      name: name, waiting: .parking, turnLimit: turnLimit, jobCapacity: jobCapacity, waking: .descriptor,
      host: hostThread.host,
      polling: .byHost { watched in (try? poller.add(watched, for: .readable, tag: 1)) != nil })
    self.hostThread = hostThread
    waking = try DescriptorWaking(poller, of: state)
    stepper = LoopStepper(of: state)
    hostThread.hosted.value = self
    // Until another thread runs rounds, the one that makes the loop counts as its host: if it fills a mailbox before its first
    // `run()`, it must not wait for itself.
    hostThread.note()
  }

  /// Makes a hosted loop for a foreign loop that takes closures. Any thread.
  ///
  /// Nothing polls a descriptor then, so ``Loop/watch(_:for:_:)`` throws ``WatchError/notPolled``. Timers work.
  ///
  /// Stops the program, with a message, if a limit is not positive.
  ///
  /// - Parameters:
  ///   - name: The loop's name in reports.
  ///   - turnLimit: After how many actions of one reactor the next gets its turn.
  ///   - jobCapacity: How many jobs and timers may wait.
  ///   - onTimer: Makes the foreign loop call ``run(rounds:)`` after that time, for the first of the loop's timers. Called on
  ///     the thread that runs the rounds, at their end. If an earlier timer comes, it is called once more, and must not undo
  ///     the later call, which is not requested again. A call may come up to 2 ms too early: so one timer may be requested up
  ///     to three times, the third time 2 ms after it is due. If nil, a timer of Dispatch calls `onWake`.
  ///   - onWake: Makes the foreign loop call ``run(rounds:)`` soon, and must not call it itself. It is called on a thread that
  ///     sends to a loop that has nothing to do, also inside of turns of other reactors, and not again before the rounds are
  ///     over; and at the end of rounds that leave something. It must not block. A call that the foreign loop drops is not repeated.
  ///     If the foreign loop runs all closures that are there before it gets to its other work, also those that come meanwhile, let
  ///     it call ``run(rounds:)`` after a short delay.
  ///   - isHost: Returns whether the calling thread runs one of the foreign loop's closures at this moment; the foreign loop must run
  ///     one at a time. It is called on any thread that waits, also inside of turns and reads, so it must neither wait nor use
  ///     reactors. Needed if the foreign loop has more than one thread, or its thread also runs other code, as with a queue of
  ///     Dispatch. Otherwise a thread that ran rounds counts as the host from then on: while it waits for room it runs rounds, also
  ///     outside of the queue and beside the queue's other closures. A thread for which it returns false waits for this loop like any
  ///     other: for ever, if it keeps the foreign loop from running, as a block that a closure runs by `sync` on another queue.
  /// - Throws: `CoreError.outOfMemory`.
  public convenience init(
    name: String = "hosted-loop", turnLimit: Int = 1024, jobCapacity: Int = 1 << 20,
    onTimer: (@Sendable (HostedLoop, Duration) -> Void)? = nil,
    onWake: @escaping @Sendable (HostedLoop) -> Void,
    isHost: (@Sendable () -> Bool)? = nil
  ) throws(CoreError) {
    try self.init(
      name: name, turnLimit: turnLimit, jobCapacity: jobCapacity,
      calling: CalledWaking(onTimer: onTimer, onWake: onWake), isHost: isHost)
  }

  /// - Parameters:
  ///   - waking: What makes the foreign loop run the rounds.
  ///   - isHost: Returns whether the calling thread is that of the foreign loop, if that can be known: then no other counts as
  ///     host.
  init(
    name: String, turnLimit: Int, jobCapacity: Int, calling waking: CalledWaking,
    isHost: (@Sendable () -> Bool)?
  ) throws(CoreError) {
    let hostThread = HostThread(isHost: isHost)
    let state = try LoopState(
      name: name, waiting: .parking, turnLimit: turnLimit, jobCapacity: jobCapacity,
      signal: { waking.wake() }, host: hostThread.host, polling: .impossible)
    self.hostThread = hostThread
    self.waking = waking
    stepper = LoopStepper(of: state)
    hostThread.hosted.value = self
    waking.hosted.value = self
    hostThread.note()
  }

  deinit {
    // Not here if this is the middle of a turn or of a read: that of a sender which has woken the loop, and had the last reference by
    // then.
    if !TurnMark.isSet { return shutdown() }
    Shutdown.detach { [stepper] in stepper.shutdown() }
  }

  /// For jobs, timers, counters and actors. It has no thread, so its `shutdown()` does not wait; ``shutdown()`` of the
  /// hosted loop runs what is left.
  public var loop: Loop { stepper.loop }

  /// The placement of reactors whose turns are to run here.
  public var placement: Placement { .loop(loop) }

  /// Readable while there is something to do. It belongs to this object: watch it, but do not read from it or close it. -1 if
  /// the loop was made with a closure to call instead.
  public var descriptor: Int32 { waking.descriptor ?? -1 }

  /// Runs all pending work, up to `limit` rounds. Call it when ``descriptor`` is readable, or after the closure was called; at
  /// any other time it does no harm. But if the closure was called and something is left, each further call of this leads to one more
  /// call of the closure after as many rounds, until nothing is left.
  ///
  /// Any thread, one at a time, but not from inside a turn, a job or a timer of this loop: that stops the program, with
  /// a message.
  ///
  /// - Parameter limit: After how many rounds it returns although something is left; then the descriptor is
  ///   still readable, or the closure is called again. In a round each reactor has one turn. Positive.
  /// - Returns: How many actions, mutations from elsewhere, jobs and timers it ran.
  @discardableResult
  public func run(rounds limit: Int = 16) -> Int {
    waking.beginRounds()
    return runRounds(upTo: limit)
  }

  /// Runs up to 16 rounds for a timer; unless the foreign loop was called, and will run them anyway. Threads: like ``run(rounds:)``.
  ///
  /// Otherwise each timer that comes while the loop is busy would lead to one more call after every 16 rounds. For the same reason
  /// these rounds do not count as those of a call, which may come in the meantime and is still to run its own.
  func runUnlessCalled() { if !waking.isCalled { _ = runRounds(upTo: 16) } }

  private func runRounds(upTo limit: Int) -> Int {
    let isInside = loop.state.runsTurnsHere
    guard limit > 0 && !isInside else {
      fatalError(
        """
        Problem: \(limit) rounds of the loop "\(loop.name)" were to be run\(isInside ? " by itself" : "").
        Likely cause: the foreign loop was entered from inside a turn, or the number was computed.
        Remedy: call run() from the foreign loop itself, with at least one round.
        """)
    }
    hostThread.note()
    var processed = 0
    for _ in 0..<limit {
      let inThisRound = stepper.step()
      processed += inThisRound
      if inThisRound == 0, waking.tryBecomeIdle(stepper) { return processed }
    }
    waking.wakeAgain()
    return processed
  }

  /// Refuses what is sent from now on, and runs what was accepted on the calling thread. Any thread, but not from
  /// inside a turn, a job or a timer of this loop. It also happens when this object goes away; if that is inside of a turn, a job or
  /// a read, then on a thread made for it.
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
    if state.runsTurnsHere {
      return [Unfinished(name: "loop", loop: loop.name, occupation: .closesItself)]
    }
    while !state.hasEnded {
      if ContinuousClock.now >= deadline { return state.findUnfinished(isRunByOthers: false) }
      // Nil if another thread runs a round. After an empty one, something else must come first, such as the end of a claim.
      if stepper.stepIfIdle() ?? 0 == 0, !state.hasEnded { usleep(100) }
    }
    return state.lifecycle.wait(until: deadline) ? [] : state.findUnfinished(isRunByOthers: false)
  }
}
