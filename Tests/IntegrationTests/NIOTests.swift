#if NIO
  import NIOCore
  import NIOEmbedded
  import NIOPosix
  import ReactorCore
  import ReactorRuntime
  import Synchronization
  import TestSupport
  import Testing

  private final class Session: Reactor {
    enum Action: Sendable {
      case add(Int)
      case total(Reply<Int>)
      case keep(Reply<Int>)
      case hold(Gate, Gate)
      case load(EventLoopFuture<Int>)
    }
    typealias Mutation = Int
    struct State: Sendable {
      var total = 0
      var count = 0
    }

    let initialState = State()
    let runtime: Runtime<Action, Int, State>
    let eventLoop: any EventLoop
    private let tracked: LifetimeTracked
    private let kept = Record<Reply<Int>>()

    init(
      on eventLoop: any EventLoop, capacity: Int = 64, lifetimes: Lifetimes = Lifetimes(),
      failures: Record<SendError> = Record()
    ) {
      self.eventLoop = eventLoop
      tracked = lifetimes.track()
      runtime = Runtime(
        on: .eventLoop(eventLoop), capacity: capacity,
        onFailure: { if let error = $0.sendError { failures.append(error) } })
    }

    func mutate(action: Action) -> Observable<Int> {
      #expect(eventLoop.inEventLoop)
      switch action {
      case .add(let amount): return .just(amount)
      case .total(let reply): reply(currentState.total)
      case .keep(let reply): kept.append(reply)
      case .hold(let entered, let mayLeave):
        entered.open()
        #expect(mayLeave.wait())
      case .load(let future): return future.asReactorObservable()
      }
      return .empty()
    }

    func reduce(into state: inout State, mutation: Int) {
      state.total += mutation
      state.count += 1
    }
  }

  @Suite struct NIOTests {
    /// Calls `body` with event loops, which are shut down afterwards.
    private func withEventLoops(_ count: Int = 1, _ body: ([any EventLoop]) async throws -> Void) async throws
    {
      let group = MultiThreadedEventLoopGroup(numberOfThreads: count)
      try await body(Array(group.makeIterator()))
      try await group.shutdownGracefully()
    }

    @Test func `turns run on the event loop and wake it once`() async throws {
      try await withEventLoops { eventLoops in
        let reactors = (0..<4).map { _ in Session(on: eventLoops[0], capacity: 1024) }
        let loop = Loop.hosted(by: eventLoops[0])
        #expect(Threads.yield { loop.counters.parks > 0 })
        let before = loop.counters
        let (entered, mayLeave) = (Gate(), Gate())
        eventLoops[0].execute {
          entered.open()
          _ = mayLeave.wait()
        }
        #expect(entered.wait())
        #expect(Threads.run(4) { thread in for index in 0..<1000 { reactors[index % 4].send(.add(1)) } })
        mayLeave.open()
        #expect(Threads.yield { reactors.allSatisfy { $0.currentState.count == 1000 } })
        // It is counted when the rounds are over.
        #expect(Threads.yield { loop.counters.parks > before.parks && loop.counters.wakes > before.wakes })
        #expect(loop.counters.wakes == before.wakes + 1)
      }
    }

    @Test func `each event loop has one loop until that is shut down`() async throws {
      try await withEventLoops(2) { eventLoops in
        let loops = eventLoops.map { Loop.hosted(by: $0) }
        #expect(loops[0] !== loops[1])
        #expect(Loop.hosted(by: eventLoops[0]) === loops[0])
        try loops[0].shutdown(before: .now + .seconds(patience))
        #expect(Loop.hosted(by: eventLoops[0]) !== loops[0])
        let reactor = Session(on: eventLoops[0])
        reactor.send(.add(1))
        #expect(Threads.yield { reactor.currentState.total == 1 })
      }
    }

    @Test func `a loop goes away after its last reactor even inside of its own turn`() async throws {
      try await withEventLoops { eventLoops in
        let lifetimes = Lifetimes()
        for _ in 0..<20 {
          weak var loop: Loop?
          do {
            let reactor = Session(on: eventLoops[0], lifetimes: lifetimes)
            loop = Loop.hosted(by: eventLoops[0])
            reactor.send(.add(1))
          }
          #expect(Threads.yield { loop == nil })
        }
        #expect(Threads.yield { lifetimes.alive == 0 })
      }
    }

    @Test func `timers and jobs run on the event loop`() async throws {
      try await withEventLoops { eventLoops in
        let (eventLoop, ran) = (eventLoops[0], Record<String>())
        let loop = Loop.hosted(by: eventLoop)
        try loop.schedule(after: .milliseconds(30)) { ran.append("late \(eventLoop.inEventLoop)") }
        try loop.schedule(after: .milliseconds(5)) { ran.append("timer \(eventLoop.inEventLoop)") }
        try loop.schedule(after: .milliseconds(15)) { ran.append("cancelled") }.dispose()
        try loop.execute { ran.append("job \(eventLoop.inEventLoop)") }
        #expect(Threads.yield { ran.elements.count == 3 })
        #expect(ran.elements == ["job true", "timer true", "late true"])
        #expect(throws: WatchError.notPolled) { try loop.watch(0, for: .readable) { _, _ in } }
      }
    }

    @Test func `a future gets the reply on its event loop after the state is shown`() async throws {
      try await withEventLoops(2) { eventLoops in
        let reactor = Session(on: eventLoops[0])
        for round in 1...100 {
          reactor.send(.add(1))
          let read = try await reactor.ask(on: eventLoops[1]) { .total($0) }
            .map { total in (total, reactor.currentState.total, eventLoops[1].inEventLoop) }.get()
          #expect(read == (round, round, true))
        }
        await #expect(throws: AskError.self) {
          try await reactor.ask(on: eventLoops[1], before: .now + .milliseconds(5)) { .keep($0) }.get()
        }
        reactor.close()
        await #expect(throws: AskError.self) { try await reactor.ask(on: eventLoops[1]) { .total($0) }.get() }
      }
    }

    @Test func `a request by key gets its reply on its event loop and holds the reactor until then`()
      async throws
    {
      try await withEventLoops(2) { eventLoops in
        let sessions = KeyedReactors<Int, Session>(make: { _ in Session(on: eventLoops[0]) })
        for (key, total) in [(1, 0), (1, 0), (2, 0)] {
          let read = try await sessions.ask(key, on: eventLoops[1]) { .total($0) }
            .map { ($0, eventLoops[1].inEventLoop) }.get()
          #expect(read == (total, true))
        }
        #expect(sessions.count == 2)
        // In the turn of its loop it is in use, too.
        #expect(Threads.yield { sessions.passivate(2) })
        let kept = sessions.ask(1, on: eventLoops[1], before: .now + .milliseconds(50)) { .keep($0) }
        #expect(!sessions.passivate(1))
        await #expect(throws: AskError.self) { try await kept.get() }
        #expect(Threads.yield { sessions.passivate(1) })
        await #expect(throws: AskError.self) {
          try await sessions.ask(3, on: eventLoops[1], before: .now - .seconds(1)) { .total($0) }.get()
        }
        #expect(sessions.keys.filter { $0 == 3 } == [])
        try Shutdown.close([sessions], before: .now + .seconds(patience))
      }
    }

    /// A timer of Dispatch would not know the event loop's time, and would fulfil the promise on a thread of its own.
    @Test func `a request gives up by the clock of its event loop`() async throws {
      try await withEventLoops { eventLoops in
        let reactor = Session(on: eventLoops[0])
        let asking = NIOAsyncTestingEventLoop()
        let future = reactor.ask(on: asking, before: .now + .seconds(3600)) { .keep($0) }
        let errors = Record<String>()
        future.whenComplete { outcome in
          if case .failure(let error) = outcome { errors.append("\(error)") }
        }
        #expect(Threads.yield { reactor.counters.processed == 1 })
        await asking.advanceTime(by: .seconds(3590))
        #expect(errors.elements == [])
        await asking.advanceTime(by: .seconds(10))
        #expect(errors.elements == ["\(AskError.timedOut)"])
        await asking.shutdownGracefully()
      }
    }

    @Test func `the value of a future becomes a mutation and its event loop never waits for room`()
      async throws
    {
      try await withEventLoops(2) { eventLoops in
        let failures = Record<SendError>()
        let reactor = Session(on: eventLoops[0], capacity: 8, failures: failures)
        let promise = eventLoops[1].makePromise(of: Int.self)
        reactor.send(.load(promise.futureResult))
        let (entered, mayLeave) = (Gate(), Gate())
        reactor.send(.hold(entered, mayLeave))
        #expect(entered.wait())
        var count = 0
        while (try? reactor.trySend(.add(1))) != nil { count += 1 }
        promise.succeed(1000)
        // It is free for other work.
        try await eventLoops[1].submit {}.get()
        mayLeave.open()
        #expect(Threads.yield { reactor.currentState.total == 1000 + count })
        #expect(failures.elements == [])
      }
    }

    @Test func `a stream of a future ends with its value or its error`() async throws {
      struct Unreachable: Error {}
      try await withEventLoops { eventLoops in
        let events = Record<String>()
        for result: Result<Int, any Error> in [.success(7), .failure(Unreachable())] {
          let promise = eventLoops[0].makePromise(of: Int.self)
          _ = promise.futureResult.asReactorObservable().subscribe { event in
            switch event {
            case .next(let value): events.append("\(value) \(eventLoops[0].inEventLoop)")
            case .completed: events.append("completed")
            case .error(let error): events.append("\(error is Unreachable)")
            }
          }
          promise.completeWith(result)
          try? await promise.futureResult.map { _ in }.get()
        }
        #expect(Threads.yield { events.elements == ["7 true", "completed", "true"] })
      }
    }

    @Test func `a future keeps nothing of a subscription that was disposed of`() async throws {
      try await withEventLoops { eventLoops in
        let promise = eventLoops[0].makePromise(of: Int.self)
        let lifetimes = Lifetimes()
        let subscription = promise.futureResult.asReactorObservable().subscribe(onNext: {
          [tracked = lifetimes.track()] _ in _ = tracked
        })
        // The callback is registered on the event loop.
        try await eventLoops[0].submit {}.get()
        subscription.dispose()
        #expect(Threads.yield { lifetimes.alive == 0 })
        promise.succeed(1)
      }
    }

    @Test func `a request of an event loop never waits for room`() async throws {
      try await withEventLoops(2) { eventLoops in
        let reactor = Session(on: eventLoops[0], capacity: 8)
        let (entered, mayLeave) = (Gate(), Gate())
        reactor.send(.hold(entered, mayLeave))
        #expect(entered.wait())
        let futures = try await eventLoops[1].submit {
          (0..<20).map { _ in reactor.ask(on: eventLoops[1]) { .total($0) } }
        }.get()
        mayLeave.open()
        #expect(
          try await EventLoopFuture.whenAllSucceed(futures, on: eventLoops[1]).get()
            == Array(repeating: 0, count: 20))
      }
    }

    @Test func `event loops send to each other beyond capacity`() async throws {
      try await withEventLoops(3) { eventLoops in
        let failures = Record<SendError>()
        let reactors = eventLoops.map { Session(on: $0, capacity: 8, failures: failures) }
        for (eventLoop, mine) in zip(eventLoops, reactors) {
          eventLoop.execute {
            for _ in 0..<2000 { for other in reactors where other !== mine { other.send(.add(1)) } }
          }
        }
        #expect(
          Threads.yield {
            reactors.allSatisfy { $0.currentState.count == 4000 } || !failures.elements.isEmpty
          })
        #expect(failures.elements == [])
      }
    }

    @Test func `an event loop that waits for the end of its own loop runs it`() async throws {
      try await withEventLoops { eventLoops in
        let reactor = Session(on: eventLoops[0])
        try await eventLoops[0].submit {
          reactor.send(.add(1))
          try Loop.hosted(by: eventLoops[0]).shutdown(before: .now + .seconds(patience))
        }.get()
        #expect(reactor.currentState.total == 1)
        #expect(throws: SendError.closed) { try reactor.trySend(.add(1)) }
      }
    }

    @Test func `a reactor that is never idle leaves time to the channels of its event loop`() async throws {
      try await withEventLoops(2) { eventLoops in
        let hasReceived = Gate()
        let listener = try await ServerBootstrap(group: eventLoops[0])
          .childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Echo()) }
          }
          .bind(host: "127.0.0.1", port: 0).get()
        let address = try #require(listener.localAddress)
        let client = try await ClientBootstrap(group: eventLoops[1])
          .channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
              try channel.pipeline.syncOperations.addHandler(Receiver(hasReceived))
            }
          }
          .connect(to: address).get()
        let reactor = Spinning(on: eventLoops[0])
        reactor.send(1)
        #expect(Threads.yield { reactor.currentState > 0 })
        try await client.writeAndFlush(ByteBuffer(string: "x"))
        #expect(hasReceived.wait(seconds: 30))
        reactor.stop()
        try await client.close()
        try await listener.close()
      }
    }

    @Test func `nothing is lost if the event loop is shut down before its reactors`() async throws {
      let counted = Record<SendError>()
      let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      let reactor = Adding(on: .eventLoop(group.next()), failures: counted)
      reactor.send(1)
      #expect(Threads.yield { reactor.currentState == 1 })
      try await group.shutdownGracefully()
      reactor.send(1)
      #expect(Threads.yield { reactor.currentState == 2 && reactor.isClosed })
      #expect(throws: SendError.closed) { try reactor.trySend(1) }
      #expect(counted.elements == [])
    }

    @Test func `a loop that only waits for a timer ends when its event loop is shut down`() async throws {
      let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      let reactor = Adding(on: .eventLoop(group.next()), failures: Record())
      let loop = Loop.hosted(by: group.next())
      try loop.schedule(after: .seconds(3600)) {}
      reactor.send(1)
      #expect(Threads.yield { reactor.currentState == 1 && loop.counters.parks > 0 })
      try await group.shutdownGracefully()
      #expect(Threads.yield { loop.counters.waitingJobs == 0 })
      #expect(throws: SendError.closed) { try reactor.trySend(1) }
    }
  }

  /// Sends itself an action for each action, until it is stopped.
  private final class Spinning: Reactor {
    typealias Action = Int
    typealias State = Int
    let initialState = 0
    let runtime: Runtime<Int, Int, Int>
    private let isStopped = Atomic(false)

    init(on eventLoop: any EventLoop) { runtime = Runtime(on: .eventLoop(eventLoop)) }

    func stop() { isStopped.store(true, ordering: .relaxed) }

    func mutate(action: Int) -> Observable<Int> {
      if !isStopped.load(ordering: .relaxed) { send(action) }
      return .just(action)
    }

    func reduce(into state: inout Int, mutation: Int) { state &+= mutation }
  }

  /// Returns what a channel receives.
  private final class Echo: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      context.writeAndFlush(data, promise: nil)
    }
  }

  /// Opens a gate when a channel receives something.
  private final class Receiver: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let hasReceived: Gate

    init(_ hasReceived: Gate) { self.hasReceived = hasReceived }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { hasReceived.open() }
  }

  private final class Adding: Reactor {
    typealias Action = Int
    typealias State = Int
    let initialState = 0
    let runtime: Runtime<Int, Int, Int>
    init(on placement: Placement, failures: Record<SendError>) {
      runtime = Runtime(on: placement, onFailure: { if let error = $0.sendError { failures.append(error) } })
    }
    func reduce(into state: inout Int, mutation: Int) { state += mutation }
  }
#endif
