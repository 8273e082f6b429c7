import ReactorCore

/// A thread that runs the turns of any number of reactors, one turn at a time, and jobs and timers between.
///
/// A reactor that has something to do is handed to the loop once, and stays with it until it was quiet for
/// a while; meanwhile the loop holds a reference to it, so everything that was sent is also reduced.
///
/// In each round every reactor has one turn of at most `turnLimit` actions, and at most as many jobs are run;
/// so neither keeps the other waiting without bound.
///
/// ``shutdown()`` ends it. A loop that goes away without it, after its last reactor, ends in the background.
public final class Loop: Sendable {
  @usableFromInline let state: LoopState
  /// Nil if somebody else runs the rounds: see ``LoopStepper``.
  @usableFromInline let thread: JoinOnce?

  /// Starts the thread.
  ///
  /// Stops the program, with a sentence, if a limit is not positive.
  ///
  /// - Parameters:
  ///   - name: The loop's name in reports, and the thread's, of which the system keeps 15 bytes.
  ///   - waiting: What the thread does while it has nothing to do.
  ///   - turnLimit: After how many actions of one reactor the next gets its turn.
  ///   - processor: The only processor that the thread may run on; nil leaves that to the system.
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
    if !isPlaced {
      shutdown()
      throw .processorIsInvalid
    }
  }

  /// A loop without a thread.
  init(steppedFrom state: LoopState) {
    self.state = state
    thread = nil
  }

  deinit { state.intake.close() }

  /// The name that it was made with.
  public var name: String { state.name }

  /// Whether the calling thread is the loop's, so inside of a turn, a job or a timer of this loop.
  @inlinable
  public var isCurrent: Bool { state.isCurrent }
}

/// The end of a loop.
extension Loop {
  /// Refuses what other threads send from now on; runs what its reactors had accepted, what these send to
  /// each other in doing so, and the jobs; and waits until the thread has ended. So it waits for ever for a
  /// reactor that never stops sending to itself: ``shutdown(before:)`` does not.
  ///
  /// Any thread; calling it again does nothing. From inside a turn, a job or a timer of the loop it does not
  /// wait: the loop ends after it. Nor does it wait for a loop whose rounds somebody else runs.
  ///
  /// An action can be accepted and refused afterwards: if its reactor was not yet handed to the loop when
  /// this was called. Such actions reach the failure handler of the ``Runtime`` as ``SendError/closed``.
  public func shutdown() {
    state.intake.close()
    if !state.runsTurnsHere { join() }
  }

  /// As ``shutdown()``, but does not wait longer than until that time. A loop that is stuck is left to itself.
  ///
  /// - Throws: ``ShutdownError/unfinished(_:)``, which says which reactors had something to do, and what;
  ///   ``ShutdownError/insideItself(loop:)`` at once if it was called from inside the loop.
  public func shutdown(before deadline: ContinuousClock.Instant) throws(ShutdownError) {
    beginClosing()
    if state.runsTurnsHere { throw .insideItself(loop: name) }
    let unfinished = finishClosing(before: deadline)
    if !unfinished.isEmpty { throw .unfinished(unfinished) }
  }
}

extension Loop: Closeable {
  public func beginClosing() { state.intake.close() }

  public func finishClosing(before deadline: ContinuousClock.Instant) -> [Unfinished] {
    if state.runsTurnsHere { return [Unfinished(name: "loop", loop: name, occupation: .closesItself)] }
    guard state.ending.wait(until: deadline) else { return state.unfinished(isRunByOthers: thread == nil) }
    // It has run its last turn, and only has to return.
    join()
    return []
  }

  private func join() {
    // When the loop is over its thread still reports what was lost. Who gets the token of one that has ended
    // need not wait either. Relaxed: nobody else finds its own token there.
    if state.thread.load(ordering: .relaxed) != CurrentCore.threadToken { thread?.join() }
  }
}

extension LoopState {
  /// What has not ended, and what it is doing. Any thread.
  func unfinished(isRunByOthers: Bool) -> [Unfinished] {
    let time = Duration.nanoseconds(
      max(0, MonotonicTime.now - monitor.heartbeat.load(ordering: .relaxed)))
    let (running, job) = (wasRunning, UInt(1))
    var found: [(reactor: any AnyObject.Type, occupation: Unfinished.Occupation)] = []
    monitor.hosted.forEachLocked { scheduled in
      let isRunning = running == UInt(bitPattern: scheduled.runtime)
      found.append(
        (
          type(of: scheduled.reactor),
          isRunning ? .busy(time) : .waiting(actions: scheduled.serve(.count))
        ))
    }
    var unfinished = found.map {
      Unfinished(name: String(reflecting: $0.reactor), loop: name, occupation: $0.occupation)
    }
    let waiting = intake.wasCounts
    if waiting.reactors > 0 {
      unfinished.append(
        Unfinished(name: "reactors", loop: name, occupation: .waiting(actions: waiting.reactors)))
    }
    let jobs = waiting.jobs + monitor.tasksNow.load(ordering: .relaxed)
    if running == job {
      unfinished.append(Unfinished(name: "jobs", loop: name, occupation: .busy(time)))
    } else if jobs > 0 {
      unfinished.append(Unfinished(name: "jobs", loop: name, occupation: .waiting(actions: jobs)))
    }
    if unfinished.isEmpty || (isRunByOthers && running == 0) {
      let occupation = isRunByOthers ? Unfinished.Occupation.notRun : .waiting(actions: 0)
      unfinished.append(Unfinished(name: "loop", loop: name, occupation: occupation))
    }
    return unfinished
  }
}

/// A thread that several threads may want to wait for; the first joins, the others wait for the first.
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
