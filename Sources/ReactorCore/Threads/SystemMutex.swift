import Glibc

/// A value behind a mutex of the system. For operations that are rare.
///
/// It is inlinable, because a generic caller in another module would otherwise look up types at each call, which takes
/// longer than the mutex.
///
/// It does not use `Synchronization.Mutex`: on Linux that is a priority-inheritance futex, which becomes very slow when
/// there are more threads than cores, and which ThreadSanitizer does not understand.
public final class SystemMutex<Value: ~Copyable> {
  // One allocation: the mutex, then the value.
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline let value: UnsafeMutablePointer<Value>

  /// Creates an unlocked mutex with a value.
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

  /// Calls `body` with the value while no other thread accesses it. Any thread, but not inside of another call.
  @inlinable
  public func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&value.pointee)
  }

  /// As ``withLock(_:)``, but returns nil at once if another thread has the lock. Any thread, but not inside of another call.
  @inlinable
  public func withLockIfAvailable<Result>(_ body: (inout Value) -> Result) -> Result? {
    guard pthread_mutex_trylock(mutex) == 0 else { return nil }
    defer { pthread_mutex_unlock(mutex) }
    return body(&value.pointee)
  }
}

// Unchecked: the value is accessed only under the mutex, and the initializer takes it with `sending`.
extension SystemMutex: @unchecked Sendable where Value: Sendable & ~Copyable {}
