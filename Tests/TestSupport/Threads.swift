import ReactorCore

/// Threads of a test's own, so that what blocks does not block the pool that runs the tests.
public enum Threads {
  /// Runs `body` on so many threads at once and waits for all; false if they did not end in time. Those
  /// go on then, and the test has failed.
  public static func run(
    _ count: Int, seconds: Int = patience, _ body: @escaping @Sendable (Int) -> Void
  ) -> Bool {
    let ready = Gate(count: count)
    let finished = Gate(count: count)
    for index in 0..<count {
      _ = DedicatedThread(named: "test-\(index)") {
        ready.open()
        _ = ready.wait()
        body(index)
        finished.open()
      }
    }
    return finished.wait(seconds: seconds)
  }

  /// Starts one thread and answers the gate that opens when it has ended.
  public static func start(_ body: @escaping @Sendable () -> Void) -> Gate {
    let finished = Gate()
    _ = DedicatedThread(named: "test") {
      body()
      finished.open()
    }
    return finished
  }

  /// Yields until `condition` holds; false if it did not in time.
  public static func yield(seconds: Int = patience, until condition: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while !condition() {
      if ContinuousClock.now > deadline { return false }
      DedicatedThread.yield()
    }
    return true
  }
}
