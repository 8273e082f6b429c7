import ReactorCore

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
    rounds.withLock { ($0.isResting, $0.errands.deadline) }
  }
}
