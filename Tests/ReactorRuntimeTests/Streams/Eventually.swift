import TestSupport

/// Lets other tasks run until `condition` holds; false if it did not in time. For tests that are tasks
/// themselves and must not block the pool of threads.
func eventually(_ condition: () -> Bool) async -> Bool {
  let deadline = ContinuousClock.now + .seconds(patience)
  while !condition() {
    if ContinuousClock.now > deadline { return false }
    await Task.yield()
  }
  return true
}
