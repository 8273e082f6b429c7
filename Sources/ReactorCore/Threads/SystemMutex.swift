import Glibc

/// A value behind a mutex of the system; for what is rare.
///
/// Inlinable, because a generic caller in another module would otherwise look types up at each call, which
/// takes longer than the mutex.
///
/// Not `Synchronization.Mutex`: on Linux that hands over through a priority-inheritance futex, which
/// collapses when threads outnumber cores, and through which ThreadSanitizer does not see.
public final class SystemMutex<Value: ~Copyable> {
  // Both in one allocation, the value behind the mutex.
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline let value: UnsafeMutablePointer<Value>

  @inlinable
  public init(_ value: consuming sending Value) {
    let alignment = max(MemoryLayout<pthread_mutex_t>.alignment, MemoryLayout<Value>.alignment)
    let offset = (MemoryLayout<pthread_mutex_t>.size + alignment - 1) & ~(alignment - 1)
    let memory = UnsafeMutableRawPointer.allocate(
      byteCount: offset + MemoryLayout<Value>.size, alignment: alignment)
    mutex = memory.bindMemory(to: pthread_mutex_t.self, capacity: 1)
    pthread_mutex_init(mutex, nil)
    self.value = (memory + offset).bindMemory(to: Value.self, capacity: 1)
    self.value.initialize(to: value)
  }

  @inlinable
  deinit {
    value.deinitialize(count: 1)
    pthread_mutex_destroy(mutex)
    UnsafeMutableRawPointer(mutex).deallocate()
  }

  /// Calls `body` while nobody else has the value. Any thread; not from inside another call.
  @inlinable
  public func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&value.pointee)
  }
}

// Unchecked: the value is touched under the mutex only, and was sent here.
extension SystemMutex: @unchecked Sendable where Value: Sendable & ~Copyable {}
