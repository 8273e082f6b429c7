import Observation
import ReactorCore

/// The end of a ``ReactorObserving``, as a property that each of its runs reads. Its announcement makes Observation forget
/// everything else that the run has read, which would stay registered until it changes.
final class ObservingEnd: Observation.Observable, Sendable {
  private struct State: Sendable {
    var isReached = false
    var isRunning = false
    /// Runs of others that have read it, because a run was inside of them.
    var outer: [ObservingRun] = []
  }

  private let registrar = ObservationRegistrar()
  private let state = SystemMutex(State())

  private var isReached: Bool { state.withLock { $0.isReached } }

  /// Ends the observation, or lets the run end it that is in progress. Any thread.
  func reach() {
    state.withLock { $0.isReached = true }
    announce()
  }

  /// Called by a run before it reads. The loop.
  func runBegins(inside outer: [ObservingRun]) {
    state.withLock { state in
      state.isRunning = true
      state.outer.removeAll(where: \.isOver)
      state.outer += outer
    }
  }

  /// Notes that the code that is being tracked depends on the end. The loop.
  func read() { registrar.access(self, keyPath: \.isReached) }

  /// Called by a run when all that it has read is observed. The loop.
  ///
  /// - Returns: Whether the end is reached, so that nothing is observed any longer.
  func runHasEnded() -> Bool {
    let isReached = state.withLock { state in
      state.isRunning = false
      return state.isReached
    }
    if isReached { announce() }
    return isReached
  }

  /// Called by a run that has read the end, when that run is over. Any thread.
  func outerRunIsOver() { if isReached { announce() } }

  /// Makes Observation forget what the latest run has read. Any thread.
  ///
  /// Not while the run is in progress: what Observation forgets before it has registered everything would stay. Nor while a run
  /// around it observes the same, which would run again: that calls ``outerRunIsOver()``.
  func announce() {
    let outer = state.withLock { $0.isRunning ? nil : $0.outer }
    guard let outer, outer.allSatisfy(\.isOver) else { return }
    registrar.withMutation(of: self, keyPath: \.isReached) {}
  }
}
