import ReactorCore
import Synchronization
import TestSupport

/// Threads that start together and are waited for together.
final class Crew<Result: Sendable> {
  private final class Member {
    private var thread: DedicatedThread?
    private let result: UnsafeMutablePointer<Result>

    init(_ thread: consuming DedicatedThread, writingTo result: UnsafeMutablePointer<Result>) {
      self.thread = consume thread
      self.result = result
    }

    func join() -> Result {
      guard let running = thread.take() else { fatalError("a crew is joined once") }
      running.join()
      defer { result.deallocate() }
      return result.move()
    }
  }

  private let members: [Member]

  /// Starts `count` threads, which call `body` with their numbers once all of them run.
  init(of count: Int, _ body: @escaping @Sendable (Int) -> Result) {
    let arrived = Shared(Atomic(0))
    members = (0..<count).map { index in
      // The thread writes it before it ends, and it is read after the thread was joined. There is no lock, so that
      // the results do not order the threads.
      nonisolated(unsafe) let result = UnsafeMutablePointer<Result>.allocate(capacity: 1)
      let thread = DedicatedThread(named: "stress-\(index)") {
        // Relaxed: it only makes the threads start together.
        arrived.value.wrappingAdd(1, ordering: .relaxed)
        while arrived.value.load(ordering: .relaxed) < count { DedicatedThread.yield() }
        result.initialize(to: body(index))
      }
      return Member(thread, writingTo: result)
    }
  }

  /// Waits for all threads, and returns their results in the order of their numbers. To be called once.
  @discardableResult
  func join() -> [Result] { members.map { $0.join() } }
}

/// A barrier where threads wait for one another, again and again.
struct StartingLine: ~Copyable, Sendable {
  private let threads: Int
  private let arrived = Atomic(0)
  private let givenUp = Atomic(false)

  init(threads: Int) { self.threads = threads }

  /// Waits until all threads have come. It spins, because a thread that sleeps would start too late, but yields now
  /// and then.
  func meet() {
    let place = arrived.wrappingAdd(1, ordering: .acquiringAndReleasing).newValue
    let everybody = (place + threads - 1) / threads * threads
    var looks = 0
    while arrived.load(ordering: .acquiring) < everybody {
      looks += 1
      if looks % 64 == 0 { DedicatedThread.yield() } else { CurrentCore.pause() }
    }
  }

  func giveUp() { givenUp.store(true, ordering: .relaxed) }

  var isGivenUp: Bool { givenUp.load(ordering: .relaxed) }
}
