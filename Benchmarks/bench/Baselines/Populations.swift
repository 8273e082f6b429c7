import AllocationCounting
import BenchmarkSupport
import CBenchmarkLimits
import Glibc
import Synchronization

/// An actor as a user would write it.
actor SmallActor {
  private(set) var state = ReadState()

  func add(_ value: UInt64) { state.add(value) }
}

/// Very many actors. Each visitor is a task that awaits each call.
///
/// `@unchecked Sendable`: `actors` changes only in `make` and `end`, which are called alone.
final class ActorPopulation: Population, @unchecked Sendable {
  private let count: Int
  private var actors: ContiguousArray<SmallActor> = []

  init(count: Int, cores: Int) {
    self.count = count
    actors.reserveCapacity(count)
  }

  func make() {
    for _ in 0..<count { actors.append(SmallActor()) }
  }

  var objectBytes: Int? { MemoryUse.size(of: actors[0]) }

  func visit(_ order: VisitingOrder) {
    Handover<Void>.blocking { [self] in
      for (index, round) in order {
        await actors[index].add(UInt64(round + 1))
        // Makes the task leave the actor: see ActorBaseline.
        bl_opaque()
      }
    }
  }

  func readAll(_ body: (ReadState) -> Void) {
    let states = Handover.blocking { [self] in
      var states: [ReadState] = []
      for one in actors { states.append(await one.state) }
      return states
    }
    states.forEach(body)
  }

  func end() { actors.removeAll() }
}

/// Very many states, each in an object with a lock.
///
/// `@unchecked Sendable`: `members` changes only in `make` and `end`, which are called alone.
final class LockedPopulation<Member: LockedMember>: Population, @unchecked Sendable {
  private let count: Int
  private var members: ContiguousArray<Member> = []

  init(count: Int, cores: Int) {
    self.count = count
    members.reserveCapacity(count)
  }

  func make() {
    for _ in 0..<count { members.append(Member()) }
  }

  var objectBytes: Int? { MemoryUse.size(of: members[0]) }

  func visit(_ order: VisitingOrder) {
    for (index, round) in order { members[index].withState { $0.add(UInt64(round + 1)) } }
  }

  func readAll(_ body: (ReadState) -> Void) {
    for member in members { body(member.withState { $0 }) }
  }

  func end() { members.removeAll() }
}

/// A state with a lock.
protocol LockedMember: AnyObject, Sendable {
  init()
  func withState<Result: Sendable>(_ body: (inout ReadState) -> Result) -> Result
}

/// `Synchronization.Mutex`, which is in the object itself.
final class MutexMember: LockedMember {
  private let state = Mutex(ReadState())

  func withState<Result: Sendable>(_ body: (inout ReadState) -> Result) -> Result {
    state.withLock { body(&$0) }
  }
}

/// A pthread mutex, at an address of its own.
///
/// `@unchecked Sendable`: the state is used only under the mutex.
final class PthreadMutexMember: LockedMember, @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private var state = ReadState()

  init() {
    mutex = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func withState<Result: Sendable>(_ body: (inout ReadState) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return body(&state)
  }
}
