import CBenchmarkLimits
import Glibc
import Synchronization

/// A state of some size behind `Synchronization.Mutex`.
final class ElementMutexBaseline<State: ElementState>: ElementSubject {
  private let state: Mutex<State>

  init(count: Int) { state = Mutex(State(count: count)) }

  func change(_ times: Int, _ keys: inout KeySequence) {
    for _ in 0..<times {
      let key = keys.next()
      state.withLock { $0.set(key, to: $0.changes &+ 1) }
    }
  }

  @inline(__always)
  func read(_ key: Int, _ body: (ElementNote) -> Void) {
    body(
      state.withLock { ElementNote(changes: $0.changes, mark: $0.mark, value: $0.value(of: key)) })
  }
}

/// A state of some size behind a pthread read-write lock that prefers writers. With the system's default, which prefers
/// readers, two readers without a pause keep the writer out for minutes.
///
/// `@unchecked Sendable`: the lock is at a fixed address, and the state is used only under it.
final class ElementReadWriteLockBaseline<State: ElementState>: ElementSubject, @unchecked Sendable {
  private let lock: UnsafeMutablePointer<pthread_rwlock_t>
  private let state: Placed<State>

  init(count: Int) {
    state = Placed(State(count: count))
    lock = .allocate(capacity: 1)
    var attributes = pthread_rwlockattr_t()
    pthread_rwlockattr_init(&attributes)
    pthread_rwlockattr_setkind_np(&attributes, Int32(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP))
    pthread_rwlock_init(lock, &attributes)
    pthread_rwlockattr_destroy(&attributes)
  }

  deinit {
    pthread_rwlock_destroy(lock)
    lock.deallocate()
  }

  func change(_ times: Int, _ keys: inout KeySequence) {
    for _ in 0..<times {
      let key = keys.next()
      pthread_rwlock_wrlock(lock)
      state.value.set(key, to: state.value.changes &+ 1)
      pthread_rwlock_unlock(lock)
    }
  }

  @inline(__always)
  func read(_ key: Int, _ body: (ElementNote) -> Void) {
    pthread_rwlock_rdlock(lock)
    let note = ElementNote(
      changes: state.value.changes, mark: state.value.mark, value: state.value.value(of: key))
    pthread_rwlock_unlock(lock)
    body(note)
  }
}

/// A state of some size in an actor. As in `ActorBaseline`, the task leaves the actor after each change. Readers are tasks, too.
final class ElementActorBaseline<State: ElementState>: ElementSubject {
  private actor Holder {
    private var state: State

    init(count: Int) { state = State(count: count) }

    func set(_ key: Int) { state.set(key, to: state.changes &+ 1) }

    func note(_ key: Int) -> ElementNote {
      ElementNote(changes: state.changes, mark: state.mark, value: state.value(of: key))
    }
  }

  private let holder: Holder

  init(count: Int) { holder = Holder(count: count) }

  func change(_ times: Int, _ keys: inout KeySequence) {
    let before = keys
    keys = Handover.blocking { [holder] in
      var keys = before
      for _ in 0..<times {
        await holder.set(keys.next())
        bl_opaque()
      }
      return keys
    }
  }

  func read(_ key: Int, _ body: (ElementNote) -> Void) {
    body(Handover.blocking { [holder] in await holder.note(key) })
  }

  func readEach(_ count: Int, _ body: (ElementNote) -> Void) {
    let notes = Handover.blocking { [holder] in
      var notes: [ElementNote] = []
      for key in 0..<count { notes.append(await holder.note(key)) }
      return notes
    }
    notes.forEach(body)
  }

  /// How many reads a task makes before it lets others have its thread: where nobody contends, no `await` does so.
  private static var turn: Int { 256 }

  func readAll(_ reading: inout ElementReading) {
    let before = reading
    reading = Handover.blocking { [holder] in
      var reading = before
      while let key = reading.next() {
        reading.check(await holder.note(key))
        bl_opaque()
        if let pause = reading.pause {
          try? await Task.sleep(for: .microseconds(pause))
        } else if reading.reads.isMultiple(of: Self.turn) {
          await Task.yield()
        }
      }
      return reading
    }
  }
}
