import Dispatch
import ReactorCore
import ReactorTesting
import TestSupport
import Testing

@testable import ReactorRuntime

/// Threads that wait for room behind tasks that need them.
@Suite struct RoomForThreadsTests {
  private final class QueueExecutor: SerialExecutor {
    private let queue = DispatchQueue(label: "seat")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }

  /// Its tasks run on one thread at a time, as those of the main actor do.
  private actor Seat {
    private let executor = QueueExecutor()
    private let reactor: Script

    init(_ reactor: Script) { self.reactor = reactor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func suspend(_ action: Int) async throws(SendError) {
      try await reactor.runtime.retryUntilRoom(in: reactor, before: nil, within: .usual) {
        () throws(SendError) in
        try reactor.trySend(action)
      }
    }

    func block(_ action: Int) { reactor.send(action) }
  }

  @Test
  func `a thread that waits behind a task of its own actor is resumed`() async throws {
    let loop = try Loop()
    let (isInside, mayGoOn) = (Gate(), Gate())
    let reactor = Script.held(on: .loop(loop), capacity: 1, isInside: isInside, mayGoOn: mayGoOn)
    reactor.send(0)
    #expect(isInside.wait())
    #expect(await eventually { (try? reactor.trySend(1)) == nil })
    var waiting: Int { reactor.runtime.mailbox.overflow.use { $0.waiters.count } ?? 0 }
    let seat = Seat(reactor)
    let suspended = Task { try await seat.suspend(2) }
    #expect(await eventually { waiting == 1 })
    let blocked = Task { await seat.block(3) }
    #expect(await eventually { waiting == 2 })
    mayGoOn.open()
    #expect(await eventually { Set(reactor.currentState).isSuperset(of: [0, 2, 3]) })
    // So that the test ends in any case.
    reactor.send(4)
    await blocked.value
    try await suspended.value
    try loop.shutdown(before: .now + .seconds(patience))
  }

  @Test(arguments: [false, true])
  func `a waiter that has sent resumes a task, and also the first thread if the mailbox is empty`(
    isEmpty: Bool
  ) throws {
    let waiters = try RoomWaiters()
    let task = RoomTicket(ofThread: false)
    _ = waiters.line.withLock { $0.append(task) }
    let thread = RoomTicket(ofThread: true)
    let isResumed = Threads.start { waiters.sleep(thread, until: nil) { false } }
    #expect(Threads.yield { waiters.count == 2 })
    waiters.resumeNext(whileEmpty: isEmpty)
    #expect(waiters.count == (isEmpty ? 0 : 1))
    #expect(waiters.line.withLock { $0.first?.isThread ?? true })
    // For the thread that is left if the mailbox is not empty.
    waiters.resumeAll()
    #expect(isResumed.wait())
  }
}
