import ReactorCore

/// A thread that runs the turns of any number of reactors, one turn at a time, and jobs and timers in between.
///
/// A reactor that has something to do is handed to the loop once, and stays with it until it was quiet for
/// a while. Meanwhile the loop holds a reference to it, so everything that was sent is also reduced.
///
/// In each round every reactor has one turn of at most `turnLimit` actions, and at most as many jobs are run.
/// So neither keeps the other waiting without bound.
///
/// ``shutdown()`` ends the loop. A loop that goes away without it, after its last reactor, ends in the background.
public final class Loop: Sendable {
  @usableFromInline let state: LoopState
  /// Nil if the loop has no thread of its own: see ``LoopStepper``.
  @usableFromInline let thread: JoinOnce?
  /// What runs the rounds of a loop without a thread, if it is to live as long as this object.
  @usableFromInline let host: (any AnyObject & Sendable)?

  /// Starts the thread. Any thread.
  ///
  /// Stops the program, with a message, if a limit is not positive, or if the system gives no thread.
  ///
  /// - Parameters:
  ///   - name: The name of the loop in reports, and of its thread. The system keeps 15 bytes of a thread's name.
  ///   - waiting: What the thread does while it has nothing to do.
  ///   - turnLimit: After how many actions of one reactor the next gets its turn.
  ///   - processor: The only processor that the thread may run on; nil leaves that to the system. The threads of loops that are
  ///     made there may run on all processors of the process. Those that other code starts there may not, such as Dispatch's.
  ///   - jobCapacity: How many jobs and timers may wait; nothing is allocated for them beforehand.
  /// - Throws: `CoreError.outOfMemory`, or `CoreError.processorIsInvalid`.
  @inlinable
  public init(
    name: String = "reactor-loop", waiting: WaitStrategy = .parking, turnLimit: Int = 1024,
    processor: Int? = nil, jobCapacity: Int = 1 << 20
  ) throws(CoreError) {
    let state = try LoopState(
      name: name, waiting: waiting, turnLimit: turnLimit, jobCapacity: jobCapacity)
    let running = DedicatedThread(named: name) { state.run() }
    let isPlaced = processor.map { running.run(on: $0) } ?? true
    self.state = state
    thread = JoinOnce(running)
    host = nil
    if !isPlaced {
      shutdown()
      throw .processorIsInvalid
    }
  }

  /// A loop whose rounds are run by other code.
  ///
  /// - Parameter host: That code, if it is to live as long as the loop. It must not retain this object.
  init(withoutThread state: LoopState, keeping host: (any AnyObject & Sendable)? = nil) {
    self.state = state
    self.host = host
    thread = nil
  }

  deinit { state.close() }

  /// The name that the loop was made with. Any thread.
  public var name: String { state.name }

  /// Whether the calling thread is inside of a turn, a job or a timer of this loop. Any thread.
  @inlinable
  public var isCurrent: Bool { state.isCurrent }
}

/// The end of a loop.
extension Loop {
  /// Refuses what other threads send from now on, and waits until the thread has ended. Before that the loop runs what
  /// its reactors had accepted, what these send to each other meanwhile, and the jobs. So this never returns if a
  /// reactor goes on sending to itself; ``shutdown(before:)`` does.
  ///
  /// Any thread; calling it again does nothing more. Called from inside a turn, a job or a timer of the loop, it does
  /// not wait: the loop ends afterwards. Nor does it wait for a loop without a thread, such as that of a
  /// ``HostedLoop``; nor for one that waits for the calling thread by this method, directly or through others: of two
  /// loops that shut each other down, one waits for the other. Nor does it wait inside of ``Reactor/withCurrentState(_:)`` of a reactor
  /// of the loop, with a state on demand, if the loop has to wait for the end of that read.
  ///
  /// A reactor that waits for its turn accepts actions until that begins, and the loop runs them. An action can be accepted and
  /// refused afterwards, if its reactor was not yet handed to the loop when this was called; also one that a turn of the loop sends to
  /// it just then. Such actions are reported to the failure handler of the ``Runtime`` as ``SendError/closed``.
  public func shutdown() {
    state.close()
    if thread != nil, !state.runsTurnsHere, waitForEnd() { join() }
  }

  /// Like ``shutdown()``, but waits no longer than until that time. A loop that is stuck is left to itself. If two loops shut each
  /// other down in this way, both wait until the earlier deadline.
  ///
  /// - Throws: ``ShutdownError/unfinished(_:)``, which lists the reactors that have not ended and what they are doing;
  ///   or at once ``ShutdownError/insideItself(loop:)``, if it was called from inside the loop.
  public func shutdown(before deadline: ContinuousClock.Instant) throws(ShutdownError) {
    beginClosing()
    if state.runsTurnsHere { throw .insideItself(loop: name) }
    let unfinished = finishClosing(before: deadline)
    if !unfinished.isEmpty { throw .unfinished(unfinished) }
  }
}

extension Loop: Closeable {
  public func beginClosing() { state.close() }

  public func finishClosing(before deadline: ContinuousClock.Instant) -> [Unfinished] {
    if state.runsTurnsHere { return [Unfinished(name: "loop", loop: name, occupation: .closesItself)] }
    guard HostThread.wait(until: deadline, for: { state }, { state.lifecycle.wait(until: $0) }) else {
      return state.findUnfinished(isRunByOthers: thread == nil)
    }
    // The thread has run all code of others, and only has to return.
    join()
    return []
  }

  /// Waits for the end without a deadline. Returns false if that would be for ever, because the loop's thread waits for the calling
  /// thread, or for the end of one of its reads; also if it begins to wait so later.
  private func waitForEnd() -> Bool {
    let end = ThreadSignal()
    let wait = WaitGraph.Wait(
      thread: CurrentCore.threadToken, emptier: { [state] in state.ownThread.load(ordering: .relaxed) },
      isOver: { [state] in state.lifecycle.completion.isOver }, wake: { end.signal() },
      reads: WaitGraph.readsHere, isElastic: true)
    switch WaitGraph.enter(wait) {
    case .sleeps: break
    case .triesAgain: return true
    case .wouldSleepForEver: return false
    }
    defer { WaitGraph.leave(wait) }
    state.lifecycle.completion.whenOver { end.signal() }
    _ = end.wait(until: nil)
    return !wait.mustGiveUp
  }

  private func join() {
    // Not by the loop's own thread, which still runs the actions for the end of the loop. Tokens are used again:
    // a thread with the token of the loop's thread that has returned need not join it either. Relaxed: a thread that
    // finds its own token has stored it itself, or its predecessor with that token has returned.
    if state.ownThread.load(ordering: .relaxed) != CurrentCore.threadToken { thread?.join() }
  }
}

/// A thread that several threads may join: the first one does, the others wait for the first.
@usableFromInline
final class JoinOnce: Sendable {
  private let thread: SystemMutex<DedicatedThread?>

  @usableFromInline
  init(_ thread: consuming sending DedicatedThread) { self.thread = SystemMutex(thread) }

  @usableFromInline
  func join() {
    thread.withLock { thread in
      if let running = thread.take() { running.join() }
    }
  }
}
