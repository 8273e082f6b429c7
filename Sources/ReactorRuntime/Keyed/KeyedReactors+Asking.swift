import ReactorCore

/// Requests by key.
extension KeyedReactors {
  /// Sends an action that carries a reply to the reactor of a key, and returns the value with which it replies: as
  /// ``Reactor/ask(before:_:)``. Any task. The reactor is in use until then.
  ///
  /// While a reactor is made or ended, the request waits in its order among what is sent. The deadline, and a cancellation of the
  /// task, take it out again, unless it is just being handed over. They do not end a `make` that this call runs itself, nor an
  /// `onPassivate`: of another reactor above the limit, or of this key's, if that was closed.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - deadline: When to give up; nil waits without a limit. One that has passed makes no reactor.
  ///   - action: Returns the action for a reply. Called once at most, on the calling thread.
  /// - Throws: ``AskError``.
  @inlinable
  nonisolated(nonsending)
    public func ask<Value: Sendable>(
      _ key: Key, before deadline: ContinuousClock.Instant? = nil, _ action: (Reply<Value>) -> R.Action
    ) async throws(AskError) -> Value
  {
    if let reactor = findOpen(key) { return try await reactor.ask(before: deadline, action) }
    if Task.isCancelled { throw .cancelled }
    if let deadline, deadline <= .now { throw .timedOut }
    let reply = Reply<Value>()
    let reactor: R
    do throws(SendError) {
      reactor = try await send(request: reply, action, to: key, before: deadline)
    } catch {
      reply.withdraw()
      throw AskError(error)
    }
    // The runtime does not hold it.
    defer { withExtendedLifetime(reactor) {} }
    if let result = reply.poll() { return try result.get() }
    return try await reactor.runtime.awaitReply(consume reply, before: deadline)
  }

  /// Sends an action that carries a reply to the reactor of a key, and calls `completion` with the value with which it replies:
  /// as ``Reactor/ask(_:before:completion:)``. Any thread, also inside of turns. The reactor is in use until then.
  ///
  /// While a reactor is made or ended, the request waits in its order among what is sent, and this returns. It keeps its place there,
  /// also beyond the deadline.
  ///
  /// A reactor that never uses a reply that it keeps is kept itself, also when it has ended: by a request without a deadline. So give one; or
  /// let it fail the replies that it keeps when it ends (``EndObserving``).
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - action: Returns the action for a reply. Called once at most, on the calling thread.
  ///   - deadline: When to give up; nil waits without a limit. One that has passed makes no reactor.
  ///   - completion: Called with the value, or with the reason why there is none.
  @inlinable
  public func ask<Value: Sendable>(
    _ key: Key, _ action: (Reply<Value>) -> R.Action, before deadline: ContinuousClock.Instant? = nil,
    completion: @escaping @Sendable (Result<Value, AskError>) -> Void
  ) {
    let hold = KeyedWait<R>()
    let receiver = AskingCallback<Value> { result in withExtendedLifetime(hold) { completion(result) } }
    if let deadline { receiver.giveUp(at: deadline) }
    ask(key, action, receiver, hold, before: deadline)
  }

  /// Sends a request of the callback form.
  ///
  /// - Parameter hold: What the receiver lets go of when it has a result: gets the reactor.
  @inlinable
  func ask<Value: Sendable>(
    _ key: Key, _ action: (Reply<Value>) -> R.Action, _ receiver: AskingCallback<Value>, _ hold: KeyedWait<R>,
    before deadline: ContinuousClock.Instant?
  ) {
    if let reactor = findOpen(key) {
      hold.end(.success(reactor))
      return reactor.runtime.ask(action, receiver, to: reactor, before: deadline)
    }
    if let deadline, deadline <= .now { return receiver.giveUpInSequence() }
    let wait = KeyedWait<R> { outcome in
      hold.end(outcome)
      if case .failure(let reason) = outcome { receiver.refuse(reason) }
    }
    var reply = Optional(Reply(to: receiver))
    switch request(action(reply.unsafelyUnwrapped), wait, key, within: TurnBudget(before: deadline)) {
    case nil: break
    case .failure(let reason):
      // Before it is destroyed, which would report a reply that was dropped.
      reply?.withdraw()
      wait.end(.failure(reason))
    case .success(let (reactor, action)):
      hold.end(.success(reactor))
      do throws(SendError) {
        try reactor.runtime.trySend(request: action, to: reactor, before: deadline)
      } catch {
        reply?.withdraw()
        receiver.refuse(error)
      }
    }
    // This may be the last reference to the reply, and the turn, which is over, may have closed the reactor.
    let reactor = try? hold.result?.get()
    TurnMark.whileDiscarding(reactor?.runtime.mailbox.ring.isClosed == true) { reply = nil }
  }

  /// As ``send(_:to:)``, but suspends the task while there is no room, instead of its thread: as ``Reactor/sendSuspending(_:before:)``.
  /// Any task.
  ///
  /// While a reactor is made or ended, the task is suspended, and the action waits in its order among what is sent. The deadline, and a
  /// cancellation of the task, take it out again, unless it is just being handed over: then this returns when it was.
  ///
  /// - Throws: As ``Reactor/sendSuspending(_:before:)``; and ``SendError/full`` if as much waits as `waitingCapacity` allows.
  @inlinable
  nonisolated(nonsending)
    public func sendSuspending(
      _ action: R.Action, to key: Key, before deadline: ContinuousClock.Instant? = nil
    ) async throws(SendError)
  {
    if let reactor = findOpen(key) { return try await reactor.sendSuspending(action, before: deadline) }
    if Task.isCancelled { throw .cancelled }
    _ = try await send(request: action, to: key, before: deadline)
  }

  /// Makes an action and sends it. Not a part of the asking function, which would hold the action, and the reply in it, while it waits.
  @inlinable
  nonisolated(nonsending)
    func send<Value: Sendable>(
      request reply: Reply<Value>, _ action: (Reply<Value>) -> R.Action, to key: Key,
      before deadline: ContinuousClock.Instant?
    ) async throws(SendError) -> R
  {
    try await send(request: action(reply), to: key, before: deadline)
  }

  /// Sends an action to a key that has no reactor, or whose reactor was closed; returns the reactor that has accepted it.
  @inlinable
  nonisolated(nonsending)
    func send(request action: R.Action, to key: Key, before deadline: ContinuousClock.Instant?)
    async throws(SendError) -> R
  {
    let wait = KeyedWait<R>()
    guard let found = request(action, wait, key, within: TurnBudget(before: deadline)) else {
      return try await outcome(of: wait, for: key, before: deadline).get()
    }
    let (reactor, action) = try found.get()
    try await reactor.sendSuspending(action, before: deadline)
    return reactor
  }

  /// Lets a request wait for the reactor of a key, and returns nil; or returns the reactor, which does not have the action then.
  @inlinable
  func request(
    _ action: R.Action, _ wait: KeyedWait<R>, _ key: Key, within budget: TurnBudget
  ) -> Result<(reactor: R, action: R.Action), SendError>? {
    useOrKeep(.request(action, wait), key, within: budget)?.map { ($0, action) }
  }
}
