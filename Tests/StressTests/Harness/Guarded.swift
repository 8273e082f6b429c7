#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// A value behind a mutex of the system: ThreadSanitizer knows that one. What the standard library's mutex
/// does when it is contended happens in the kernel, where ThreadSanitizer does not see it.
final class Guarded<Value: Sendable>: @unchecked Sendable {
  // Unchecked: `value` is touched under the mutex only.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var value: Value

  init(_ value: Value) {
    self.value = value
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func with<Result>(_ body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&value)
  }
}
