/// Lets other tasks run until `condition` holds; returns false if it did not hold in time. For tests that are tasks
/// themselves: they must block neither a thread of the pool, which what they wait for may need, nor the main actor.
///
/// It also sleeps: then the main queue gets its turn, and a wait does not take the processor from what it waits for.
public func eventually(
  isolation: isolated (any Actor)? = #isolation, seconds: Int = patience, _ condition: () -> Bool
) async -> Bool {
  let deadline = ContinuousClock.now + .seconds(seconds)
  var tries = 0
  while !condition() {
    if ContinuousClock.now > deadline { return false }
    tries += 1
    if tries < 64 { await Task.yield() } else { try? await Task.sleep(for: .milliseconds(1)) }
  }
  return true
}
