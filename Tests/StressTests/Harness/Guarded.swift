#if canImport(Glibc)
  import Glibc
#else
  import Musl
#endif

/// A value behind the system's mutex, which ThreadSanitizer understands. When the standard library's mutex is
/// contended it is handed over in the kernel, where ThreadSanitizer does not see it.
final class Guarded<Value: Sendable>: @unchecked Sendable {
  // Unchecked: `value` is accessed under the mutex only.
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
