import ReactorCore

/// A thread that runs the turns of any number of reactors, one turn at a time.
///
/// A reactor that has something to do is handed to the loop once, and stays with it until it was quiet for
/// a while; meanwhile the loop holds a reference to it, so everything that was sent is also reduced.
///
/// ``shutdown()`` ends it. A loop that goes away without it, after its last reactor, ends in the background.
public final class LoopOn<C: Core>: Sendable {
  @usableFromInline let state: LoopState<C>
  /// Nil if somebody else runs the rounds: see ``LoopStepper``.
  @usableFromInline let thread: JoinOnce?

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - name: The thread's name, cut to 15 bytes by the system.
  ///   - waiting: What the thread does while it has nothing to do.
  ///   - turnLimit: After how many actions of one reactor the next gets its turn.
  ///   - processor: The only processor that the thread may run on; nil leaves that to the system.
  /// - Throws: `CoreError.outOfMemory`, or `CoreError.processorIsInvalid`.
  @inlinable
  public init(
    name: String = "reactor-loop", waiting: WaitStrategy = .parking, turnLimit: Int = 1024,
    processor: Int? = nil
  ) throws(CoreError) {
    let state = try LoopState<C>(waiting: waiting, turnLimit: turnLimit)
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
  init(steppedFrom state: LoopState<C>) {
    self.state = state
    thread = nil
  }

  deinit { state.intake.close() }

  /// Refuses what other threads send from now on; runs what its reactors had accepted, and what these send to
  /// each other in doing so; and waits until the thread has ended. So it waits for ever for a reactor that
  /// never stops sending to itself. Any thread but the loop's own; calling it again does nothing.
  ///
  /// An action can be accepted and refused afterwards: if its reactor was not yet handed to the loop when
  /// this was called. Such actions reach the failure handler of the ``Runtime`` as ``SendError/closed``.
  public func shutdown() {
    precondition(!isCurrent, "a loop cannot shut itself down: its thread would wait for itself")
    state.intake.close()
    thread?.join()
  }

  /// Whether the calling thread is the loop's.
  @inlinable
  public var isCurrent: Bool { state.isCurrent }
}

/// A loop of the C core.
public typealias Loop = LoopOn<CCore>
