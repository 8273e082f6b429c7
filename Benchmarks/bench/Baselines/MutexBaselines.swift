import Glibc
import Synchronization

/// `Synchronization.Mutex` around the state. Each producer reduces its own items.
final class MutexBaseline: FanInSubject {
  /// Short, since this mutex can fall to a thousandth of its speed with more threads than cores, and time limits are
  /// checked between chunks.
  static let chunk = 512

  private let state: Mutex<Tally>

  init(_ setup: SubjectSetup) {
    state = Mutex(Tally(inspector: setup.inspector))
  }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values {
      let item = Item(producer: UInt64(producer), value: value)
      state.withLock { $0.reduce(item) }
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    return state.withLock { $0.totals }
  }
}

/// A pthread mutex around the state. Each producer reduces its own items.
///
/// `@unchecked Sendable`: `tally` is used only under `mutex`.
final class PthreadMutexBaseline: FanInSubject, @unchecked Sendable {
  private let mutex = PthreadMutex()
  private let tally: UnsafeMutablePointer<Tally>

  init(_ setup: SubjectSetup) {
    tally = .allocate(capacity: 1)
    tally.initialize(to: Tally(inspector: setup.inspector))
  }

  deinit {
    tally.deallocate()
  }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values {
      let item = Item(producer: UInt64(producer), value: value)
      mutex.withLock { tally.pointee.reduce(item) }
    }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    return mutex.withLock { tally.pointee.totals }
  }
}

/// A state of some size behind a pthread mutex.
///
/// `@unchecked Sendable`: `state`, at a fixed address, is used only under `mutex`.
final class SizedMutexBaseline<State: SizedState>: FanInSubject, @unchecked Sendable {
  private let mutex = PthreadMutex()
  private let state = Placed(State())

  init(_ setup: SubjectSetup) {}

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { mutex.withLock { state.value.reduce(Item(producer: 0, value: value)) } }
  }

  func awaitTotals(_ quota: Quota) throws -> Totals { try mutex.withLock { state.value.totals }.agreed() }
}

/// A state of some size without any protection: what reducing alone costs.
///
/// `@unchecked Sendable`: one thread sends, and then reads the totals.
final class SizedPlainBaseline<State: SizedState>: FanInSubject, @unchecked Sendable {
  private let state = Placed(State())

  init(_ setup: SubjectSetup) {}

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { reduce(Item(producer: 0, value: value)) }
  }

  /// Not inlined, so that a chunk does not become a single addition.
  @inline(never)
  private func reduce(_ item: Item) { state.value.reduce(item) }

  func awaitTotals(_ quota: Quota) throws -> Totals { try state.value.totals.agreed() }
}

/// No protection and no other thread: what the harness and the work take alone, of one sender.
///
/// `@unchecked Sendable`: one thread sends, and another one reads the totals afterwards.
final class DirectBaseline: FanInSubject, @unchecked Sendable {
  private let tally: Placed<Tally>

  init(_ setup: SubjectSetup) { tally = Placed(Tally(inspector: setup.inspector)) }

  func produce(producer: Int, values: Range<UInt64>) {
    for value in values { reduce(Item(producer: UInt64(producer), value: value)) }
  }

  /// Not inlined, so that a chunk does not become a single addition.
  @inline(never)
  private func reduce(_ item: Item) { tally.value.reduce(item) }

  func awaitTotals(_ quota: Quota) throws -> Totals {
    try quota.awaitProducers()
    return tally.value.totals
  }
}

/// A pthread mutex and a condition variable.
///
/// `@unchecked Sendable`: the two objects are at fixed addresses, and their functions may be called from any thread.
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

  /// Releases the lock, which must be held, until another thread signals or a second has passed.
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

/// A variable at a fixed address. A stored property of a class would cost checks of exclusive access, which the holder of a
/// lock does not need and which must not count against the lock.
struct Placed<Value>: ~Copyable {
  private let pointer: UnsafeMutablePointer<Value>

  init(_ value: Value) {
    pointer = .allocate(capacity: 1)
    pointer.initialize(to: value)
  }

  deinit {
    pointer.deinitialize(count: 1)
    pointer.deallocate()
  }

  var value: Value {
    // Not `get`: that would copy the whole value before one of its fields is read.
    @inline(__always) _read { yield pointer.pointee }
    @inline(__always) nonmutating _modify { yield &pointer.pointee }
  }
}
