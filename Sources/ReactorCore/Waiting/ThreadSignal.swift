import Glibc

/// Wakes one thread, once: it sleeps until another thread signals, or until a deadline.
///
/// It is not a semaphore of Dispatch's, because the deadline of such a semaphore follows the wall clock on Linux: when that is
/// set, the thread wakes too early, or too late by as much. This one uses the monotonic clock.
public final class ThreadSignal: @unchecked Sendable {
  // Unchecked: `isSet` is accessed under the mutex only.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var isSet = false

  /// Creates a signal that was not given yet.
  public init() {
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Wakes the thread, now or as soon as it waits. Any thread, any number of times.
  public func signal() {
    pthread_mutex_lock(mutex)
    isSet = true
    pthread_mutex_unlock(mutex)
    // After the lock, which the thread that wakes takes at once. The caller's reference keeps the condition meanwhile.
    pthread_cond_signal(condition)
  }

  /// Sleeps until ``signal()`` was called. One thread.
  ///
  /// - Parameter deadline: When it gives up; nil is never. It never gives up earlier. It may be later by as long as the machine was
  ///   suspended.
  /// - Returns: Whether it was called; false once the deadline has passed.
  public func wait(until deadline: ContinuousClock.Instant?) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while !isSet {
      guard let deadline else {
        pthread_cond_wait(condition, mutex)
        continue
      }
      let time = MonotonicTime.presentAndTime(at: deadline)
      if time.due <= time.now { return false }
      var limit = timespec(monotonic: time.due)
      pthread_cond_timedwait(condition, mutex, &limit)
    }
    return true
  }
}

extension timespec {
  /// A time of ``MonotonicTime``.
  fileprivate init(monotonic time: Int64) {
    let (seconds, nanoseconds) = time.quotientAndRemainder(dividingBy: 1_000_000_000)
    self.init(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds))
  }
}
