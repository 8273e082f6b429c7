import ReactorCore
import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// Tests of sending to keys, and of reading.
@Suite struct KeyedReactorsTests {
  private let store = SessionStore()

  @Test func `a collection of durable reactors stops the program`() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      final class Durable: Reactor {
        static var isDurable: Bool { true }
        let initialState = 0
        let runtime = Runtime<Int, Int, Int>()
        func reduce(into state: inout Int, mutation: Int) { state += mutation }
      }
      _ = KeyedReactors<Int, Durable> { _ in Durable() }
    }
    #expect(
      stop?.standardErrorContent.says("KeyedReactors was made with the durable reactor Durable") == true)
  }

  /// A client may have sent such a number.
  @Test func `a key that is not equal to itself stops the program`() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let sessions = KeyedReactors<Double, KeyedSession> { _ in KeyedSession() }
      sessions.send(.note(1), to: .nan)
    }
    #expect(stop?.standardErrorContent.says("a key of KeyedReactors is not equal to itself: nan") == true)
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a reactor that was closed is passivated at the next send to its key`(
    _ placement: PlacementUnderTest
  ) async throws {
    let stage = try Stage(placement)
    let sessions = store.makeSessions(on: stage.placement)
    sessions.send(.note(1), to: 1)
    #expect(Threads.yield { sessions.currentState(of: 1) == [1] })
    sessions[1]?.close()
    sessions.send(.note(2), to: 1)
    sessions.send(.note(3), to: 1)
    #expect(Threads.yield { sessions.currentState(of: 1) == [1, 2, 3] })
    sessions[1]?.close()
    let count = Record<Int?>()
    sessions.ask(1, { .count($0) }, completion: { count.append(try? $0.get()) })
    #expect(Threads.yield { count.elements == [3] })
    #expect(store.madeKeys.elements == [1, 1, 1])
    #expect(sessions.counters.passivated == 2)
    #expect(store.failures.elements == [])
    #expect(stage.finish())
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `what waits behind an action that closes the reactor is for the next one`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let (isMaking, mayMake) = (Gate(), Gate())
    let sessions = store.makeSessions(
      on: stage.placement,
      beforeMaking: { _ in
        isMaking.open()
        _ = mayMake.wait()
      })
    let isDone = Threads.start { sessions.send(.close, to: 1) }
    #expect(isMaking.wait())
    for note in 1...3 { sessions.send(.note(note), to: 1) }
    mayMake.open()
    #expect(isDone.wait())
    // What is sent at the moment when the first reactor is closed on its loop may be refused.
    #expect(Threads.yield { sessions.currentState(of: 1) == [1, 2, 3] })
    sessions.send(.note(4), to: 1)
    #expect(Threads.yield { sessions.currentState(of: 1) == [1, 2, 3, 4] })
    #expect(store.failures.elements == [])
    #expect(stage.finish())
  }

  /// The next reactor could do nothing there, either.
  @Test func `a reactor whose loop was shut down stays`() throws {
    let loop = try Loop()
    let sessions = store.makeSessions(on: .loop(loop))
    sessions.send(.note(1), to: 1)
    loop.shutdown()
    for note in 2...3 { sessions.send(.note(note), to: 1) }
    #expect(sessions.currentState(of: 1) == [1])
    #expect(store.madeKeys.elements == [1])
    #expect(store.failures.elements == [.closed, .closed])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a reactor is made at the first send to its key`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let sessions = store.makeSessions(on: stage.placement)
    for note in 1...3 { for key in 0..<100 { sessions.send(.note(note * key), to: key) } }
    #expect(stage.finish(after: { (0..<100).allSatisfy { sessions.currentState(of: $0)?.count == 3 } }))
    for key in 0..<100 { #expect(sessions.currentState(of: key) == [key, 2 * key, 3 * key]) }
    #expect(store.madeKeys.elements == Array(0..<100))
    #expect(sessions.count == 100)
    #expect(sessions.keys.sorted() == Array(0..<100))
    #expect(
      sessions.counters.description == "count 100, ending 0, made 100, passivated 0, removed 0, waiting 0")
  }

  @Test func `reading makes no reactor`() {
    let sessions = store.makeSessions()
    #expect(sessions[1] == nil)
    #expect(sessions.currentState(of: 1) == nil)
    #expect(sessions.withCurrentState(of: 1) { $0.count } == nil)
    #expect(!sessions.remove(1))
    #expect(!sessions.passivate(1))
    #expect(sessions.count == 0)
    sessions.send(.note(7), to: 1)
    #expect(sessions[1]?.currentState == [7])
    #expect(sessions.withCurrentState(of: 1) { $0.count } == 1)
  }

  @Test func `what is sent while a reactor is made waits in its order`() throws {
    let (isMaking, mayMake) = (Gate(), Gate())
    let sessions = store.makeSessions(beforeMaking: { _ in
      isMaking.open()
      _ = mayMake.wait()
    })
    let isDone = Threads.start { sessions.send(.note(0), to: 1) }
    #expect(isMaking.wait())
    for note in 1...9 { sessions.send(.note(note), to: 1) }
    try sessions.trySend(.note(10), to: 1)
    #expect(sessions.currentState(of: 1) == nil)
    #expect(sessions.counters.waiting == 11)
    mayMake.open()
    #expect(isDone.wait())
    #expect(sessions.currentState(of: 1) == Array(0...10))
    #expect(store.madeKeys.elements == [1])
  }

  @Test func `what is sent inside of make and of its first action comes afterwards`() {
    let sessions = Shared(Late<KeyedReactors<Int, KeyedSession>>())
    sessions.value.set(
      store.makeSessions(beforeMaking: { key in sessions.value.get().send(.note(1), to: key) }))
    sessions.value.get().send(.run { sessions.value.get().send(.note(2), to: 5) }, to: 5)
    #expect(sessions.value.get().currentState(of: 5) == [1, 2])
    sessions.value.set(nil)
  }

  @Test func `more than the waiting capacity is refused and reported`() throws {
    let (isMaking, mayMake) = (Gate(), Gate())
    let sessions = store.makeSessions(
      waitingCapacity: 2,
      beforeMaking: { _ in
        isMaking.open()
        _ = mayMake.wait()
      })
    let isDone = Threads.start { sessions.send(.note(0), to: 1) }
    #expect(isMaking.wait())
    sessions.send(.note(1), to: 1)
    #expect(throws: SendError.full) { try sessions.trySend(.note(2), to: 1) }
    #expect(store.failures.elements == [])
    sessions.send(.note(3), to: 1)
    #expect(store.failures.elements == [.full])
    mayMake.open()
    #expect(isDone.wait())
    #expect(sessions.currentState(of: 1) == [0, 1])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `requests by key get their replies`(_ placement: PlacementUnderTest) async throws {
    let stage = try Stage(placement)
    let sessions = store.makeSessions(on: stage.placement)
    #expect(try await sessions.ask(3) { .count($0) } == 0)
    sessions.send(.note(1), to: 3)
    #expect(try await sessions.ask(3, before: .now + .seconds(patience)) { .count($0) } == 1)
    let session = try await sessions.reactor(for: 3)
    #expect(session.currentState == [1])
    #expect(store.madeKeys.elements == [3])
    #expect(stage.finish())
  }

  @Test func `a request waits while the reactor is made`() async throws {
    let (isMaking, mayMake) = (Gate(), Gate())
    let sessions = store.makeSessions(beforeMaking: { _ in
      isMaking.open()
      _ = mayMake.wait()
    })
    let isDone = Threads.start { sessions.send(.note(0), to: 1) }
    #expect(isMaking.wait())
    let request = Task { try await sessions.ask(1) { .count($0) } as Int }
    #expect(await eventually { sessions.counters.waiting >= 2 })
    mayMake.open()
    let count = try await request.value
    #expect(count == 1)
    #expect(isDone.wait())
  }

  @Test func `reactors end with a collection that goes away`() {
    weak var session: KeyedSession?
    do {
      let sessions = store.makeSessions()
      sessions.send(.note(1), to: 1)
      session = sessions[1]
      #expect(session != nil)
    }
    #expect(session == nil)
    #expect(store.keptKeys.elements == [])
  }

  /// Each action sends two more to the key while it is processed, so something always waits.
  @Test func `a key becomes active although something always waits for its reactor`() {
    let sessions = Shared(Late<KeyedReactors<Int, KeyedSession>>())
    sessions.value.set(store.makeSessions())
    let wasActive = Record<Bool>()
    @Sendable func run(_ generation: Int) {
      wasActive.append(sessions.value.get()[1] != nil)
      if generation == 6 { return }
      #expect(
        Threads.run(1) { _ in
          for _ in 0..<2 { sessions.value.get().send(.run { run(generation + 1) }, to: 1) }
        })
    }
    sessions.value.get().send(.run { run(0) }, to: 1)
    #expect(wasActive.elements == [false] + Array(repeating: true, count: 126))
    sessions.value.set(nil)
  }

  @Test func `a send that makes a reactor does not wait for room`() throws {
    let (isMaking, mayMake) = (Gate(), Gate())
    let loop = try SteppedLoop()
    let sessions = store.makeSessions(
      on: loop.placement, capacity: 8,
      beforeMaking: { _ in
        isMaking.open()
        _ = mayMake.wait()
      })
    let isDone = Threads.start { try? sessions.trySend(.note(0), to: 1) }
    #expect(isMaking.wait())
    for note in 1...100 { sessions.send(.note(note), to: 1) }
    mayMake.open()
    #expect(isDone.wait(seconds: 60))
    // All of it waits for the loop, most of it beside the mailbox.
    #expect(sessions.counters.waiting == 0)
    #expect(sessions[1]?.counters.waiting == 101)
    #expect(throws: SendError.full) { try sessions.trySend(.note(101), to: 1) }
    #expect(loop.run())
    #expect(sessions.currentState(of: 1) == Array(0...100))
    #expect(sessions.counters.waiting == 0)
    #expect(store.failures.elements == [])
    loop.shutdown()
  }

  @Test func `a send that makes a reactor does not wait for room while another thread has a turn`() {
    let (isMaking, mayMake, made) = (Gate(), Gate(), Record<KeyedSession>())
    let (isReleased, isOwned, mayEnd) = (Gate(), Gate(), Gate())
    let sessions = KeyedReactors<Int, KeyedSession> { _ in
      isMaking.open()
      _ = mayMake.wait()
      let session = KeyedSession(capacity: 8)
      made.append(session)
      return session
    }
    // After the first turn, another thread becomes the owner.
    let afterTurn = { @Sendable in
      isReleased.open()
      _ = isOwned.wait()
    }
    let isDone = Threads.start { sessions.send(.run { TurnEndAction(afterTurn).runAfterTurn() }, to: 1) }
    #expect(isMaking.wait())
    for note in 1...100 { sessions.send(.note(note), to: 1) }
    let hasRun = Threads.start {
      _ = isReleased.wait()
      made.elements[0].send(
        .run {
          isOwned.open()
          _ = mayEnd.wait()
        })
    }
    mayMake.open()
    #expect(isDone.wait(seconds: 60))
    mayEnd.open()
    #expect(hasRun.wait() && isDone.wait())
    #expect(made.elements[0].currentState == Array(1...100))
  }

  @Test(arguments: [OverflowPolicy.block, .fail, .dropNewest, .dropOldest])
  func `what waits for a reactor on the caller is processed, also beyond its capacity`(
    _ overflow: OverflowPolicy
  ) {
    let (isMaking, mayMake) = (Gate(), Gate())
    let sessions = KeyedReactors<Int, KeyedSession> { [store] _ in
      isMaking.open()
      _ = mayMake.wait()
      return KeyedSession(capacity: 2, overflow: overflow, failures: store.failures)
    }
    let isDone = Threads.start { sessions.send(.note(0), to: 1) }
    #expect(isMaking.wait())
    for note in 1...3000 { sessions.send(.note(note), to: 1) }
    mayMake.open()
    #expect(isDone.wait())
    #expect(sessions.currentState(of: 1) == Array(0...3000))
    #expect(sessions.counters.waiting == 0)
    #expect(store.failures.elements == [])
  }

  @Test func `what waits beside the mailbox of a reactor is reported if the collection is closed`() throws {
    let (isMaking, mayMake) = (Gate(), Gate())
    let loop = try SteppedLoop()
    let sessions = store.makeSessions(
      on: loop.placement, capacity: 8,
      beforeMaking: { _ in
        isMaking.open()
        _ = mayMake.wait()
      })
    let isDone = Threads.start { sessions.send(.note(0), to: 1) }
    #expect(isMaking.wait())
    for note in 1...20 { sessions.send(.note(note), to: 1) }
    mayMake.open()
    #expect(isDone.wait(seconds: 60))
    sessions.close(.discard)
    #expect(loop.run())
    #expect(store.failures.elements.count == 21)
    #expect(sessions.finishClosing(before: .now + .seconds(60)).isEmpty)
    loop.shutdown()
  }
}

/// A variable that is set after what it is captured by was made.
struct Late<Value: Sendable>: Sendable {
  private let values = Record<Value?>()

  func set(_ value: Value?) { values.append(value) }

  func get() -> Value {
    guard let value = values.elements.last ?? nil else { fatalError("not set") }
    return value
  }
}
