import ReactorCore
import ReactorTesting
import TestSupport
import Testing

@testable import ReactorRuntime

/// Tasks of an actor on a loop that send, ask and wait.
@Suite struct TaskWaitTests {
  @Test func `a task of an actor comes back to its thread, whenever it is resumed`() async throws {
    let loop = try Loop()
    #expect(await LoopSender(on: loop).pass(200))
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  /// The owner resumes them first, but they get no thread.
  @Test func `tasks whose thread is busy leave the room of an empty mailbox to others`() async throws {
    let (loop, busyLoop) = (try Loop(), try Loop())
    let (isInside, mayGoOn) = (Gate(), Gate())
    let reactor = Script.held(on: .loop(loop), capacity: 64, isInside: isInside, mayGoOn: mayGoOn)
    reactor.send(0)
    #expect(isInside.wait())
    while (try? reactor.trySend(1)) != nil {}
    var waiting: Int { reactor.runtime.mailbox.overflow.use { $0.waiters.count } ?? 0 }
    let sender = LoopSender(on: busyLoop)
    let held = (0..<40).map { _ in Task { try await sender.send(2, to: reactor) } }
    #expect(await eventually { waiting == 40 })
    let mayRun = try busyLoop.hold()
    let free = Task { try await reactor.sendSuspending(3) }
    #expect(await eventually { waiting == 41 })
    mayGoOn.open()
    #expect(await eventually { reactor.currentState.last == 3 })
    mayRun.open()
    try await free.value
    for task in held { try await task.value }
    #expect(await eventually { reactor.currentState.count { $0 == 2 } == 40 })
    #expect(Threads.start { for loop in [loop, busyLoop] { loop.shutdown() } }.wait())
  }
}

/// Replies whose reactor ends, or that are used by more than their reactor.
@Suite struct ReplyEndTests {
  /// Completes what transform(mutation) has returned, and then starts a stream.
  private final class Ending: Reactor {
    let initialState = 0
    let runtime: Runtime<Reply<Int>, Int, Int>
    private let mutations = PublishSubject<Int>()

    init(on placement: Placement) { runtime = Runtime(on: placement, onFailure: { _ in }) }

    func transform(mutation: Observable<Int>) -> Observable<Int> { mutations.asObservable() }

    func mutate(action: Reply<Int>) -> Observable<Int> {
      mutations.onCompleted()
      return .never()
    }

    func reduce(into state: inout Int, mutation: Int) { state += mutation }
  }

  @Test func `a reply whose own turn ends a transform is told that the reactor is closed`() throws {
    let (loop, log) = (try SteppedLoop(), Record<String>())
    let reactor = Ending(on: loop.placement)
    reactor.ask {
      $0
    } completion: { result in
      log.append("\(result)")
    }
    #expect(log.elements == [])
    #expect(loop.run())
    #expect(log.elements == ["\(Result<Int, AskError>.failure(.closed))"])
    loop.shutdown()
  }

  /// There is nothing that they could hand over.
  @Test func `what the runtime calls has no effect on a reply that was not used`() {
    let log = Record<String>()
    let reply = Reply<Int>(to: AskingCallback { log.append("\($0)") })
    reply.run()
    reply.refuse(SendError.full)
    #expect(log.elements == [])
    #expect(reply.isAwaited)
    reply(3)
    #expect(log.elements == ["\(Result<Int, AskError>.success(3))"])
  }
}
