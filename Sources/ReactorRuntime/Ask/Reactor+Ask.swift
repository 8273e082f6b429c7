import ReactorCore

extension Reactor {
  /// Sends an action that carries a reply, and returns the value with which the reactor replies. Any task.
  ///
  /// ```swift
  /// let balance = try await account.ask { reply in .withdraw(5, reply) }
  /// ```
  ///
  /// What the reactor's turn did can be read when this returns: see ``Reply``. If an idle reactor on placement
  /// ``Placement/caller`` replies in that turn, this returns without a suspension. While there is no room in the mailbox,
  /// the task is suspended, as in ``sendSuspending(_:before:)``.
  ///
  /// If it gives up because of a cancellation, the reactor may still process the action; the reply has no effect then.
  ///
  /// If the stream that `mutate` returned fails, this throws ``AskError/dropped``, but not before the failure handler has let
  /// go of the ``Failure``, whose action carries the reply. A handler that keeps the failure keeps this waiting.
  ///
  /// - Parameter action: Returns the action for a reply. Called once, on the calling thread.
  /// - Returns: What the reactor gave to the reply.
  /// - Throws: ``AskError``.
  /// - Complexity: One allocation; some more if the task has to wait.
  // Not a deadline with a default: an optional instant, whose layout is looked up when the program runs, costs a tenth of this.
  @inlinable
  @inline(__always)
  nonisolated(nonsending)
    public func ask<Value: Sendable>(_ action: (Reply<Value>) -> Action) async throws(AskError) -> Value
  {
    if Task.isCancelled { throw .cancelled }
    let reply = Reply<Value>()
    if let refused = try runtime.trySendRequest(with: reply, action, to: self, within: .usual) {
      try await runtime.sendRequest(refused, with: reply, to: self, before: nil)
    }
    if let result = reply.poll() { return try result.get() }
    return try await runtime.awaitReply(consume reply, before: nil)
  }

  /// As ``ask(_:)``, and gives up at a deadline, also if a failure handler keeps the reply.
  ///
  /// If it gives up, the reactor may still process the action; the reply has no effect then.
  ///
  /// - Parameters:
  ///   - deadline: When to give up; nil waits without a limit. One that has passed keeps no action from being sent, if there is room.
  ///   - action: Returns the action for a reply. Called once, on the calling thread.
  /// - Returns: What the reactor gave to the reply.
  /// - Throws: ``AskError``.
  /// - Complexity: One allocation; some more if the task has to wait.
  @inlinable
  @inline(__always)
  nonisolated(nonsending)
    public func ask<Value: Sendable>(
      before deadline: ContinuousClock.Instant?, _ action: (Reply<Value>) -> Action
    ) async throws(AskError) -> Value
  {
    if Task.isCancelled { throw .cancelled }
    let reply = Reply<Value>()
    let budget = TurnBudget(before: deadline)
    if let refused = try runtime.trySendRequest(with: reply, action, to: self, within: budget) {
      try await runtime.sendRequest(refused, with: reply, to: self, before: deadline)
    }
    if let result = reply.poll() { return try result.get() }
    return try await runtime.awaitReply(consume reply, before: deadline)
  }

  /// Sends an action that carries a reply, and calls `completion` with the value with which the reactor replies. Any
  /// thread, also inside of turns. For event loops, and wherever there is no task.
  ///
  /// ```swift
  /// account.ask({ reply in .balance(reply) }, before: .now + .seconds(1)) { result in … }
  /// ```
  ///
  /// The action is sent as by ``send(_:)``: if there is no room, the ``OverflowPolicy`` decides whether this waits. With
  /// ``OverflowPolicy/block`` it waits until the deadline at most.
  ///
  /// `completion` is called exactly once:
  ///
  /// | why | on which thread |
  /// |---|---|
  /// | the reply was used in a turn | the one that ran the turn, when its state can be read; with placement ``Placement/caller`` that may be the calling thread, before this returns |
  /// | the reply was used, or dropped, outside of turns | the one that did it, at once |
  /// | the deadline has passed | one of Dispatch |
  /// | the action was refused | the calling thread, before this returns; inside of a turn, after that |
  ///
  /// `completion` must not block, since the next turn may wait for it. A send in it does not wait for room, as inside of a
  /// turn. It may ask again: then its turn has ended before the next completion is called, so nothing is recursive.
  ///
  /// - Parameters:
  ///   - action: Returns the action for a reply. Called once, on the calling thread.
  ///   - deadline: When to give up; nil waits without a limit.
  ///   - completion: Called with the value, or with the reason why there is none.
  /// - Complexity: Three allocations, besides those of the closures; with a deadline two more.
  @inlinable
  public func ask<Value: Sendable>(
    _ action: (Reply<Value>) -> Action, before deadline: ContinuousClock.Instant? = nil,
    completion: @escaping @Sendable (Result<Value, AskError>) -> Void
  ) {
    let receiver = AskingCallback(completion)
    if let deadline { receiver.giveUp(at: deadline) }
    runtime.ask(action, receiver, to: self, before: deadline)
  }
}

extension Runtime {
  /// Makes an action and sends it, without waiting for room. Returns the action if there is none.
  ///
  /// This is not a part of the asking function, which would hold the action, and the reply in it, while it waits.
  @inlinable
  func trySendRequest<R: Reactor<Action, Mutation, State>, Value: Sendable>(
    with reply: Reply<Value>, _ action: (Reply<Value>) -> Action, to reactor: R, within budget: TurnBudget
  ) throws(AskError) -> Action? {
    let action = action(reply)
    do {
      try trySend(action, to: reactor, .never, within: budget)
      return nil
    } catch .full {
      return action
    } catch .reentrantOverflow {
      return action
    } catch {
      reply.withdraw()
      throw AskError(error)
    }
  }

  /// Sends a request, and suspends the task until there is room.
  @inlinable
  @inline(never)
  nonisolated(nonsending)
    func sendRequest<R: Reactor<Action, Mutation, State>, Value: Sendable>(
      _ action: Action, with reply: Reply<Value>, to reactor: R, before deadline: ContinuousClock.Instant?
    ) async throws(AskError)
  {
    do {
      try await sendSuspending(action, to: reactor, before: deadline)
    } catch {
      reply.withdraw()
      throw AskError(error)
    }
  }

  /// Suspends the task until there is a result.
  ///
  /// - Parameter reply: The asker's only reference: from now on the reactor's are the only ones, so a reply that the reactor
  ///   drops is destroyed.
  @inlinable
  @inline(never)
  nonisolated(nonsending)
    func awaitReply<Value: Sendable>(
      _ reply: consuming Reply<Value>, before deadline: ContinuousClock.Instant?
    ) async throws(AskError) -> Value
  {
    let receiver = AskingTask<Value>()
    if let result = (consume reply).wait(with: receiver) { return try result.get() }
    await waitOrGiveUp(at: deadline) {
      await receiver.wait()
    } giveUp: { reason in
      receiver.fail(reason == .timedOut ? .timedOut : .cancelled)
    }
    let result = receiver.takeResult()
    if case .failure(.dropped) = result, isClosedOrOnClosedLoop { throw .closed }
    return try result.get()
  }

  /// Whether a reply that was dropped may have been dropped because of an end. Any thread.
  @usableFromInline
  var isClosedOrOnClosedLoop: Bool { mailbox.ring.isClosed || loop?.isClosed == true }

  /// Sends a request of the callback form. Any thread.
  @inlinable
  func ask<R: Reactor<Action, Mutation, State>, Value: Sendable>(
    _ action: (Reply<Value>) -> Action, _ receiver: AskingCallback<Value>, to reactor: R,
    before deadline: ContinuousClock.Instant?
  ) {
    var reply = Optional(Reply(to: receiver))
    do throws(SendError) {
      try trySend(request: action(reply.unsafelyUnwrapped), to: reactor, before: deadline)
      // This may be the last reference to the reply, and the turn, which is over, may have closed the reactor.
      TurnMark.whileDiscarding(mailbox.ring.isClosed) { reply = nil }
    } catch {
      // Before the action is destroyed, which would report a reply that was dropped.
      reply?.withdraw()
      receiver.refuse(error)
    }
  }

  /// Sends the action of a request of the callback form, and throws if it is refused. Any thread.
  @inlinable
  func trySend<R: Reactor<Action, Mutation, State>>(
    request action: Action, to reactor: R, before deadline: ContinuousClock.Instant?
  ) throws(SendError) {
    let budget = TurnBudget(before: deadline)
    var wait = SendWait.byPolicy
    if policy == .block, case .until(let deadline) = budget { wait = .until(deadline) }
    try trySend(action, to: reactor, wait, within: budget)
  }
}
