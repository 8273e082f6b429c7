import Glibc

/// A plain pthread mutex with a condition, as a baseline's author would use it.
///
/// `@unchecked Sendable`: the two objects lie at fixed addresses, and their functions may be called from
/// any thread.
final class PthreadMutex: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  init() {
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  @inline(__always)
  func withLock<Result>(_ body: () throws -> Result) rethrows -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body()
  }

  /// Releases the lock, which must be held, until somebody signals or a moment has passed.
  func wait() {
    var until = timespec()
    clock_gettime(CLOCK_REALTIME, &until)
    until.tv_sec += 1
    pthread_cond_timedwait(condition, mutex, &until)
  }

  func signal() {
    pthread_cond_signal(condition)
  }
}
