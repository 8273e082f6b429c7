import AllocationCounting
import Glibc
import Synchronization

/// Threads that start, wait at a gate and are released together, so that their start is not measured.
final class ProducerThreads {
  private let gate = StartGate()
  private var threads: [pthread_t] = []

  /// Starts `count` threads, confined to `cpus` if given, and returns when all wait at the gate.
  convenience init(
    _ count: Int, on cpus: CPUSet?, _ body: @escaping @Sendable (_ producer: Int) -> Void
  ) throws {
    try self.init(count, on: { _ in cpus }, body)
  }

  /// The same, with CPUs for each thread. If one cannot be started, the others end without a call of `body`.
  init(
    _ count: Int, on cpus: @escaping @Sendable (_ producer: Int) -> CPUSet?,
    _ body: @escaping @Sendable (_ producer: Int) -> Void
  ) throws {
    let gate = gate
    for producer in 0..<count {
      let start = ThreadStart {
        cpus(producer)?.confineThread()
        // What the start of a thread allocates must not count for the actions.
        AllocationCounter.flushThreadCache()
        if gate.arriveAndWait() { body(producer) }
      }
      do {
        threads.append(try start.spawn())
      } catch {
        gate.giveUp()
        join()
        throw error
      }
    }
    while gate.arrived.load(ordering: .acquiring) < count { sched_yield() }
  }

  func release() {
    gate.open()
  }

  func join() {
    for thread in threads { pthread_join(thread, nil) }
    threads = []
  }
}

/// Lets threads wait for each other without sleeping, which would delay their start.
private final class StartGate: Sendable {
  let arrived = Atomic<Int>(0)
  private let isOpen = Atomic<Bool>(false)
  private let isGivenUp = Atomic<Bool>(false)

  func open() { isOpen.store(true, ordering: .releasing) }

  /// Lets those through that wait, which are to do nothing then.
  func giveUp() {
    isGivenUp.store(true, ordering: .relaxed)
    open()
  }

  /// Returns false if it was given up.
  func arriveAndWait() -> Bool {
    arrived.add(1, ordering: .acquiringAndReleasing)
    while !isOpen.load(ordering: .acquiring) { sched_yield() }
    return !isGivenUp.load(ordering: .relaxed)
  }
}

/// Carries a closure through `pthread_create`.
final class ThreadStart: Sendable {
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) {
    self.body = body
  }

  /// Starts a thread that nobody joins.
  func spawnDetached() throws { pthread_detach(try spawn()) }

  /// Starts a thread that the caller joins.
  func spawn() throws -> pthread_t {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(self)
    let code = pthread_create(
      &thread, nil,
      { context in
        Unmanaged<ThreadStart>.fromOpaque(context!).takeRetainedValue().body()
        return nil
      }, context.toOpaque())
    guard code == 0 else {
      context.release()
      throw SubjectFailure("cannot start a thread: \(String(cString: strerror(code)))")
    }
    return thread
  }
}
