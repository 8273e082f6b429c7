import Glibc

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
