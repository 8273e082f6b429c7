#if ServiceLifecycle
  import Glibc
  import ReactorCore
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

    /// At a limit of threads the parts must still end. Here the stack that a new thread needs is larger than the address space.
    @Test func `the parts end although the system gives no thread`() async {
      await #expect(processExitsWith: .success) {
        let loop = try Loop()
        let reactor = Summing(on: loop)
        reactor.send(1)
        // Lets Dispatch make all its threads, which it keeps for some seconds.
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<2 * DedicatedThread.processorCount { group.addTask { usleep(1000) } }
        }
        // The module Glibc lacks it.
        typealias SetDefault = @convention(c) (UnsafePointer<pthread_attr_t>) -> Int32
        let setDefault = unsafeBitCast(dlsym(nil, "pthread_setattr_default_np"), to: SetDefault.self)
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setstacksize(&attributes, 1 << 50)
        precondition(setDefault(&attributes) == 0)
        precondition(!DedicatedThread.tryDetach(named: "refused") {})
        let running = Task { try await ReactorService([loop], within: .seconds(60)).run() }
        running.cancel()
        try await running.value
        precondition(reactor.currentState == 1)
      }
    }
  }
#endif
