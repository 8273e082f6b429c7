import Glibc
import ReactorCore

/// Threads that belong to a test. If one blocks, it does not block the thread pool that runs the tests.
public enum Threads {
  /// Runs `body` on `count` threads at once and waits for all of them. Returns false if they did not end in time:
  /// then they go on, and the test should fail.
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

  /// Starts one thread. Returns a gate that opens when the thread has ended.
  public static func start(_ body: @escaping @Sendable () -> Void) -> Gate {
    let finished = Gate()
    _ = DedicatedThread(named: "test") {
      body()
      finished.open()
    }
    return finished
  }

  /// Yields until `condition` holds. Returns false if it did not hold in time.
  ///
  /// It also sleeps now and then. The pool that runs the tests, and what they give to Dispatch, adds a thread in place of one that
  /// sleeps; but if a few of them only yield, it believes that they work, and nothing that they wait for gets a thread.
  public static func yield(seconds: Int = patience, until condition: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + .seconds(seconds)
    var tries = 0
    while !condition() {
      if ContinuousClock.now > deadline { return false }
      tries += 1
      if tries % 256 == 0 { usleep(500) } else { DedicatedThread.yield() }
    }
    return true
  }
}

/// How many seconds a test waits for something that must happen before it fails.
public let patience = 300

/// Opens after `count` calls of `open()`, and stays open. Waiting has a time limit, so that a test of something that
/// hangs fails instead of hanging too.
///
/// Uses the system's mutex and condition variable, which ThreadSanitizer understands.
public final class Gate: @unchecked Sendable {
  // Unchecked: `missing` is accessed under the mutex only.
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

  /// Waits until the gate is open. Returns false if it did not open in time.
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
