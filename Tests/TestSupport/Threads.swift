import Glibc
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

/// How long a test waits for what must happen before it fails, in seconds.
public let patience = 300

/// Opens once it was opened as often as it was told, and stays open. Whoever waits there gives up in the
/// end, so that a test of something that hangs fails instead of hanging too.
///
/// A mutex and a condition variable of the system, which ThreadSanitizer knows.
public final class Gate: @unchecked Sendable {
  // Unchecked: `missing` is touched under the mutex only.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var missing: Int

  public init(count: Int = 1) {
    missing = count
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  public func open() {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    missing -= 1
    if missing <= 0 { pthread_cond_broadcast(condition) }
  }

  /// Whether it opened in time.
  public func wait(seconds: Int = patience) -> Bool {
    var deadline = timespec()
    clock_gettime(CLOCK_REALTIME, &deadline)
    deadline.tv_sec += seconds
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while missing > 0 {
      if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { return missing <= 0 }
    }
    return true
  }

  public var isOpen: Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return missing <= 0
  }
}
