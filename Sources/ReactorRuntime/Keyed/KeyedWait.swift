import ReactorCore

/// A request, or a task, that waits for the reactor of a key. It gets the first of several results, and holds the reactor.
@usableFromInline
final class KeyedWait<R: Reactor>: Sendable {
  @usableFromInline typealias Outcome = Result<R, SendError>

  private let awaited = AwaitedValue<Outcome>()
  private let onEnd: (@Sendable (Outcome) -> Void)?
  /// The action of a request that has given up, until this goes away.
  private let withdrawn = SystemMutex<R.Action?>(nil)

  /// - Parameter onEnd: Called with the result, on the thread that has it.
  @usableFromInline
  init(onEnd: (@Sendable (Outcome) -> Void)? = nil) { self.onEnd = onEnd }

  /// The result, if there is one already: then no deadline is needed. Any thread.
  @usableFromInline var result: Outcome? { awaited.current }

  /// Suspends the task until there is a result. The task, once.
  @usableFromInline
  nonisolated(nonsending) func outcome() async -> Outcome { await awaited.get() }

  /// Ends the wait of a request that was taken out of what waits, or of a task. Any thread.
  ///
  /// The action is destroyed with this object, by the task: here may be the middle of its cancellation, in which no other code should run.
  func giveUp(_ action: R.Action?, _ reason: SendError) {
    withdrawn.withLock { $0 = action }
    end(.failure(reason))
  }

  /// Ends the wait. Any thread.
  ///
  /// - Returns: False if there was a result before.
  @usableFromInline
  @discardableResult
  func end(_ outcome: Outcome) -> Bool {
    if !awaited.set(outcome) { return false }
    onEnd?(outcome)
    return true
  }
}

extension KeyedReactors {
  /// Returns the reactor of a key, and makes it if there is none; waits until the task is cancelled. Any task.
  // Inlinable, like all code that makes reactors: what first uses one decides how its loop calls it.
  @inlinable
  @inline(never)
  nonisolated(nonsending)
    func waitForReactor(of key: Key) async throws(SendError) -> R
  {
    let wait = KeyedWait<R>()
    if let result = useOrKeep(.use(wait), key) { return try result.get() }
    return try await outcome(of: wait, for: key, before: nil).get()
  }

  /// Suspends the task until its wait ends.
  @usableFromInline
  nonisolated(nonsending)
    func outcome(of wait: KeyedWait<R>, for key: Key, before deadline: ContinuousClock.Instant?)
    async
    -> KeyedWait<R>.Outcome
  {
    if let result = wait.result { return result }
    return await waitOrGiveUp(at: deadline) {
      await wait.outcome()
    } giveUp: { [self] reason in
      giveUp(wait, for: key, reason == .timedOut ? .timedOut : .cancelled)
    }
  }

  /// Ends the wait of a task, and frees its place among those that wait. If it has no place any more, another thread is delivering it, and
  /// ends the wait: so what has given up was not accepted. Any thread.
  private func giveUp(_ wait: KeyedWait<R>, for key: Key, _ reason: SendError) {
    if let taken = withShard(hash(of: key), { shard, _ in shard.takeOut(wait, for: key) }) {
      wait.giveUp(taken.action, reason)
    }
  }
}
