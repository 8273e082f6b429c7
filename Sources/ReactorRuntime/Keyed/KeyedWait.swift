import ReactorCore

/// A task that waits for the reactor of a key. It gets the first of several results.
@usableFromInline
final class KeyedWait<R: Reactor>: Sendable {
  @usableFromInline typealias Outcome = Result<R, SendError>

  private let awaited = AwaitedValue<Outcome>()

  @usableFromInline init() {}

  /// The result, if there is one already: then no timer is needed. Any thread.
  @usableFromInline var result: Outcome? { awaited.current }

  /// Suspends the task until there is a result. The task, once.
  @usableFromInline
  nonisolated(nonsending) func outcome() async -> Outcome { await awaited.get() }

  /// Ends the wait. Any thread.
  ///
  /// - Returns: False if there was a result before.
  @usableFromInline
  @discardableResult
  func end(_ outcome: Outcome) -> Bool { awaited.set(outcome) }
}

extension KeyedReactors {
  /// Returns the reactor of a key, and makes it if there is none; waits until the deadline, or until the task is cancelled. Any
  /// task.
  // Inlinable, like all code that makes reactors: what first uses one decides how its loop calls it.
  @inlinable
  @inline(never)
  nonisolated(nonsending)
    func waitForReactor(of key: Key, before deadline: ContinuousClock.Instant?)
    async throws(SendError) -> R
  {
    let wait = KeyedWait<R>()
    if let result = useOrKeep(.use(wait), key) { return try result.get() }
    if let result = wait.result { return try result.get() }
    return try await outcome(of: wait, for: key, before: deadline).get()
  }

  /// Suspends the task until its wait ends.
  @usableFromInline
  nonisolated(nonsending)
    func outcome(of wait: KeyedWait<R>, for key: Key, before deadline: ContinuousClock.Instant?)
    async
    -> KeyedWait<R>.Outcome
  {
    return await waitOrGiveUp(at: deadline) {
      await wait.outcome()
    } giveUp: { [self] reason in
      giveUp(wait, for: key, reason == .timedOut ? .timedOut : .cancelled)
    }
  }

  /// Ends the wait of a task, unless it has a result, and frees its place among those that wait. Any thread.
  private func giveUp(_ wait: KeyedWait<R>, for key: Key, _ reason: SendError) {
    if !wait.end(.failure(reason)) { return }
    withShard(hash(of: key)) { shard, _ in shard.removeWait(wait, for: key) }
  }
}
