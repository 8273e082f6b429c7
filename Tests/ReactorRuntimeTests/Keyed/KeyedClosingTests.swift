import Glibc
import ReactorCore
import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// Tests of closing all reactors of a collection.
@Suite struct KeyedClosingTests {
  /// Its end takes long.
  private final class Lasting: Reactor {
    typealias Action = Int
    let initialState = 0
    let runtime = Runtime<Int, Int, Int>()
    private let (isGoing, mayGo): (Gate, Gate)

    init(_ isGoing: Gate, _ mayGo: Gate) { (self.isGoing, self.mayGo) = (isGoing, mayGo) }

    deinit {
      isGoing.open()
      _ = mayGo.wait()
    }

    func reduce(into state: inout Int, mutation: Int) { state += mutation }
  }

  private let store = SessionStore()

  @Test(arguments: PlacementUnderTest.allCases)
  func `closing processes what was accepted and keeps all states`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let sessions = store.makeSessions(on: stage.placement)
    for note in 1...3 { for key in 0..<100 { sessions.send(.note(note), to: key) } }
    try Shutdown.close([sessions], before: .now + .seconds(patience))
    #expect(store.keptKeys.elements.sorted() == Array(0..<100))
    for key in 0..<100 { #expect(store.load(key) == [1, 2, 3]) }
    #expect(sessions.count == 0)
    #expect(throws: SendError.closed) { try sessions.trySend(.note(1), to: 1) }
    #expect(store.failures.elements == [])
    sessions.send(.note(1), to: 1)
    #expect(store.failures.elements == [.closed])
    #expect(stage.finish())
  }

  @Test func `an empty collection ends at once`() throws {
    let sessions = store.makeSessions()
    try Shutdown.close([sessions], before: .now)
    try Shutdown.close([sessions], before: .now)
  }

  @Test func `a failure handler that is told what a collection discards does not wait for itself`() {
    let (sessions, found) = (
      SystemMutex<KeyedReactors<Int, KeyedSession>?>(nil), Record<Unfinished.Occupation>()
    )
    let keeping = HeldTransition(keeping: 1) { hold in
      let made = KeyedReactors<Int, KeyedSession>(
        onFailure: { _ in
          for part in sessions.withLock({ $0 })?.finishClosing(before: .now + .seconds(1)) ?? [] {
            found.append(part.occupation)
          }
        },
        onPassivate: { _, _ in hold() }, make: { _ in KeyedSession() })
      sessions.withLock { $0 = made }
      return made
    }
    keeping.sessions.send(.note(2), to: 1)
    keeping.sessions.close(.discard)
    #expect(keeping.finish())
    #expect(found.elements == [.closesItself])
    #expect(keeping.sessions.finishClosing(before: .now + .seconds(patience)).isEmpty)
    sessions.withLock { $0 = nil }
  }

  @Test func `the completion of the first request of a key does not wait for itself`() {
    let (sessions, found) = (store.makeSessions(), Record<Unfinished.Occupation>())
    sessions.ask(
      1, { .count($0) },
      completion: { [unowned sessions] _ in
        sessions.close()
        for part in sessions.finishClosing(before: .now + .seconds(1)) { found.append(part.occupation) }
      })
    #expect(found.elements == [.closesItself])
    #expect(sessions.finishClosing(before: .now + .seconds(patience)).isEmpty)
  }

  @Test func `a task whose request is discarded does not wait for a failure handler`() async {
    let (isTelling, mayEnd, outcome) = (Gate(), Gate(), Record<Bool>())
    let keeping = HeldTransition(keeping: 1) { hold in
      KeyedReactors<Int, KeyedSession>(
        onFailure: { _ in
          isTelling.open()
          _ = mayEnd.wait()
        },
        onPassivate: { _, _ in hold() }, make: { _ in KeyedSession() })
    }
    let sessions = keeping.sessions
    sessions.send(.note(2), to: 1)
    sessions.ask(1, { .count($0) }, completion: { outcome.append((try? $0.get()) == nil) })
    sessions.close(.discard)
    keeping.goOn()
    #expect(isTelling.wait())
    #expect(outcome.elements == [true])
    mayEnd.open()
    #expect(keeping.finish())
  }

  @Test func `closing holds its deadline, and closes the other parts, while a state is being kept`() throws {
    let (isKeeping, mayKeep, unfinished) = (Gate(), Gate(), Record<String>())
    let loop = try Loop()
    let sessions = store.makeSessions(beforeKeeping: { _ in
      isKeeping.open()
      _ = mayKeep.wait()
    })
    for key in 0..<10 { sessions.send(.note(1), to: key) }
    let isDone = Threads.start {
      do throws(ShutdownError) {
        try Shutdown.close([sessions, loop], before: .now + .milliseconds(20))
      } catch {
        if case .unfinished(let parts) = error { for part in parts { unfinished.append(part.name) } }
      }
    }
    #expect(isKeeping.wait())
    #expect(Threads.yield(seconds: 60) { (try? loop.execute {}) == nil })
    #expect(isDone.wait(seconds: 60))
    #expect(unfinished.elements.contains { $0.contains("KeyedReactors") })
    // Overrules it; the states are kept all the same.
    sessions.close(.discard)
    mayKeep.open()
    #expect(isDone.wait())
    try Shutdown.close([sessions, loop], before: .now + .seconds(patience))
    #expect(store.keptKeys.elements.sorted() == Array(0..<10))
    #expect(store.load(9) == [1])
  }

  @Test(arguments: [false, true])
  func `what keeps the states sends them to a part that is closed with the collection`(closesLoop: Bool)
    throws
  {
    let loop = try Loop()
    let archive = Script(on: .loop(loop))
    let reactors = KeyedReactors<Int, Script>(
      onPassivate: { key, _ in archive.send(key) }, make: { _ in Script(on: .caller) })
    for key in 0..<100 { reactors.send(1, to: key) }
    let deadline = ContinuousClock.now + .seconds(patience)
    if closesLoop {
      try Shutdown.close([reactors, loop], before: deadline)
    } else {
      try Shutdown.close([reactors, archive.closer(), loop], before: deadline)
    }
    #expect(archive.currentState.sorted() == Array(0..<100))
  }

  @Test func `closing does not wait for the states of reactors whose loop has ended`() throws {
    let (loop, mayKeep, kept) = (try Loop(), Gate(), Record<Int>())
    let reactors = KeyedReactors<Int, Script>(
      onPassivate: { key, _ in
        _ = mayKeep.wait()
        kept.append(key)
      }, make: { _ in Script(on: .loop(loop)) })
    for key in 0..<5 { reactors.send(1, to: key) }
    loop.shutdown()
    #expect(throws: ShutdownError.self) {
      try Shutdown.close([reactors], before: .now + .milliseconds(20))
    }
    #expect(kept.elements.isEmpty)
    mayKeep.open()
    #expect(reactors.finishClosing(before: .now + .seconds(patience)).isEmpty)
    #expect(kept.elements.sorted() == Array(0..<5))
  }

  @Test func `closing lets a reactor go when its state is kept`() {
    let (lifetimes, alive) = (Lifetimes(), Record<Int>())
    let reactors = KeyedReactors<Int, TrackedReactor>(
      onPassivate: { _, _ in alive.append(lifetimes.alive) }, make: { _ in TrackedReactor(lifetimes.track()) }
    )
    for key in 0..<5 { reactors.send(1, to: key) }
    reactors.close()
    #expect(Threads.yield { alive.elements.count == 5 })
    #expect(alive.elements == [5, 4, 3, 2, 1])
    #expect(reactors.finishClosing(before: .now + .seconds(patience)).isEmpty)
  }

  @Test func `a collection ends after its last reactor has gone`() {
    let (isGoing, mayGo) = (Gate(), Gate())
    let reactors = KeyedReactors<Int, Lasting>(make: { _ in Lasting(isGoing, mayGo) })
    reactors.send(1, to: 1)
    reactors.close()
    #expect(isGoing.wait())
    #expect(!reactors.finishClosing(before: .now + .milliseconds(20)).isEmpty)
    mayGo.open()
    #expect(reactors.finishClosing(before: .now + .seconds(patience)).isEmpty)
  }

  @Test func `a collection that does not end leaves time to what is behind it`() throws {
    let (mayKeep, kept) = (Gate(), Record<Int>())
    let loop = try Loop()
    let first = KeyedReactors<Int, Script>(
      onPassivate: { _, _ in _ = mayKeep.wait() }, make: { _ in Script(on: .caller) })
    let second = KeyedReactors<Int, Script>(
      onPassivate: { key, _ in
        usleep(20_000)
        kept.append(key)
      }, make: { _ in Script(on: .caller) })
    for key in 0..<10 {
      first.send(1, to: key)
      second.send(1, to: key)
    }
    // Long enough for a busy machine; a third of it passes.
    let error = #expect(throws: ShutdownError.self) {
      try Shutdown.close([first, second, loop], before: .now + .seconds(3))
    }
    #expect(kept.elements.sorted() == Array(0..<10))
    if case .unfinished(let parts) = error {
      #expect(parts.count == 1)
    } else {
      Issue.record("\(error as Any)")
    }
    mayKeep.open()
    try Shutdown.close([first, second, loop], before: .now + .seconds(patience))
  }

  @Test func `what waits for a reactor is processed before the end`() throws {
    let keeping = store.beginKeeping(note: 0)
    let sessions = keeping.sessions
    sessions.send(.note(1), to: 1)
    sessions.close()
    sessions.send(.note(2), to: 1)
    let unfinished = sessions.finishClosing(before: .now + .milliseconds(1))
    #expect(unfinished.map(\.occupation) == [.waiting(actions: 1)])
    #expect(keeping.finish())
    try Shutdown.close([sessions], before: .now + .seconds(patience))
    #expect(store.load(1) == [0, 1])
    #expect(store.failures.elements == [.closed])
  }

  @Test func `discarding reports what waits`() async throws {
    let (isMaking, mayMake) = (Gate(), Gate())
    let sessions = store.makeSessions(beforeMaking: { _ in
      isMaking.open()
      _ = mayMake.wait()
    })
    let isDone = Threads.start { for note in 0..<3 { sessions.send(.note(note), to: 1) } }
    #expect(isMaking.wait())
    let refused = Task { try await sessions.reactor(for: 1).currentState }
    #expect(await eventually { sessions.counters.waiting >= 2 })
    sessions.close(.discard)
    mayMake.open()
    #expect(isDone.wait())
    await #expect(throws: SendError.closed) { try await refused.value }
    try Shutdown.close([sessions], before: .now + .seconds(patience))
    #expect(store.failures.elements == [.closed, .closed, .closed])
    #expect(store.load(1) == [])
  }

  @Test func `discarding reports also the only action that waits`() throws {
    let (isMaking, mayMake) = (Gate(), Gate())
    let sessions = store.makeSessions(beforeMaking: { _ in
      isMaking.open()
      _ = mayMake.wait()
    })
    let isDone = Threads.start { sessions.send(.note(1), to: 1) }
    #expect(isMaking.wait())
    sessions.close(.discard)
    mayMake.open()
    #expect(isDone.wait())
    try Shutdown.close([sessions], before: .now + .seconds(patience))
    #expect(store.failures.elements == [.closed])
    #expect(store.load(1) == [])
  }

  @Test func `a collection that is closed inside of a turn does not wait`() throws {
    let sessions = store.makeSessions()
    let found = Record<Unfinished.Occupation>()
    sessions.send(
      .run { [unowned sessions] in
        sessions.close()
        for part in sessions.finishClosing(before: .now + .seconds(patience)) {
          found.append(part.occupation)
        }
      }, to: 1)
    #expect(found.elements == [.closesItself])
    #expect(sessions.finishClosing(before: .now + .seconds(patience)).isEmpty)
    #expect(store.keptKeys.elements == [1])
  }

  @Test(arguments: [false, true])
  func `a collection that is closed by its own make or onPassivate does not wait`(whileMaking: Bool) throws {
    let (sessions, found) = (
      Shared(Late<KeyedReactors<Int, KeyedSession>>()), Record<Unfinished.Occupation>()
    )
    let close = { @Sendable in
      do throws(ShutdownError) {
        try Shutdown.close([sessions.value.get()], before: .now + .seconds(1))
      } catch {
        if case .unfinished(let parts) = error { for part in parts { found.append(part.occupation) } }
      }
    }
    sessions.value.set(
      store.makeSessions(
        beforeKeeping: { _ in if !whileMaking { close() } }, beforeMaking: { _ in if whileMaking { close() } }
      ))
    sessions.value.get().send(.note(1), to: 1)
    if !whileMaking { #expect(sessions.value.get().passivate(1)) }
    #expect(found.elements == [.closesItself])
    try Shutdown.close([sessions.value.get()], before: .now + .seconds(patience))
    #expect(store.load(1) == [1])
    sessions.value.set(nil)
  }

  @Test func `requests to a closed collection are refused`() async {
    let sessions = store.makeSessions()
    sessions.close()
    await #expect(throws: SendError.closed) { try await sessions.reactor(for: 1) }
    await #expect {
      try await sessions.ask(1) { .count($0) }
    } throws: { error in
      if case AskError.closed = error { true } else { false }
    }
  }

  @Test func `a thread that has made a reactor which ends on its loop can wait for the end`() throws {
    let (loop, shared) = (try SteppedLoop(), Shared(Late<KeyedReactors<Int, KeyedSession>>()))
    let sessions = store.makeSessions(
      on: loop.placement, beforeMaking: { key in shared.value.get().remove(key) })
    shared.value.set(sessions)
    sessions.send(.note(1), to: 1)
    sessions.close()
    // It waits until the deadline: this thread is in no turn.
    let unfinished = sessions.finishClosing(before: .now + .milliseconds(1))
    #expect(unfinished.count == 1 && unfinished.first?.occupation != .closesItself)
    #expect(loop.run())
    #expect(sessions.finishClosing(before: .now + .seconds(patience)) == [])
    shared.value.set(nil)
    loop.shutdown()
  }

  @Test func `a collection that discards overrules the removal of a key that drains`() throws {
    let loop = try SteppedLoop()
    let sessions = store.makeSessions(on: loop.placement)
    for note in 1...3 { sessions.send(.note(note), to: 1) }
    #expect(sessions.remove(1))
    sessions.close(.discard)
    #expect(loop.run())
    #expect(store.failures.elements == [.closed, .closed, .closed])
    #expect(sessions.finishClosing(before: .now + .seconds(patience)) == [])
    loop.shutdown()
  }

  @Test func `all reactors of a closed collection refuse, though the state of one is still being kept`()
    throws
  {
    let (isKeeping, mayKeep) = (Gate(), Gate())
    let sessions = store.makeSessions(beforeKeeping: { _ in
      isKeeping.open()
      _ = mayKeep.wait()
    })
    for key in 0..<8 { sessions.send(.note(1), to: key) }
    let held = (0..<8).compactMap { sessions[$0] }
    sessions.close()
    #expect(isKeeping.wait())
    #expect(held.count == 8)
    for session in held {
      #expect(throws: SendError.closed) { try session.trySend(.note(2)) }
    }
    mayKeep.open()
    try Shutdown.close([sessions], before: .now + .seconds(patience))
    #expect((0..<8).allSatisfy { store.load($0) == [1] })
  }
}

private final class TrackedReactor: Reactor {
  let initialState = 0
  let runtime = Runtime<Int, Int, Int>()
  private let lifetime: LifetimeTracked

  init(_ lifetime: LifetimeTracked) { self.lifetime = lifetime }

  func reduce(into state: inout Int, mutation: Int) { state += mutation }
}
