import Glibc
import RawCore

/// Where threads sleep while a word has a value: a futex made of a mutex and a condition variable, since a
/// system call with a variable number of arguments cannot be made from Swift.
struct ParkingSpot {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  static var lines: Int { 2 }

  /// The parking spot that was placed there.
  init(inLine line: Int, of memory: UnsafeMutableRawPointer) {
    let first = memory.advanced(by: line * CacheLine.size)
    mutex = first.assumingMemoryBound(to: pthread_mutex_t.self)
    condition = first.advanced(by: CacheLine.size).assumingMemoryBound(to: pthread_cond_t.self)
  }

  static func place(inLine line: Int, of memory: UnsafeMutableRawPointer) throws(CoreError) {
    let mutex = CacheLine.place(pthread_mutex_t(), inLine: line, of: memory)
    let condition = CacheLine.place(pthread_cond_t(), inLine: line + 1, of: memory)
    guard pthread_mutex_init(mutex, nil) == 0 else { throw .outOfMemory }
    var attributes = pthread_condattr_t()
    guard pthread_condattr_init(&attributes) == 0 else {
      pthread_mutex_destroy(mutex)
      throw .outOfMemory
    }
    defer { pthread_condattr_destroy(&attributes) }
    // A timeout must not depend on who sets the clock.
    guard pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0,
      pthread_cond_init(condition, &attributes) == 0
    else {
      pthread_mutex_destroy(mutex)
      throw .outOfMemory
    }
  }

  func destroy() {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
  }

  /// Sleeps while `mustSleep`, at most so many nanoseconds (negative: for ever); false if they ran out.
  func park(timeoutNanoseconds: Int64, while mustSleep: () -> Bool) -> Bool {
    let isForEver = timeoutNanoseconds < 0
    var deadline = isForEver ? timespec() : timespec.now(plus: timeoutNanoseconds)
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while mustSleep() {
      if isForEver {
        pthread_cond_wait(condition, mutex)
      } else if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT {
        return !mustSleep()
      }
    }
    return true
  }

  /// Wakes everybody. Whatever made `mustSleep` false must have happened before.
  func unparkAll() {
    pthread_mutex_lock(mutex)
    // Under the lock: a sleeper that looked before it was taken is asleep by now.
    pthread_cond_broadcast(condition)
    pthread_mutex_unlock(mutex)
  }
}

extension timespec {
  /// So many nanoseconds from now, on the clock that only goes forward.
  fileprivate static func now(plus nanoseconds: Int64) -> timespec {
    let second = 1_000_000_000
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    time.tv_sec += Int(nanoseconds) / second
    time.tv_nsec += Int(nanoseconds) % second
    if time.tv_nsec >= second {
      time.tv_sec += 1
      time.tv_nsec -= second
    }
    return time
  }
}
