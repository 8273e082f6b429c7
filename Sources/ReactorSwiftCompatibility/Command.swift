/// Work that fires events, at once or later: a request, a query, a timer.
@preconcurrency
public protocol Command: Sendable {
  associatedtype StateType: State

  /// Does the work. Runs on a queue of the core's that runs its commands one at a time, in the order in which they were
  /// fired. So a command that blocks delays later commands, but no event.
  ///
  /// - Parameters:
  ///   - state: The state after all events that were fired before the command.
  ///   - core: The core. Events that are fired here come behind those that were fired before.
  func execute(state: StateType, core: Core<StateType>)
}
