import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests of making the reactor of a key: by a request, and after the one before has ended.
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

  /// The address of the top of the calling thread's stack, roughly.
  @inline(never)
  private static func stackAddress() -> Int {
    var here: UInt8 = 0
    return withUnsafeMutablePointer(to: &here) { Int(bitPattern: $0) }
  }

  /// While a thread makes the reactor of key 1, that key is removed and used so many times. `make` calls `onMake`.
  private static func beginMaking(
    _ count: Int, on placement: Placement, onMake: @escaping @Sendable () -> Void
  ) -> HeldTransition {
    let making = HeldTransition { hold in
      KeyedReactors(make: { _ in
        hold()
        onMake()
        return KeyedSession(on: placement)
      })
    } begin: { sessions in
      sessions.send(.note(1), to: 1)
    }
    for _ in 0..<count {
      making.sessions.remove(1)
      making.sessions.send(.note(1), to: 1)
    }
    return making
  }

  @Test(arguments: [false, true])
  func `reactors of a key that are made in sequence do not nest on the stack`(onEndedLoop: Bool) throws {
    let loop = try Loop()
    try Shutdown.close([loop], before: .now + .seconds(patience))
    let addresses = Record<Int>()
    let making = Self.beginMaking(100, on: onEndedLoop ? .loop(loop) : .caller) {
      addresses.append(Self.stackAddress())
    }
    #expect(making.finish())
    let (lowest, highest) = (addresses.elements.min() ?? 0, addresses.elements.max() ?? .max)
    #expect(addresses.elements.count == 101 && highest - lowest < 16_384)
  }

  @Test func `a thread that has made many reactors of a key leaves the next ones to another thread`() {
    let threads = Record<UInt64>()
    let making = Self.beginMaking(300, on: .caller) { threads.append(CurrentCore.threadToken) }
    #expect(making.finish())
    #expect(Threads.yield { making.sessions.counters.waiting == 0 && threads.elements.count == 301 })
    #expect(Set(threads.elements.prefix(256)).count == 1 && Set(threads.elements.dropFirst(256)).count == 1)
    #expect(threads.elements[0] != threads.elements[300])
    #expect(
      making.sessions.counters.description
        == "count 1, ending 0, made 301, passivated 0, removed 300, waiting 0")
  }

  @Test
  func `a request that replaces a closed reactor processes what others have sent only until its deadline`()
    throws
  {
    let store = SessionStore()
    let (deadlines, maker, threads) = (
      Record<ContinuousClock.Instant>(), Record<UInt64>(), Record<UInt64>()
    )
    let keeping = HeldTransition { hold in
      store.makeSessions(beforeKeeping: { _ in hold() })
    } begin: { sessions in
      sessions.send(.close, to: 1)
      maker.append(CurrentCore.threadToken)
      let deadline = ContinuousClock.now + .milliseconds(300)
      deadlines.append(deadline)
      sessions.ask(1, { .count($0) }, before: deadline, completion: { _ in })
    }
    for _ in 0..<2 { keeping.sessions.send(.run { threads.append(CurrentCore.threadToken) }, to: 1) }
    let deadline = try #require(deadlines.elements.first)
    #expect(Threads.yield { ContinuousClock.now > deadline })
    #expect(keeping.finish())
    #expect(Threads.yield { threads.elements.count == 2 })
    // A new thread continues.
    #expect(threads.elements[1] != maker.elements[0])
  }

  @Test func `a reactor that is made again when the state of the one before is kept counts as there`() {
    let (store, shared) = (SessionStore(), Shared(Late<KeyedReactors<Int, KeyedSession>>()))
    let sessions = store.makeSessions(
      upTo: 2,
      beforeKeeping: { [store] _ in
        if store.keptKeys.elements.isEmpty { shared.value.get().send(.note(2), to: 1) }
      })
    shared.value.set(sessions)
    sessions.send(.note(1), to: 1)
    #expect(sessions.passivate(1))
    #expect(sessions.currentState(of: 1) == [1, 2])
    // If it counted as one that is about to end, there would be one too many.
    for key in 10..<20 { sessions.send(.note(key), to: key) }
    #expect(sessions.count == 2)
    shared.value.set(nil)
  }
}
