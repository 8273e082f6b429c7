import Glibc

/// Lets several threads hold a value that cannot be copied.
public final class Shared<Value: ~Copyable & Sendable>: Sendable {
  public let value: Value

  public init(_ value: consuming Value) { self.value = value }
}

/// A list to which several threads append.
///
/// Uses the system's mutex, which ThreadSanitizer understands; it does not understand the standard library's.
public final class Record<Element: Sendable>: @unchecked Sendable {
  // Unchecked: `written` is accessed under the mutex only.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var written: [Element] = []

  public init() { pthread_mutex_init(mutex, nil) }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  public func append(_ element: Element) {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    written.append(element)
  }

  public var elements: [Element] {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return written
  }
}
