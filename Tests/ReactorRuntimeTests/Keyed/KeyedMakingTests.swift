import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests of a request that makes the reactor of its key.
@Suite struct KeyedMakingTests {
  @Test func `a request that makes its reactor processes what others have sent only until its deadline`() {
    let store = SessionStore()
    let deadline = ContinuousClock.now + .seconds(1)
    let (maker, threads) = (Record<UInt64>(), Record<UInt64>())
    let making = HeldTransition { hold in
      store.makeSessions(beforeMaking: { _ in hold() })
    } begin: { sessions in
      maker.append(CurrentCore.threadToken)
      sessions.ask(1, { .count($0) }, before: deadline, completion: { _ in })
    }
    for _ in 0..<2 { making.sessions.send(.run { threads.append(CurrentCore.threadToken) }, to: 1) }
    #expect(Threads.yield { ContinuousClock.now > deadline })
    #expect(making.finish())
    #expect(Threads.yield { threads.elements.count == 2 })
    // One action begins after the deadline; a new thread continues.
    #expect(threads.elements[0] == maker.elements[0] && threads.elements[1] != maker.elements[0])
  }

  @Test func `a request that makes its reactor waits in the mailbox of one that make has shown`() async throws
  {
    let mayEnd = Gate()
    let sessions = KeyedReactors<Int, KeyedSession>(make: { _ in
      let (session, isRunning) = (KeyedSession(capacity: 2), Gate())
      // Another thread is its owner, and its mailbox is full.
      _ = Threads.start {
        session.send(
          .run {
            isRunning.open()
            _ = mayEnd.wait()
          })
      }
      _ = isRunning.wait()
      while (try? session.trySend(.note(1))) != nil {}
      return session
    })
    let result = Record<Result<Int, AskError>>()
    sessions.ask(1, { .count($0) }, completion: { result.append($0) })
    // A send would wait for room.
    let other = Threads.start { try? sessions.trySend(.note(1), to: 2) }
    #expect(other.wait())
    mayEnd.open()
    #expect(Threads.yield { !result.elements.isEmpty })
    #expect(try #require(result.elements.first).get() > 0)
  }
}
