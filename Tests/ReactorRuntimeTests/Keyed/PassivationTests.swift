import Glibc
import ReactorTesting
import TestSupport
import Testing

@testable import ReactorRuntime

/// Tests of ending reactors that are not used, and of removing them.
@Suite struct PassivationTests {
  private let store = SessionStore()
  /// About 580.
  private let keysOfOneShard = (0..<150_000).filter { UInt(bitPattern: $0._rawHashValue(seed: 0)) >> 56 == 0 }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a passivated reactor continues with its state`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let sessions = store.makeSessions(on: stage.placement)
    sessions.send(.note(1), to: 1)
    // On a loop it is in use until its turn has ended.
    #expect(Threads.yield { sessions.passivate(idleFor: .zero) == 1 })
    #expect(Threads.yield { sessions.count == 0 })
    #expect(store.load(1) == [1])
    #expect(sessions.currentState(of: 1) == nil)
    sessions.send(.note(2), to: 1)
    #expect(Threads.yield { sessions.currentState(of: 1) == [1, 2] })
    #expect(store.madeKeys.elements == [1, 1])
    #expect(sessions.counters.description == "count 1, ending 0, made 2, passivated 1, removed 0, waiting 0")
    #expect(stage.finish())
  }

  @Test func `what keeps states on demand waits for room`() throws {
    let (loop, failures) = (try Loop(), Record<SendError>())
    let archive = Script(on: .loop(loop), capacity: 8, reentrantCapacity: 4, failures: failures)
    let reactors = KeyedReactors<Int, Script>(
      onPassivate: { key, _ in archive.send(key) },
      make: { _ in Script(on: .caller, snapshots: .onDemand) })
    for key in 0..<100 { reactors.send(1, to: key) }
    let mayGoOn = try loop.hold()
    let isDone = Threads.start { reactors.passivate(idleFor: .zero) }
    var waiting: Int { archive.runtime.mailbox.overflow.use { $0.waiters.count } ?? 0 }
    #expect(Threads.yield { waiting == 1 || isDone.isOpen })
    mayGoOn.open()
    #expect(isDone.wait())
    loop.shutdown()
    #expect(failures.elements == [])
    #expect(archive.currentState.sorted() == Array(0..<100))
  }

  @Test func `only reactors that were idle for that long are passivated`() {
    let sessions = store.makeSessions()
    for key in 0..<10 { sessions.send(.note(key), to: key) }
    store.advance(seconds: 5)
    for key in 0..<5 { sessions.send(.note(key), to: key) }
    #expect(sessions.currentState(of: 5) == [5])
    store.advance(seconds: 5)
    // Also a read is a use: 6…9 were not used for ten seconds.
    #expect(sessions.passivate(idleFor: .seconds(8)) == 4)
    #expect(sessions.passivate(idleFor: .seconds(8)) == 0)
    #expect(sessions.keys.sorted() == Array(0...5))
    #expect(store.keptKeys.elements.sorted() == Array(6...9))
    #expect(sessions.passivate(idleFor: .seconds(20)) == 0)
    #expect(sessions.passivate(idleFor: .zero) == 6)
  }

  /// Otherwise nothing would ever be idle beside a report.
  @Test func `a report of states and counters is no use of a reactor`() throws {
    let sessions = store.makeSessions()
    for key in 0..<3 { sessions.send(.note(key), to: key) }
    store.advance(seconds: 10)
    #expect(sessions.currentState(of: 0, isUse: false) != nil)
    #expect(try #require(sessions.counters(of: 1)).processed == 1)
    #expect(sessions.currentState(of: 2) != nil)
    #expect(sessions.counters(of: 3) == nil)
    #expect(sessions.passivate(idleFor: .seconds(5)) == 2)
    #expect(sessions.keys == [2])
    #expect("\(sessions.counters)" == "count 1, ending 0, made 3, passivated 2, removed 0, waiting 0")
  }

  /// As if the thread that starts the passivation were stopped for long right after it has scheduled the first timer.
  @Test func `the passivation by a loop goes on if its first timer fires at once`() throws {
    let hosted = try HostedLoop { hosted in
      if hosted.loop.isCurrent { return }
      usleep(5_000)
      hosted.run()
    }
    let sessions = store.makeSessions()
    for key in 0..<1000 { sessions.send(.note(key), to: key) }
    let passivation = try sessions.passivate(idleFor: .zero, on: hosted.loop)
    let isDone = Threads.yield {
      hosted.run()
      return sessions.count == 0
    }
    #expect(isDone)
    passivation.dispose()
    hosted.shutdown()
  }

  @Test func `a reactor that is used while the state of another one is kept was not idle, and can be used`() {
    let keys = Array(keysOfOneShard.prefix(300))
    let (whileKeeping, unavailable) = (Record<@Sendable () -> Void>(), Record<Int>())
    let sessions = store.makeSessions(beforeKeeping: { [store] _ in
      if store.keptKeys.elements.isEmpty { for body in whileKeeping.elements { body() } }
    })
    for key in keys { sessions.send(.note(0), to: key) }
    store.advance(seconds: 10)
    whileKeeping.append { [unowned sessions, store] in
      store.advance(seconds: 1)
      for key in keys {
        if sessions[key] == nil { unavailable.append(key) }
        sessions.send(.note(1), to: key)
      }
    }
    #expect(sessions.passivate(idleFor: .seconds(5)) == 1)
    #expect(unavailable.elements.count == 1 && unavailable.elements == store.keptKeys.elements)
    #expect(sessions.count == 300)
    #expect(sessions.passivate(idleFor: .seconds(Int64.max)) == 0)
  }

  /// Each removal moves keys to earlier slots, and makes the table smaller.
  @Test func `all idle reactors of a large shard are passivated at once`() {
    let keys = keysOfOneShard
    let sessions = store.makeSessions()
    for key in keys { sessions.send(.note(key), to: key) }
    #expect(keys.count > 300 && sessions.passivate(idleFor: .zero) == keys.count)
    #expect(sessions.count == 0)
  }

  @Test func `a passivation ends although the states are used again while they are kept`() {
    let whileKeeping = Record<@Sendable (Int) -> Void>()
    let sessions = store.makeSessions(beforeKeeping: { key in
      for body in whileKeeping.elements { body(key) }
    })
    for key in 0..<10 { sessions.send(.note(0), to: key) }
    whileKeeping.append { [unowned sessions] key in sessions.send(.note(1), to: key) }
    #expect((1...10).contains(sessions.passivate(idleFor: .zero)))
    #expect(sessions.count == 10)
  }

  @Test func `a reactor that is held is not passivated`() {
    let sessions = store.makeSessions()
    sessions.send(.note(1), to: 1)
    var session = sessions[1]
    #expect(sessions.passivate(idleFor: .zero) == 0)
    #expect(!sessions.passivate(1))
    #expect(session?.currentState == [1])
    session = nil
    #expect(sessions.passivate(1))
    #expect(store.keptKeys.elements == [1])
  }

  @Test func `a reactor is not passivated inside of its turn`() {
    let sessions = store.makeSessions()
    let results = Record<Int>()
    sessions.send(.run { [unowned sessions] in results.append(sessions.passivate(idleFor: .zero)) }, to: 1)
    #expect(results.elements == [0])
    #expect(sessions.count == 1)
  }

  @Test func `what is sent while a state is kept goes to the next reactor`() throws {
    let (isKeeping, mayKeep) = (Gate(), Gate())
    let sessions = store.makeSessions(beforeKeeping: { _ in
      isKeeping.open()
      _ = mayKeep.wait()
    })
    sessions.send(.note(0), to: 1)
    let isDone = Threads.start { sessions.passivate(1) }
    #expect(isKeeping.wait())
    for note in 1...9 { sessions.send(.note(note), to: 1) }
    try sessions.trySend(.note(10), to: 1)
    #expect(sessions[1] == nil)
    #expect(sessions.currentState(of: 1) == [0])
    #expect(store.madeKeys.elements == [1])
    mayKeep.open()
    #expect(isDone.wait())
    #expect(sessions.currentState(of: 1) == Array(0...10))
    #expect(store.madeKeys.elements == [1, 1])
    #expect(store.failures.elements == [])
  }

  @Test func `above the limit about the least recently used one is passivated`() {
    let sessions = store.makeSessions(upTo: 10)
    for key in 0..<10 {
      sessions.send(.note(key), to: key)
      store.advance(seconds: 1)
    }
    #expect(sessions.count == 10)
    sessions.send(.note(0), to: 0)
    // All ten are compared, since that is less than 16.
    for key in 10..<15 {
      store.advance(seconds: 1)
      sessions.send(.note(key), to: key)
    }
    #expect(store.keptKeys.elements == [1, 2, 3, 4, 5])
    #expect(sessions.keys.sorted() == [0] + Array(6..<15))
  }

  @Test func `the count comes down to the limit after all were in use`() {
    let sessions = store.makeSessions(upTo: 10)
    var held: [KeyedSession?] = []
    for key in 0..<20 {
      store.advance(seconds: 1)
      sessions.send(.note(key), to: key)
      held.append(sessions[key])
    }
    #expect(sessions.count == 20)
    held = []
    for key in 20..<30 { sessions.send(.note(key), to: key) }
    #expect(sessions.count == 10)
  }

  @Test func `while all are in use few new keys search`() {
    let sessions = store.makeSessions(upTo: 10)
    var held: [KeyedSession] = []
    for key in 0..<600 {
      sessions.send(.note(1), to: key)
      if let session = sessions[key] { held.append(session) }
    }
    #expect(held.count == 600 && sessions.count == 600)
    // While there were fewer than about 128, each had all keys looked at.
    #expect(sessions.hand.load(ordering: .relaxed) < 200)
    held = []
    for key in 600..<1000 { sessions.send(.note(1), to: key) }
    #expect(sessions.count < 300)
  }

  @Test func `many keys stay near the limit`() {
    let sessions = store.makeSessions(upTo: 1000)
    for key in 0..<20_000 { sessions.send(.note(key), to: key) }
    #expect(sessions.count == 1000)
    #expect(sessions.counters.passivated == 19_000)
    for key in 0..<20_000 { #expect((sessions.currentState(of: key) ?? store.load(key)) == [key]) }
  }

  @Test func `a removed reactor is forgotten`() {
    let sessions = store.makeSessions()
    sessions.send(.note(1), to: 1)
    #expect(sessions.remove(1))
    #expect(store.keptKeys.elements == [])
    sessions.send(.note(2), to: 1)
    #expect(sessions.currentState(of: 1) == [2])
    // Inside of its turn, it ends after what it holds.
    sessions.send(
      .run { [unowned sessions] in
        sessions[1]?.send(.note(3))
        #expect(sessions.remove(1))
        sessions.send(.note(4), to: 1)
        #expect(sessions.currentState(of: 1) == [2])
      }, to: 1)
    #expect(sessions.currentState(of: 1) == [4])
    #expect(sessions.counters.removed == 2)
    #expect(store.keptKeys.elements == [])
    #expect(store.failures.elements == [])
  }

  @Test func `a removal waits behind the actions that wait`() {
    let (isMaking, mayMake) = (Gate(), Gate())
    let sessions = store.makeSessions(beforeMaking: { _ in
      isMaking.open()
      _ = mayMake.wait()
    })
    let isDone = Threads.start { sessions.send(.note(1), to: 1) }
    #expect(isMaking.wait())
    sessions.send(.note(2), to: 1)
    #expect(sessions.remove(1))
    sessions.send(.note(3), to: 1)
    mayMake.open()
    #expect(isDone.wait())
    #expect(sessions.currentState(of: 1) == [3])
    #expect(store.keptKeys.elements == [])
    #expect(sessions.counters.description == "count 1, ending 0, made 2, passivated 0, removed 1, waiting 0")
  }

  @Test func `a reactor that is removed before its state is kept counts as removed`() throws {
    let loop = try SteppedLoop()
    let removal = Record<@Sendable () -> Void>()
    let sessions = store.makeSessions(
      on: loop.placement, beforeKeeping: { _ in for remove in removal.elements { remove() } })
    sessions.send(.note(1), to: 1)
    #expect(loop.run())
    #expect(sessions.passivate(1))
    #expect(sessions.remove(1))
    #expect(loop.run())
    #expect(store.keptKeys.elements == [])
    #expect(sessions.counters.description == "count 0, ending 0, made 1, passivated 0, removed 1, waiting 0")
    // Now while its state is being kept.
    sessions.send(.note(2), to: 1)
    #expect(loop.run())
    removal.append { [unowned sessions] in sessions.remove(1) }
    #expect(sessions.passivate(1))
    #expect(loop.run())
    #expect(store.keptKeys.elements == [1])
    #expect(sessions.counters.description == "count 0, ending 0, made 2, passivated 1, removed 1, waiting 0")
    sessions.close()
    loop.shutdown()
  }

  @Test func `a timer of a loop passivates`() throws {
    let loop = try Loop()
    let sessions = store.makeSessions()
    let timer = try sessions.passivate(idleFor: .seconds(1), on: loop)
    for key in 0..<1000 { sessions.send(.note(key), to: key) }
    // In virtual time nothing is idle.
    #expect(sessions.count == 1000)
    store.advance(seconds: 2)
    #expect(Threads.yield { sessions.count == 0 })
    timer.dispose()
    loop.shutdown()
    #expect(store.keptKeys.elements.count == 1000)
  }

  /// They are the least recently used ones, since who holds a reactor sends to it directly.
  @Test func `reactors that are held do not keep others from being passivated`() {
    let sessions = store.makeSessions(upTo: 100)
    for key in 0..<50 { sessions.send(.note(key), to: key) }
    let held = (0..<50).compactMap { sessions[$0] }
    store.advance(seconds: 10)
    for key in 50..<1000 { sessions.send(.note(key), to: key) }
    #expect(sessions.count <= 105)
    #expect(held.count == 50 && (0..<50).allSatisfy { sessions[$0] != nil })
  }

  @Test func `keys that are about to end count as ended when others are chosen`() throws {
    let loop = try SteppedLoop()
    let sessions = store.makeSessions(on: loop.placement, upTo: 100)
    for key in 0..<100 { sessions.send(.note(key), to: key) }
    #expect(loop.run())
    for key in 100..<140 { sessions.send(.note(key), to: key) }
    #expect(sessions.counters.ending == 40)
    // Each new key has made one other end, which does so on the loop.
    #expect(loop.run())
    #expect(sessions.count == 100)
    #expect(store.keptKeys.elements.count == 40)
    sessions.close()
    loop.shutdown()
  }

  @Test func `the time without a use begins when a search last found a reactor in use`() {
    let sessions = store.makeSessions()
    sessions.send(.note(1), to: 1)
    var held = sessions[1]
    for seconds: Int64 in [10, 4] {
      store.advance(seconds: seconds)
      #expect(sessions.passivate(idleFor: .seconds(5)) == 0)
    }
    #expect(held?.currentState == [1])
    held = nil
    store.advance(seconds: 4)
    #expect(sessions.passivate(idleFor: .seconds(5)) == 0)
    store.advance(seconds: 2)
    #expect(sessions.passivate(idleFor: .seconds(5)) == 1)
  }

  @Test func `a read is a use unless it says that it is none`() {
    let sessions = store.makeSessions()
    for key in 0..<2 { sessions.send(.note(key), to: key) }
    store.advance(seconds: 6)
    for key in 0..<2 {
      #expect(sessions.currentState(of: key, isUse: key == 0) == [key])
      #expect(sessions.withCurrentState(of: key, isUse: key == 0) { $0 == [key] } == true)
    }
    #expect(sessions.passivate(idleFor: .seconds(5)) == 1)
    #expect(sessions.keys == [0])
  }

  /// Otherwise nothing is passivated from then on, and nobody learns of it.
  @Test func `the passivation by a loop goes on after the loop had no room`() throws {
    let loop = try HostedLoop(jobCapacity: 2)
    let occupying = CompositeDisposable()
    let sessions = store.makeSessions(beforeKeeping: { key in
      if key > 0 { return }
      while let timer = try? loop.loop.schedule(after: .seconds(3600), {}) { _ = occupying.insert(timer) }
    })
    let timer = try sessions.passivate(idleFor: .milliseconds(1), on: loop.loop)
    for key in 0..<2 {
      sessions.send(.note(key), to: key)
      store.advance(seconds: 1)
      #expect(
        Threads.yield {
          loop.run()
          return sessions.count == 0
        })
      if key > 0 { continue }
      #expect(throws: LoopError.full) { try loop.loop.execute {} }
      occupying.dispose()
    }
    timer.dispose()
    loop.shutdown()
  }

  @Test func `the time that it takes to make a reactor does not count as time without a use`() {
    let sessions = store.makeSessions(beforeMaking: { [store] _ in store.advance(seconds: 10) })
    sessions.send(.note(1), to: 1)
    #expect(sessions.passivate(idleFor: .seconds(5)) == 0)
    store.advance(seconds: 6)
    #expect(sessions.passivate(idleFor: .seconds(5)) == 1)
  }
}
