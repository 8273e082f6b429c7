import ReactorCore
import ReactorRuntime

/// A loop without a thread: it runs its reactors' turns when a test calls ``step()``, on the test's thread.
///
/// ```swift
/// let loop = try SteppedLoop()
/// let counter = Counter(on: loop.placement)
/// counter.send(.increase)
/// #expect(counter.currentState.value == 0)
/// loop.step()
/// #expect(counter.currentState.value == 1)
/// ```
///
/// A send to a full mailbox waits for room, as on any loop. A test that both sends and steps would wait for its
/// own next step, so it must use `trySend` there. Any thread may send; any thread may step, one at a time.
public final class SteppedLoop: Sendable {
  private let stepper: LoopStepper

  /// - Parameter turnLimit: The most actions of one reactor that a step processes.
  /// - Throws: `CoreError.outOfMemory`.
  public init(turnLimit: Int = 1024) throws(CoreError) {
    stepper = try LoopStepper(turnLimit: turnLimit)
  }

  /// The placement for reactors whose turns this loop runs.
  public var placement: Placement { .loop(stepper.loop) }

  /// Runs the jobs that wait, the timers that are due, and one turn of each reactor that has work.
  ///
  /// - Returns: The number of items processed: actions, mutations that streams emitted outside of turns, jobs and timers.
  @discardableResult
  public func step() -> Int { stepper.step() }

  /// Steps until no reactor has work and no job waits. A timer that is not due is no work.
  ///
  /// - Parameter limit: The number of steps after which it gives up, because a reactor that keeps sending to
  ///   itself always has work.
  /// - Returns: Whether no work is left, also if it was the last of these steps that has done it.
  @discardableResult
  public func run(limit: Int = 10_000) -> Bool {
    for _ in 0..<limit where stepper.step() == 0 {
      // A round without items may have made work for the next one, as a reactor does that ends and tells another.
      if !stepper.hasWork { return true }
    }
    return !stepper.hasWork
  }

  /// Refuses what is sent from now on, and runs what was accepted. Freeing the loop does the same.
  public func shutdown() { stepper.shutdown() }
}
