import Glibc
import Synchronization

/// A state behind a lock, which the owner takes for each action and a reader for each read.
final class LockedReads<Lock: ReadersLock>: ReadSubject {
  private let state = Lock()
  private let sign: StopSign

  init(_ sign: StopSign) { self.sign = sign }

  func own() {
    while !sign.isUp { state.write { $0.addNext() } }
  }

  func read(_ body: (ReadState) -> Void) { state.read(body) }
}

/// A lock with a state in it.
protocol ReadersLock: Sendable {
  init()
  func write(_ body: (inout ReadState) -> Void)
  func read(_ body: (ReadState) -> Void)
}

/// `Synchronization.Mutex`.
final class MutexLock: ReadersLock {
  private let state = Mutex(ReadState())

  func write(_ body: (inout ReadState) -> Void) { state.withLock { body(&$0) } }
  func read(_ body: (ReadState) -> Void) { state.withLock { body($0) } }
}

/// A pthread mutex.
///
/// `@unchecked Sendable`: the state is touched only under the mutex.
final class PthreadMutexLock: ReadersLock, @unchecked Sendable {
  private let mutex = PthreadMutex()
  private let state = Placed(ReadState())

  func write(_ body: (inout ReadState) -> Void) { mutex.withLock { body(&state.value) } }
  func read(_ body: (ReadState) -> Void) { mutex.withLock { body(state.value) } }
}

/// A pthread read-write lock, with the system's defaults, which prefer readers.
///
/// `@unchecked Sendable`: the lock lies at a fixed address; the state is written only under it, and read only
/// under it.
final class ReadWriteLock: ReadersLock, @unchecked Sendable {
  private let lock: UnsafeMutablePointer<pthread_rwlock_t>
  private let state = Placed(ReadState())

  init() {
    lock = .allocate(capacity: 1)
    pthread_rwlock_init(lock, nil)
  }

  deinit {
    pthread_rwlock_destroy(lock)
    lock.deallocate()
  }

  func write(_ body: (inout ReadState) -> Void) {
    pthread_rwlock_wrlock(lock)
    body(&state.value)
    pthread_rwlock_unlock(lock)
  }

  func read(_ body: (ReadState) -> Void) {
    pthread_rwlock_rdlock(lock)
    body(state.value)
    pthread_rwlock_unlock(lock)
  }
}
