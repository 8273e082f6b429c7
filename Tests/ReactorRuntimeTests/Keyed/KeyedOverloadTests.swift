import ReactorRuntime
import TestSupport
import Testing

/// Tests of keys to which more is sent than the mailbox of their reactor holds, while it is made.
@Suite struct KeyedOverloadTests {
  private let store = SessionStore()

  /// Makes a session of a loop that does nothing, for note 0; sends notes up to 99 while it is made.
  private func makeOverloaded(on loop: Loop, _ overflow: OverflowPolicy) -> KeyedReactors<Int, KeyedSession> {
    let (isMaking, mayMake) = (Gate(), Gate())
    let sessions = KeyedReactors<Int, KeyedSession>(
      waitingCapacity: 100,
      make: { [store] _ in
        isMaking.open()
        _ = mayMake.wait()
        return KeyedSession(on: .loop(loop), capacity: 8, overflow: overflow, failures: store.failures)
      })
    let isDone = Threads.start { sessions.send(.note(0), to: 1) }
    #expect(isMaking.wait())
    for note in 1..<100 { sessions.send(.note(note), to: 1) }
    mayMake.open()
    #expect(isDone.wait())
    // Its key is active, though the loop has processed nothing.
    #expect(sessions[1]?.counters.waiting == 100)
    #expect(sessions.counters.waiting == 0)
    return sessions
  }

  @Test func `senders wait for room once their reactor is made, and nothing is lost`() throws {
    let loop = try Loop()
    let mayGoOn = try loop.hold()
    let sessions = makeOverloaded(on: loop, .block)
    let haveSent = (1...3).map { sender in
      Threads.start { for number in 0..<200 { sessions.send(.note(1000 * sender + number), to: 1) } }
    }
    mayGoOn.open()
    for gate in haveSent { #expect(gate.wait()) }
    #expect(Threads.start { loop.shutdown() }.wait())
    let notes = sessions.currentState(of: 1) ?? []
    #expect(notes.count == 700)
    #expect(Array(notes.prefix(100)) == Array(0..<100))
    for sender in 1...3 {
      #expect(notes.filter { $0 / 1000 == sender } == (0..<200).map { 1000 * sender + $0 })
    }
    #expect(store.failures.elements == [])
  }

  @Test(arguments: [OverflowPolicy.fail, .dropNewest, .dropOldest])
  func `the policy applies to what is sent after a reactor was made`(_ overflow: OverflowPolicy) throws {
    let loop = try Loop()
    let mayGoOn = try loop.hold()
    let sessions = makeOverloaded(on: loop, overflow)
    sessions.send(.note(100), to: 1)
    mayGoOn.open()
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(sessions.currentState(of: 1) == (overflow == .dropOldest ? Array(1...100) : Array(0..<100)))
    #expect(store.failures.elements == [overflow == .fail ? .full : .dropped])
  }
}
