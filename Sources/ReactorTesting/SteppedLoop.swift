import ReactorCore
import ReactorRuntime

/// A loop without a thread: its reactors' turns run when a test says so, on the test's thread.
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
/// Whoever sends more than a mailbox holds between two steps waits for room as ever, so a test that would
/// wait for its own next step must use `trySend`. Any thread may step, one at a time, and send.
public final class SteppedLoop: Sendable {
  private let stepper: LoopStepper

  /// - Parameter turnLimit: How many actions of one reactor a step processes at most.
  /// - Throws: `CoreError.outOfMemory`.
  public init(turnLimit: Int = 1024) throws(CoreError) {
    stepper = try LoopStepper(turnLimit: turnLimit)
  }

  /// Where a reactor is to be placed so that its turns run here.
  public var placement: Placement { .loop(stepper.loop) }

  /// Runs one turn of each reactor that has something to do.
  ///
  /// - Returns: How many actions, and mutations that came from elsewhere, that were.
  @discardableResult
  public func step() -> Int { stepper.step() }

  /// Steps until nothing is left to do.
  ///
  /// - Parameter limit: After how many steps it gives up: a reactor that goes on sending to itself never
  ///   ends.
  /// - Returns: Whether nothing is left.
  @discardableResult
  public func run(limit: Int = 10_000) -> Bool {
    for _ in 0..<limit where stepper.step() == 0 { return true }
    return false
  }

  /// Refuses what is sent from now on, and runs what was accepted. It also happens when this goes away.
  public func shutdown() { stepper.shutdown() }
}
