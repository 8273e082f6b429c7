import ReactorCore

/// A loop whose rounds somebody runs by hand, on any thread, one at a time: for tests.
package final class LoopStepper<C: Core>: Sendable {
  /// To be given to reactors as their placement. It has no thread.
  package let loop: LoopOn<C>
  private let hosting = SystemMutex(LoopHosting(patience: 0))

  /// - Parameter turnLimit: After how many actions of one reactor the next gets its turn.
  package init(turnLimit: Int) throws(CoreError) {
    loop = LoopOn(steppedFrom: try LoopState(waiting: .parking, turnLimit: turnLimit))
  }

  deinit {
    // What is left is done, as by a loop with a thread that goes away.
    shutdown()
  }

  /// Runs one turn of each reactor that has something to do; answers how many actions, mutations and other
  /// steps that were. Any thread, but not from inside a turn of this loop.
  package func step() -> Int {
    precondition(!loop.isCurrent, "a loop was stepped from inside one of its own turns")
    return hosting.withLock { hosting in
      loop.state.asCurrent {
        hosting.resume()
        defer { hosting.suspend() }
        loop.state.intake.drain { hosting.accept($0) }
        if loop.state.isClosed { hosting.close() }
        return hosting.runTurns()
      }
    }
  }

  /// Refuses what is sent from now on, and runs what was accepted. Threads: as ``step()``.
  package func shutdown() {
    precondition(!loop.isCurrent, "a loop was shut down from inside one of its own turns")
    loop.state.intake.close()
    while !isExhausted { _ = step() }
    loop.state.ending.finish()
  }

  private var isExhausted: Bool { hosting.withLock { $0.isEmpty } && loop.state.intake.isExhausted }
}
