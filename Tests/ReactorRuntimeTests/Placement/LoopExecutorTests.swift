import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

/// Actors that live on a loop.
@Suite struct LoopExecutorTests {
  private actor Ledger {
    let loop: Loop
    private(set) var entries: [Int] = []
    private(set) var isAlwaysHere = true

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(on loop: Loop) { self.loop = loop }

    func append(_ entry: Int) {
      entries.append(entry)
      isAlwaysHere = isAlwaysHere && loop.isCurrent
    }

    func call<Result>(_ body: @Sendable () throws -> Result) rethrows -> Result { try body() }

    func closeLoop() async throws(ShutdownError) {
      try await Shutdown.closeSuspending([loop], before: .now + .seconds(patience))
    }

    func appendSlowly(_ entry: Int) async {
      append(entry)
      await Task.yield()
      append(entry + 1)
    }
  }

  @Test
  func `an actor runs on its loop`() async throws {
    let loop = try Loop()
    let ledger = Ledger(on: loop)
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<100 { group.addTask { await ledger.appendSlowly(10 * index) } }
    }
    #expect(await ledger.entries.count == 200)
    #expect(await ledger.isAlwaysHere)
    #expect(loop.counters.jobs >= 200)
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test
  func `a task of an actor may wait for the end of its loop`() async throws {
    let loop = try Loop()
    let ledger = Ledger(on: loop)
    await ledger.append(1)
    try await ledger.closeLoop()
    #expect(throws: LoopError.closed) { try loop.execute {} }
    #expect(await ledger.entries == [1])
  }

  @Test
  func `a task that prefers a loop runs there`() async throws {
    let loop = try Loop()
    let ledger = Ledger(on: loop)
    let places = Record<Bool>()
    await Task(executorPreference: loop) {
      places.append(loop.isCurrent)
      await Task.yield()
      places.append(loop.isCurrent)
      await Self.note(loop, in: places)
      await ledger.append(1)
      places.append(loop.isCurrent)
    }.value
    #expect(places.elements == [true, true, true, true])
    #expect(await ledger.isAlwaysHere)
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  private static func note(_ loop: Loop, in places: Record<Bool>) async {
    await Task.yield()
    places.append(loop.isCurrent)
  }

  @Test
  func `what an actor has done takes no room from the jobs of its loop`() async throws {
    let loop = try Loop(jobCapacity: 4)
    let ledger = Ledger(on: loop)
    for index in 0..<20 { await ledger.append(index) }
    let isDone = Gate()
    try loop.execute { isDone.open() }
    #expect(isDone.wait())
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test
  func `turns and jobs and timers of a loop are inside of its actors`() async throws {
    let loop = try Loop()
    let ledger = Ledger(on: loop)
    let reactor = Script(
      on: .loop(loop),
      mutate: { _, action in
        .just(
          ledger.assumeIsolated {
            $0.append(action)
            return $0.entries.count
          })
      })
    reactor.send(7)
    try loop.execute { ledger.assumeIsolated { $0.append(8) } }
    let isDone = Gate()
    try loop.schedule(after: .zero) {
      ledger.assumeIsolated { $0.append(9) }
      isDone.open()
    }
    #expect(isDone.wait())
    #expect(Threads.yield { reactor.currentState.count == 1 })
    #expect(await Set(ledger.entries) == [7, 8, 9])
    #expect(loop.isIsolatingCurrentContext() == false)
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test
  func `a piece of a task that comes while a loop is closing runs on the loop`() async throws {
    let (loop, tokens) = (try Loop(), Record<UInt64>())
    try loop.execute { tokens.append(CurrentCore.threadToken) }
    let mayGoOn = try loop.hold()
    loop.beginClosing()
    let task = Task(executorPreference: loop) { CurrentCore.threadToken }
    mayGoOn.open()
    #expect(Threads.start { loop.shutdown() }.wait())
    let token = await task.value
    #expect(tokens.elements == [token])
  }

  /// A task cannot be refused, so it must go on elsewhere.
  @Test
  func `an actor goes on after its loop has ended`() async throws {
    let loop = try Loop()
    let ledger = Ledger(on: loop)
    await ledger.append(-1)
    #expect(Threads.start { loop.shutdown() }.wait())
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<200 { group.addTask { await ledger.appendSlowly(10 * index) } }
    }
    #expect(await ledger.entries.count == 401)
    #expect(await ledger.isAlwaysHere)
    #expect(!loop.isCurrent)
  }

  /// Its foreign loop may call `run` once more, such as after the last round.
  @Test
  func `an actor that goes on after its hosted loop has ended is not disturbed by a round`() async throws {
    let hosted = try HostedLoop()
    let loop = hosted.loop
    hosted.shutdown()
    let ledger = Ledger(on: loop)
    let (isInside, mayGoOn) = (Gate(), Gate())
    let isHere = Task {
      await ledger.call {
        isInside.open()
        return mayGoOn.wait() && loop.isCurrent
      }
    }
    let hasRun = Threads.start {
      #expect(isInside.wait())
      #expect(hosted.run() == 0)
      mayGoOn.open()
    }
    #expect(await isHere.value)
    #expect(hasRun.wait())
    #expect(!loop.isCurrent)
  }

  @Test
  func `an actor that goes on after its hosted loop has ended may end that again`() async throws {
    let hosted = try HostedLoop()
    hosted.shutdown()
    let ledger = Ledger(on: hosted.loop)
    let unfinished = await ledger.call {
      hosted.shutdown()
      #expect(hosted.run() == 0)
      return hosted.finishClosing(before: .now + .seconds(patience))
    }
    #expect(unfinished == [])
  }

  /// It is shut down when it goes away.
  @Test
  func `an actor that goes on after its hosted loop has ended may release that`() async throws {
    let hosted = Mutex<HostedLoop?>(try HostedLoop())
    let loop = try #require(hosted.withLock { $0?.loop })
    hosted.withLock { $0?.shutdown() }
    let ledger = Ledger(on: loop)
    let isReleased = await ledger.call { hosted.withLock { $0.take() } != nil }
    #expect(isReleased)
  }

  /// Nothing would process it.
  @Test
  func `what an actor sends to a reactor of its loop after the end is refused`() async throws {
    let lifetimes = Lifetimes()
    let loop = try Loop()
    let ledger = Ledger(on: loop)
    let failures = Record<SendError>()
    do {
      let tracked = lifetimes.track()
      let reactor = Script(
        on: .loop(loop), failures: failures,
        mutate: { _, action in
          _ = tracked
          return .just(action)
        })
      reactor.send(1)
      #expect(Threads.yield { reactor.currentState == [1] })
      #expect(Threads.start { loop.shutdown() }.wait())
      await ledger.call { reactor.send(2) }
      #expect(failures.elements == [.closed])
      await #expect(throws: SendError.closed) { try await ledger.call { try reactor.trySend(3) } }
      await ledger.call { loop.shutdown() }
      #expect(reactor.currentState == [1])
    }
    #expect(lifetimes.alive == 0)
  }

  @Test
  func `every task around a shutdown ends`() async throws {
    for _ in 0..<10 {
      let loop = try Loop()
      let ledger = Ledger(on: loop)
      await withTaskGroup(of: Void.self) { group in
        for index in 0..<50 { group.addTask { await ledger.appendSlowly(10 * index) } }
        group.addTask { #expect(Threads.start { loop.shutdown() }.wait()) }
      }
      #expect(await ledger.entries.count == 100)
      #expect(await ledger.isAlwaysHere)
    }
  }

  private static func assumeElsewhere(_ ledger: Ledger) { ledger.assumeIsolated { _ in } }

  #if DEBUG
    @Test func `assuming the isolation of an actor elsewhere stops the program`() async {
      let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        Self.assumeElsewhere(Ledger(on: try Loop()))
      }
      // By the runtime of Swift, or by the loop if that asks it to check.
      let messages = ["Incorrect actor executor assumption", "that belongs to an actor on the loop"]
      #expect(messages.contains { stop?.standardErrorContent.says($0) == true })
    }
  #endif
}
