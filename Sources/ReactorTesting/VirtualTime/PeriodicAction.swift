import ReactorCore
import ReactorRuntime

/// An action that runs again and again in virtual time, until it is disposed.
final class PeriodicAction: Disposable {
  private struct State: Sendable {
    var action: (@Sendable () -> Void)?
    /// What cancels the next run, and that run's number.
    var next: (any Disposable)?
    var tick = 0
  }

  private let state: SystemMutex<State>

  init(_ action: @escaping @Sendable () -> Void) { state = SystemMutex(State(action: action)) }

  func run() { state.withLock { $0.action }?() }

  /// Notes what cancels a run; two threads may do that in the wrong order, if one schedules while time goes
  /// by on the other.
  func hold(_ next: any Disposable, _ tick: Int) {
    let isOver = state.withLock { state in
      if state.action == nil { return true }
      if tick > state.tick {
        state.next = next
        state.tick = tick
      }
      return false
    }
    if isOver { next.dispose() }
  }

  func dispose() {
    let (action, next) = state.withLock { ($0.action.take(), $0.next.take()) }
    next?.dispose()
    withExtendedLifetime(action) {}
  }
}
