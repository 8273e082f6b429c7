import ReactorCore

/// Sending an action together with the value that a task-local has where it is sent, such as the context of a trace.
///
/// Inside of a turn, task-locals have the values of the thread that runs the turn, whichever thread has sent the action. These
/// methods give a task-local its value back while the action is processed: in `mutate`, in `reduce`, in observers, and in tasks
/// that they start.
///
/// ```swift
/// order.send(.ship, capturing: ServiceContext.$current)
/// ```
///
/// What is sent by the other methods captures nothing, and pays nothing for these. A capturing send costs three allocations if the
/// action has to wait in the mailbox, and nothing if an idle reactor on placement ``Placement/caller`` processes it at once: then
/// its thread has the value.
extension Reactor {
  /// Sends an action as ``send(_:)``, with the value that a task-local has here. Any thread.
  ///
  /// With ``OverflowPolicy/dropOldest``, an action that finds no room is sent without the value.
  ///
  /// - Parameters:
  ///   - action: The action.
  ///   - local: The task-local.
  @inlinable
  public func send<Value>(_ action: Action, capturing local: TaskLocal<Value>) {
    runtime.send(action, capturing: local, to: self)
  }

  /// Sends an action as ``trySend(_:)``, with the value that a task-local has here. Any thread.
  ///
  /// - Parameters:
  ///   - action: The action.
  ///   - local: The task-local.
  /// - Throws: Like ``trySend(_:)``; the action was not accepted then.
  @inlinable
  public func trySend<Value>(_ action: Action, capturing local: TaskLocal<Value>) throws(SendError) {
    try runtime.trySend(action, capturing: local, to: self, .never)
  }

  /// Sends an action as ``sendSuspending(_:before:)``, with the value that a task-local has here. Any task.
  ///
  /// - Parameters:
  ///   - action: The action.
  ///   - local: The task-local.
  ///   - deadline: When to give up; nil waits without a limit.
  /// - Throws: Like ``sendSuspending(_:before:)``; the action was not accepted then.
  @inlinable
  nonisolated(nonsending)
    public func sendSuspending<Value>(
      _ action: Action, capturing local: TaskLocal<Value>, before deadline: ContinuousClock.Instant? = nil
    ) async throws(SendError)
  {
    try await runtime.sendSuspending(action, capturing: local, to: self, before: deadline)
  }

  /// Sends an action that carries a reply as ``ask(_:)``, with the value that a task-local has here. Any task.
  ///
  /// - Parameters:
  ///   - local: The task-local.
  ///   - deadline: When to give up; nil waits without a limit.
  ///   - action: Returns the action for a reply. Called once, on the calling thread.
  /// - Returns: What the reactor gave to the reply.
  /// - Throws: ``AskError``.
  @inlinable
  nonisolated(nonsending)
    public func ask<Answer: Sendable, Value>(
      capturing local: TaskLocal<Value>, before deadline: ContinuousClock.Instant? = nil,
      _ action: (Reply<Answer>) -> Action
    ) async throws(AskError) -> Answer
  {
    let reply = Reply<Answer>()
    try await runtime.sendRequest(action(reply), with: reply, capturing: local, to: self, before: deadline)
    if let result = reply.poll() { return try result.get() }
    return try await runtime.awaitReply(consume reply, before: deadline)
  }
}

extension Runtime {
  /// Sends an action with the value of a task-local, and reports it if it is refused. Any thread.
  @inlinable
  func send<R: Reactor<Action, Mutation, State>, Value>(
    _ action: Action, capturing local: TaskLocal<Value>, to reactor: R
  ) {
    do {
      try trySend(action, capturing: local, to: reactor, policy == .block ? .byPolicy : .never)
    } catch {
      reportOrSendRefused(action, error, to: reactor)
    }
  }

  /// Sends an action with the value of a task-local, and throws if it is refused. Any thread.
  @inlinable
  func trySend<R: Reactor<Action, Mutation, State>, Value>(
    _ action: Action, capturing local: TaskLocal<Value>, to reactor: R, _ wait: SendWait,
    within budget: TurnBudget = .usual
  ) throws(SendError) {
    // A turn on this thread has the value without more.
    try trySend(
      action, to: reactor, wait, within: budget,
      waitingAs: .step(CapturedAction(action, of: reactor, self, local)))
  }

  /// Sends an action with the value of a task-local, and suspends the task until there is room.
  @inlinable
  nonisolated(nonsending)
    func sendSuspending<R: Reactor<Action, Mutation, State>, Value>(
      _ action: Action, capturing local: TaskLocal<Value>, to reactor: R,
      before deadline: ContinuousClock.Instant?
    ) async throws(SendError)
  {
    let budget = TurnBudget(before: deadline)
    try await retryUntilRoom(in: reactor, before: deadline, within: budget) { () throws(SendError) in
      try trySend(action, capturing: local, to: reactor, .never, within: budget)
    }
  }

  /// Sends a request with the value of a task-local, and suspends the task until there is room.
  @inlinable
  nonisolated(nonsending)
    func sendRequest<R: Reactor<Action, Mutation, State>, Answer: Sendable, Value>(
      _ action: Action, with reply: Reply<Answer>, capturing local: TaskLocal<Value>, to reactor: R,
      before deadline: ContinuousClock.Instant?
    ) async throws(AskError)
  {
    do {
      try await sendSuspending(action, capturing: local, to: reactor, before: deadline)
    } catch {
      reply.withdraw()
      throw AskError(error)
    }
  }
}
