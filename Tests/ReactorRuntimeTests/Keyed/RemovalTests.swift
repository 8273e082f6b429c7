import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// Tests of what a collection tells about removals: in which order with the other calls of its user.
@Suite struct RemovalTests {
  private let log = Record<String>()

  private func makeSessions(
    beforeKeeping: @escaping @Sendable () -> Void = {}, beforeMaking: @escaping @Sendable () -> Void = {},
    onRemove: @escaping @Sendable () -> Void = {}
  ) -> KeyedReactors<Int, KeyedSession> {
    KeyedReactors(
      onPassivate: { [log] _, notes in
        beforeKeeping()
        log.append("keep \(copy notes)")
      },
      onRemove: { [log] _ in
        log.append("remove")
        onRemove()
      },
      make: { [log] _ in
        beforeMaking()
        log.append("make")
        return KeyedSession()
      })
  }

  @Test func `a removal is told before the next reactor is made`() {
    let sessions = makeSessions()
    sessions.send(.note(1), to: 1)
    #expect(sessions.remove(1))
    sessions.send(.note(2), to: 1)
    #expect(log.elements == ["make", "remove", "make"])
    // Inside of its turn, it ends afterwards.
    sessions.send(
      .run { [unowned sessions, log] in
        #expect(sessions.remove(1))
        sessions.send(.note(3), to: 1)
        log.append("turn")
      }, to: 1)
    #expect(log.elements == ["make", "remove", "make", "turn", "remove", "make"])
    #expect(sessions.counters.description == "count 1, ending 0, made 3, passivated 0, removed 2, waiting 0")
  }

  @Test func `a removal is told after the state that was being kept`() {
    let keeping = HeldTransition(keeping: 1) { makeSessions(beforeKeeping: $0) }
    let sessions = keeping.sessions
    #expect(sessions.remove(1))
    sessions.send(.note(2), to: 1)
    #expect(keeping.finish())
    #expect(log.elements == ["make", "keep [1]", "remove", "make"])
    #expect(sessions.currentState(of: 1) == [2])
  }

  @Test func `a removal that discards overrules one that drains`() throws {
    let (loop, store) = (try SteppedLoop(), SessionStore())
    let sessions = store.makeSessions(on: loop.placement)
    for note in 1...3 { sessions.send(.note(note), to: 1) }
    #expect(sessions.remove(1))
    #expect(sessions.remove(1, .discard))
    #expect(loop.run())
    #expect(store.failures.elements == [.closed, .closed, .closed])
    #expect(sessions.counters.description == "count 0, ending 0, made 1, passivated 0, removed 1, waiting 0")
    sessions.close()
    loop.shutdown()
  }

  @Test func `a key whose removal is being told has no reactor`() {
    let (isTelling, mayEnd) = (Gate(), Gate())
    let sessions = makeSessions(onRemove: {
      isTelling.open()
      _ = mayEnd.wait()
    })
    sessions.send(.note(1), to: 1)
    let isDone = Threads.start { #expect(sessions.remove(1)) }
    #expect(isTelling.wait())
    #expect(!sessions.remove(1))
    mayEnd.open()
    #expect(isDone.wait())
    #expect(sessions.counters.description == "count 0, ending 0, made 1, passivated 0, removed 1, waiting 0")
  }

  @Test func `a removal is told while senders are told that their actions were discarded`() {
    let (isTelling, mayEnd, log) = (Gate(), Gate(), log)
    let keeping = HeldTransition(keeping: 1) { hold in
      KeyedReactors(
        onFailure: { _ in
          log.append("discarded")
          isTelling.open()
          _ = mayEnd.wait()
        },
        onPassivate: { _, _ in hold() }, onRemove: { _ in log.append("remove") },
        make: { _ in KeyedSession() })
    }
    let sessions = keeping.sessions
    #expect(sessions.remove(1))
    sessions.send(.note(2), to: 1)
    sessions.close(.discard)
    keeping.goOn()
    #expect(isTelling.wait())
    #expect(!sessions.remove(1))
    mayEnd.open()
    #expect(keeping.finish())
    #expect(log.elements == ["remove", "discarded", "remove"])
  }

  @Test func `a removal is told after what waited before it was processed`() {
    let (isMaking, mayMake) = (Gate(), Gate())
    let sessions = makeSessions(beforeMaking: {
      isMaking.open()
      _ = mayMake.wait()
    })
    let isDone = Threads.start { [log] in sessions.send(.run { log.append("turn") }, to: 1) }
    #expect(isMaking.wait())
    #expect(sessions.remove(1))
    sessions.send(.note(2), to: 1)
    mayMake.open()
    #expect(isDone.wait())
    #expect(log.elements == ["make", "turn", "remove", "make"])
    #expect(sessions.currentState(of: 1) == [2])
  }

  @Test func `a removal is told though what waited before it is discarded`() throws {
    let keeping = HeldTransition(keeping: 1) { makeSessions(beforeKeeping: $0) }
    let sessions = keeping.sessions
    sessions.send(.note(2), to: 1)
    #expect(sessions.remove(1))
    sessions.close(.discard)
    #expect(keeping.finish())
    try Shutdown.close([sessions], before: .now + .seconds(patience))
    #expect(log.elements == ["make", "keep [1]", "remove"])
  }

  @Test func `the removal of a key without a reactor is told, and what is sent meanwhile waits`() {
    let (isTold, mayReturn) = (Gate(), Gate())
    let sessions = makeSessions(onRemove: {
      isTold.open()
      _ = mayReturn.wait()
    })
    let isDone = Threads.start { #expect(!sessions.remove(1)) }
    #expect(isTold.wait())
    // Told together with the first one.
    #expect(!sessions.remove(1))
    sessions.send(.note(1), to: 1)
    #expect(log.elements == ["remove"])
    mayReturn.open()
    #expect(isDone.wait())
    #expect(log.elements == ["remove", "make"])
    #expect(sessions.counters.description == "count 1, ending 0, made 1, passivated 0, removed 0, waiting 0")
  }

  @Test func `the removal of a key without a reactor leaves nothing behind`() throws {
    let sessions = makeSessions()
    #expect(!sessions.remove(1))
    #expect(sessions.count == 0)
    try Shutdown.close([sessions], before: .now + .seconds(patience))
    // The store may still have its state.
    #expect(!sessions.remove(2))
    #expect(log.elements == ["remove", "remove"])
  }
}
