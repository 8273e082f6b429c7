import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// Requests by key that give up, and the order of the last replies and the end.
@Suite struct KeyedAskTests {
  private let store = SessionStore()

  /// A collection whose key 1 has a reactor with a full mailbox, and an action beside that.
  private func makeFull(on loop: SteppedLoop) -> KeyedReactors<Int, KeyedSession> {
    let isMade = Record<KeyedReactors<Int, KeyedSession>>()
    let sessions = store.makeSessions(
      on: loop.placement, capacity: 1,
      beforeMaking: { key in for sessions in isMade.elements { sessions.send(.note(2), to: key) } })
    isMade.append(sessions)
    sessions.send(.note(1), to: 1)
    return sessions
  }

  private func failure<Value: Sendable>(of request: () async throws -> Value) async -> String {
    do {
      return "\(try await request())"
    } catch { return "\(error)" }
  }

  @Test
  func `a task whose action waited for the end of a reactor is resumed though the next one is in its turn`()
    async throws
  {
    let keeping = store.beginKeeping(note: 1)
    let sessions = keeping.sessions
    let (isInTurn, mayReturn, isResumed) = (Gate(), Gate(), Gate())
    Task {
      let stay: @Sendable () -> Void = {
        isInTurn.open()
        // Longer than the test waits for the task.
        _ = mayReturn.wait(seconds: 2 * patience)
      }
      try await sessions.sendSuspending(.run(stay), to: 1)
      isResumed.open()
    }
    #expect(await eventually { sessions.counters.waiting == 1 })
    keeping.goOn()
    #expect(await eventually { isInTurn.isOpen && isResumed.isOpen })
    mayReturn.open()
    #expect(keeping.finish())
  }

  @Test func `a request that waited, and that its reactor discards, fails because that was closed`() {
    let making = store.beginMaking()
    let sessions = making.sessions
    let failures = Record<String>()
    sessions.send(.run { [unowned sessions] in sessions[1]?.close(.discard) }, to: 1)
    sessions.ask(
      1, { .count($0) },
      completion: { result in if case .failure(let reason) = result { failures.append("\(reason)") } })
    #expect(making.finish())
    #expect(failures.elements == ["\(AskError.closed)"])
  }

  @Test func `a task gets the reactor of its key while another thread is in a turn for what came before`()
    async throws
  {
    let making = store.beginMaking()
    let (isInTurn, mayReturn, isResumed) = (Gate(), Gate(), Gate(count: 2))
    making.sessions.send(
      .run {
        isInTurn.open()
        // Longer than the test waits for the tasks.
        _ = mayReturn.wait(seconds: 2 * patience)
      }, to: 1)
    Task {
      _ = try await making.sessions.reactor(for: 1)
      isResumed.open()
    }
    Task {
      try await making.sessions.sendSuspending(.note(2), to: 1)
      isResumed.open()
    }
    #expect(await eventually { making.sessions.counters.waiting >= making.waiting + 3 })
    making.goOn()
    #expect(await eventually { isResumed.isOpen && isInTurn.isOpen })
    mayReturn.open()
    #expect(making.finish())
    #expect(making.sessions.currentState(of: 1) == [1, 2])
  }

  @Test func `a request gives up at its deadline while its reactor has no room`() async throws {
    let loop = try SteppedLoop()
    let (sessions, log) = (makeFull(on: loop), Record<String>())
    #expect(sessions[1]?.counters.waiting == 2)
    let task = Task {
      log.append(
        await failure { try await sessions.ask(1, before: .now + .milliseconds(5)) { .count($0) } as Int })
    }
    #expect(await eventually { !log.elements.isEmpty })
    #expect(log.elements == ["\(AskError.timedOut)"])
    // It takes no place any more.
    #expect(sessions[1]?.counters.waiting == 2)
    #expect(loop.run())
    #expect(sessions.currentState(of: 1) == [1, 2])
    task.cancel()
    sessions.close()
    loop.shutdown()
  }

  @Test(arguments: [false, true])
  func `a reactor whose request waits for its reply is not passivated`(isFirst: Bool) async throws {
    let (sessions, replies) = (store.makeSessions(), Record<Reply<Int>>())
    if !isFirst { sessions.send(.note(1), to: 1) }
    let task = Task { try await sessions.ask(1) { reply in .run { replies.append(reply) } } as Int }
    #expect(await eventually { !replies.elements.isEmpty })
    #expect(!sessions.passivate(1))
    #expect(sessions.passivate(idleFor: .zero) == 0)
    replies.elements[0](5)
    #expect(try await task.value == 5)
    #expect(await eventually { sessions.passivate(1) })
  }

  @Test(arguments: [false, true])
  func `a request with a completion uses its reactor only if the completion holds it`(holds: Bool) throws {
    let (sessions, replies, results) = (store.makeSessions(), Record<Reply<Int>>(), Record<Int?>())
    sessions.send(.note(1), to: 1)
    do {
      let session = try #require(sessions[1])
      let held = holds ? session : nil
      session.ask(
        { reply in .run { replies.append(reply) } },
        completion: { result in withExtendedLifetime(held) { results.append(try? result.get()) } })
    }
    #expect(sessions.passivate(1) != holds)
    replies.elements[0](5)
    #expect(results.elements == [5])
    #expect(sessions.passivate(1) == holds)
  }

  @Test func `a reply that a passivated reactor keeps fails as what has kept it ends`() throws {
    let (keepers, log) = (KeyedReactors<Int, ReplyKeeper>(make: { _ in ReplyKeeper() }), Record<String>())
    for place in ReplyKeeper.Place.allCases {
      keepers.send(.touch, to: 1)
      do {
        let keeper = try #require(keepers[1])
        keeper.ask(
          { .keep($0, place) },
          completion: { result in if case .failure(let error) = result { log.append("\(error)") } })
      }
      let count = log.elements.count
      #expect(keepers.passivate(1))
      #expect(log.elements.count == count + 1)
    }
    #expect(log.elements == [AskError.closed, .closed, .dropped].map { "\($0)" })
  }

  @Test(arguments: [false, true])
  func `a cancelled task stops waiting for the reactor of a key`(asks: Bool) async throws {
    let (making, log) = (store.beginMaking(), Record<String>())
    let (sessions, waiting) = (making.sessions, making.waiting)
    let task = Task {
      log.append(
        await failure {
          asks
            ? try await sessions.ask(1) { .count($0) } as Int
            : try await sessions.reactor(for: 1).currentState.count
        })
    }
    #expect(await eventually { sessions.counters.waiting == waiting + 1 })
    task.cancel()
    #expect(await eventually { !log.elements.isEmpty })
    #expect(log.elements == [asks ? "\(AskError.cancelled)" : "\(SendError.cancelled)"])
    #expect(sessions.counters.waiting == waiting)
    #expect(making.finish())
    #expect(sessions.currentState(of: 1) == [1])
  }

  @Test func `a request that has given up makes no reactor`() async throws {
    let (isKeeping, mayKeep, log) = (Gate(), Gate(), Record<String>())
    let sessions = store.makeSessions(beforeKeeping: { _ in
      isKeeping.open()
      _ = mayKeep.wait()
    })
    sessions.send(.note(0), to: 1)
    let isDone = Threads.start { sessions.passivate(1) }
    #expect(isKeeping.wait())
    let task = Task {
      log.append(
        await failure { try await sessions.ask(1, before: .now + .milliseconds(5)) { .count($0) } as Int })
    }
    #expect(await eventually { !log.elements.isEmpty })
    #expect(log.elements == ["\(AskError.timedOut)"])
    mayKeep.open()
    #expect(isDone.wait())
    task.cancel()
    #expect(store.madeKeys.elements == [1])
    #expect(sessions.count == 0)
  }

  @Test func `a request of a cancelled task makes no reactor`() async {
    let (sessions, log) = (store.makeSessions(), Record<String>())
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      log.append(await failure { try await sessions.ask(1) { .count($0) } as Int })
    }
    await task.value
    #expect(log.elements == ["\(AskError.cancelled)"])
    #expect(store.madeKeys.elements == [])
  }

  /// What is sent after a request, a removal or the end of the collection, comes after it.
  @Test(arguments: [false, true], [false, true])
  func `a request that waits for its reactor comes before a later removal or end`(
    closes: Bool, hasCompletion: Bool
  ) async throws {
    let (making, log) = (store.beginMaking(), Record<String>())
    let (sessions, waiting) = (making.sessions, making.waiting)
    if hasCompletion {
      sessions.ask(1, { .count($0) }, completion: { log.append("\($0)") })
    } else {
      _ = Task { log.append("success(\(await failure { try await sessions.ask(1) { .count($0) } as Int }))") }
    }
    #expect(await eventually { sessions.counters.waiting == waiting + 1 })
    if closes {
      sessions.close()
    } else {
      #expect(sessions.remove(1))
      sessions.send(.note(2), to: 1)
    }
    #expect(making.finish())
    #expect(await eventually { !log.elements.isEmpty })
    #expect(log.elements == ["success(1)"])
    #expect(sessions.currentState(of: 1) == (closes ? nil : [2]))
    #expect(store.failures.elements == [])
  }

  @Test(arguments: [false, true])
  func `the reactor of a request by key with a completion is in use until the reply`(isFirst: Bool) {
    let (sessions, replies, results) = (store.makeSessions(), Record<Reply<Int>>(), Record<Int?>())
    if !isFirst { sessions.send(.note(1), to: 1) }
    sessions.ask(
      1, { reply in .run { replies.append(reply) } }, completion: { results.append(try? $0.get()) })
    #expect(replies.elements.count == 1)
    #expect(!sessions.passivate(1))
    replies.elements[0](5)
    #expect(results.elements == [5])
    #expect(sessions.passivate(1))
  }

  /// A program that sends it again would do it twice.
  @Test func `a suspended send that its reactor has accepted was not cancelled`() async throws {
    let (making, isInside, mayLeave) = (store.beginMaking(), Gate(), Gate())
    let (sessions, waiting) = (making.sessions, making.waiting)
    let action = KeyedSession.Action.run {
      isInside.open()
      _ = mayLeave.wait()
    }
    let task = Task { try await sessions.sendSuspending(action, to: 1) }
    #expect(await eventually { sessions.counters.waiting == waiting + 1 })
    making.goOn()
    #expect(await eventually { isInside.isOpen })
    task.cancel()
    mayLeave.open()
    try await task.value
    #expect(making.finish())
  }

  /// An action of a request that has given up may hold what uses the collection at its end.
  @Test func `what a task has given up is destroyed by the task`() async throws {
    let (making, lifetimes) = (store.beginMaking(), Lifetimes())
    let (sessions, waiting) = (making.sessions, making.waiting)
    let task = Task { [tracked = lifetimes.track()] in
      try await sessions.sendSuspending(.run { _ = tracked.value }, to: 1)
    }
    #expect(await eventually { sessions.counters.waiting == waiting + 1 })
    task.cancel()
    await #expect(throws: SendError.cancelled) { try await task.value }
    #expect(await eventually { lifetimes.alive == 0 })
    #expect(making.finish())
  }

  @Test(arguments: [false, true])
  func `a request whose reactor drops the reply fails`(isFirst: Bool) async {
    let sessions = store.makeSessions()
    if !isFirst { sessions.send(.note(1), to: 1) }
    let failure = await failure { try await sessions.ask(1) { reply in .run { _ = reply } } as Int }
    #expect(failure == "\(AskError.dropped)")
  }

  @Test func `a request with a completion whose stream ends with its reactor finds that closed`() {
    let results = Record<String>()
    let keepers = KeyedReactors<Int, ReplyKeeper>(make: { _ in ReplyKeeper() })
    keepers.ask(1, { .keepAndClose($0) }, completion: { results.append("\($0)") })
    #expect(results.elements == ["failure(\(AskError.closed))"])
  }

  @Test func `a request with a completion that no reactor gets says why`() throws {
    let (making, log) = (store.beginMaking(waitingCapacity: 1), Record<String>())
    let sessions = making.sessions
    func ask(_ key: Int, before deadline: ContinuousClock.Instant? = nil) {
      sessions.ask(
        key, { .count($0) }, before: deadline,
        completion: { if case .failure(let error) = $0 { log.append("\(error)") } })
    }
    ask(2, before: .now - .seconds(1))
    #expect(sessions.count == 1)
    ask(1)
    #expect(making.finish())
    sessions.close()
    ask(1)
    #expect(log.elements == [AskError.timedOut, .refused(.full), .closed].map { "\($0)" })
    #expect(store.failures.elements == [])
  }

  @Test func `a request of a task whose deadline has passed makes no reactor`() async {
    let sessions = store.makeSessions()
    let failure = await failure {
      try await sessions.ask(1, before: .now - .seconds(1)) { .count($0) } as Int
    }
    #expect(failure == "\(AskError.timedOut)")
    #expect(store.madeKeys.elements == [])
  }

  @Test func `a suspended send waits in its order and can be taken out`() async throws {
    let making = store.beginMaking()
    let (sessions, waiting) = (making.sessions, making.waiting)
    var tasks: [Task<Void, any Error>] = []
    for note in 2...3 {
      tasks.append(Task { try await sessions.sendSuspending(.note(note), to: 1) })
      #expect(await eventually { sessions.counters.waiting == waiting + tasks.count })
    }
    tasks[1].cancel()
    await #expect(throws: SendError.cancelled) { try await tasks[1].value }
    sessions.send(.note(4), to: 1)
    making.goOn()
    try await tasks[0].value
    #expect(making.finish())
    try await sessions.sendSuspending(.note(5), to: 1)
    #expect(sessions.currentState(of: 1) == [1, 2, 4, 5])
  }

  @Test func `a state is kept after the last replies have left`() throws {
    let (loop, log) = (try SteppedLoop(), Record<String>())
    let sessions = store.makeSessions(on: loop.placement, beforeKeeping: { _ in log.append("kept") })
    sessions.send(.note(1), to: 1)
    #expect(loop.run())
    sessions[1]?.ask {
      .count($0)
    } completion: { _ in
      log.append("reply")
    }
    sessions.close()
    #expect(loop.run())
    #expect(log.elements == ["reply", "kept"])
    loop.shutdown()
  }
}

/// Keeps replies, and does not use them.
private final class ReplyKeeper: Reactor {
  enum Place: CaseIterable { case stream, state, property }

  enum Action: Sendable {
    case touch
    case keep(Reply<Int>, Place)
    case keepAndClose(Reply<Int>)
  }

  let initialState: [Reply<Int>] = []
  let runtime = Runtime<Action, Reply<Int>, [Reply<Int>]>()
  private let kept = Record<Reply<Int>>()

  func mutate(action: Action) -> Observable<Reply<Int>> {
    if case .keepAndClose(let reply) = action {
      close()
      return .never().do(onDispose: { withExtendedLifetime(reply) {} })
    }
    guard case .keep(let reply, let place) = action else { return .empty() }
    switch place {
    case .stream: return .never()
    case .state: return .just(reply)
    case .property:
      kept.append(reply)
      return .empty()
    }
  }

  func reduce(into state: inout [Reply<Int>], mutation: Reply<Int>) { state.append(mutation) }
}
