import CBenchmarkLimits
import Glibc
import Synchronization

/// A state behind a lock, which the owner takes for each action and a reader for each read.
final class LockedReads<Lock: ReadersLock>: ReadSubject {
  private let state = Lock()
  private let sign: StopSign

  init(_ sign: StopSign) { self.sign = sign }

  func own() {
    var work: UInt64 = 1
    while !sign.isUp {
      work = bl_compute(work)
      state.write { $0.addNext() }
    }
  }

  func read(_ body: (ReadState) -> Void) { state.read(body) }
}

/// The same lock, which the owner takes once per turn.
final class LockedTurnReads<Lock: ReadersLock>: ReadSubject {
  private let state = Lock()
  private let sign: StopSign

  init(_ sign: StopSign) { self.sign = sign }

  func own() { publishTurns(until: sign) { turn in state.write { $0 = turn } } }

  func read(_ body: (ReadState) -> Void) { state.read(body) }
}

/// A lock with a state in it. A reader copies the two words under the lock: what it does with them must not keep others out.
protocol ReadersLock: Sendable {
  init()
  func write(_ body: (inout ReadState) -> Void)
  func read(_ body: (ReadState) -> Void)
}

/// `Synchronization.Mutex`.
final class MutexLock: ReadersLock {
  private let state = Mutex(ReadState())

  func write(_ body: (inout ReadState) -> Void) { state.withLock { body(&$0) } }
  func read(_ body: (ReadState) -> Void) { body(state.withLock { $0 }) }
}

/// A pthread mutex.
///
/// `@unchecked Sendable`: the state is used only under the mutex.
final class PthreadMutexLock: ReadersLock, @unchecked Sendable {
  private let mutex = PthreadMutex()
  private let state = Placed(ReadState())

  func write(_ body: (inout ReadState) -> Void) { mutex.withLock { body(&state.value) } }
  func read(_ body: (ReadState) -> Void) { body(mutex.withLock { state.value }) }
}

/// A pthread read-write lock with the system's defaults, which prefer readers.
///
/// `@unchecked Sendable`: the lock is at a fixed address, and the state is used only under it.
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
    let copy = state.value
    pthread_rwlock_unlock(lock)
    body(copy)
  }
}

/// A reference to an immutable state. The owner exchanges it once per turn, and a reader retains it: see `bl_reference.h`.
///
/// `@unchecked Sendable`: the functions that take `reference` may be called from any thread.
final class ReferenceReads: ReadSubject, @unchecked Sendable {
  private final class Snapshot: Sendable {
    let state: ReadState
    init(_ state: ReadState) { self.state = state }
  }

  private let reference: OpaquePointer
  private let sign: StopSign

  init(_ sign: StopSign) throws {
    guard let reference = bl_reference_create(Self.retained(ReadState())) else {
      throw SubjectFailure("out of memory")
    }
    self.reference = reference
    self.sign = sign
  }

  deinit { bl_reference_destroy(reference) }

  func own() { publishTurns(until: sign) { bl_reference_exchange(reference, Self.retained($0)) } }

  @inline(__always)
  func read(_ body: (ReadState) -> Void) {
    // Not null: it is never exchanged for a null pointer.
    let loaded = bl_reference_load(reference)!
    Unmanaged<Snapshot>.fromOpaque(loaded)._withUnsafeGuaranteedRef { body($0.state) }
    bl_reference_release(loaded)
  }

  private static func retained(_ state: ReadState) -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(Snapshot(state)).toOpaque()
  }
}

/// liburcu: the owner publishes a node once per turn. The previous one is freed after a grace period.
///
/// `@unchecked Sendable`: any thread reads, and one publishes.
final class RCUReads: ReadSubject, @unchecked Sendable {
  private let rcu: UnsafeMutablePointer<bl_rcu>
  private let sign: StopSign

  init(_ sign: StopSign) throws {
    guard let rcu = bl_rcu_create(bl_snapshot()) else { throw SubjectFailure("out of memory") }
    self.rcu = rcu
    self.sign = sign
  }

  deinit {
    bl_rcu_destroy(rcu)
  }

  func enterThread() { bl_rcu_enter_thread() }
  func leaveThread() { bl_rcu_leave_thread() }

  func own() {
    publishTurns(until: sign) { state in
      guard bl_rcu_publish(rcu, bl_snapshot(count: state.count, sum: state.sum)) else {
        preconditionFailure("out of memory")
      }
    }
  }

  @inline(__always)
  func read(_ body: (ReadState) -> Void) {
    let snapshot = bl_rcu_read(rcu)
    body(ReadState(count: snapshot.count, sum: snapshot.sum))
  }
}
