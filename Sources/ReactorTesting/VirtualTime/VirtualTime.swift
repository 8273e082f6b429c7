import ReactorRuntime

/// Makes virtual time the time of the operators that are made in `body` and are not told a scheduler.
///
/// It holds for this thread, not for operators that a reactor on a loop of its own makes in its turns: tell
/// those.
public func withVirtualTime<Result>(
  _ scheduler: TestScheduler, _ body: () throws -> Result
) rethrows -> Result {
  try Schedulers.$timing.withValue(scheduler, operation: body)
}

/// Makes virtual time the time of the operators that are made in `body`, and in the tasks that it starts, and
/// are not told a scheduler.
public func withVirtualTime<Result>(
  _ scheduler: TestScheduler, isolation: isolated (any Actor)? = #isolation,
  _ body: () async throws -> Result
) async rethrows -> Result {
  try await Schedulers.$timing.withValue(scheduler, operation: body)
}
