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
