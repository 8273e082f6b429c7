#if ServiceLifecycle
  import ReactorRuntime
  import ServiceLifecycle
  import ServiceLifecycleTestKit
  import TestSupport
  import Testing

  private final class Summing: Reactor {
    typealias Action = Int
    typealias State = Int
    let initialState = 0
    let runtime: Runtime<Int, Int, Int>
    init(on loop: Loop) { runtime = Runtime(on: .loop(loop)) }
    func reduce(into state: inout Int, mutation: Int) { state += mutation }
  }

  @Suite struct ServiceLifecycleTests {
    @Test func `a graceful shutdown ends the loop after what was accepted`() async throws {
      let loop = try Loop()
      let reactor = Summing(on: loop)
      let service = ReactorService(within: .seconds(60)) { _ in loop.shutdown() }
      for _ in 0..<100 { reactor.send(1) }
      try await testGracefulShutdown { trigger in
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { try await service.run() }
          trigger.triggerGracefulShutdown()
          try await group.waitForAll()
        }
      }
      #expect(reactor.currentState == 100)
      #expect(throws: SendError.closed) { try reactor.trySend(1) }
    }

    @Test func `cancelling the service ends the loop after what was accepted`() async throws {
      let loop = try Loop()
      let reactor = Summing(on: loop)
      reactor.send(1)
      let running = Task {
        try await ReactorService(within: .seconds(60)) { _ in loop.shutdown() }.run()
      }
      running.cancel()
      try await running.value
      #expect(reactor.currentState == 1)
      #expect(throws: SendError.closed) { try reactor.trySend(1) }
    }

    @Test func `a part that does not end by the deadline is an error`() async throws {
      struct Unfinished: Error, Equatable {}
      let deadlines = Record<ContinuousClock.Instant>()
      let service = ReactorService(within: .seconds(3600)) { deadline in
        deadlines.append(deadline)
        throw Unfinished()
      }
      let start = ContinuousClock.now
      let running = Task { try await service.run() }
      running.cancel()
      await #expect(throws: Unfinished()) { try await running.value }
      let deadline = try #require(deadlines.elements.first)
      #expect(deadline >= start + .seconds(3600))
      #expect(deadline <= ContinuousClock.now + .seconds(3600))
    }
  }
#endif
