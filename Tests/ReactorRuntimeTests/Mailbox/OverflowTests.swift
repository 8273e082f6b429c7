import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// What happens to actions for which there is no room.
@Suite struct OverflowTests {
  /// Sends 1...10 to a reactor that is held in action 0 and has room for four, and lets it go on.
  private func flood(
    _ placement: PlacementUnderTest, _ policy: OverflowPolicy
  ) throws -> (state: [Int], failures: [SendError]) {
    let stage = try Stage(placement)
    let (isInside, mayGoOn) = (Gate(), Gate())
    let failures = Record<SendError>()
    let reactor = Script.held(
      on: stage.placement, capacity: 4, overflow: policy, failures: failures, isInside: isInside,
      mayGoOn: mayGoOn)
    let isDone = Threads.start { reactor.send(0) }
    #expect(isInside.wait())
    for action in 1...10 { reactor.send(action) }
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(Threads.yield { reactor.currentState.count + failures.elements.count == 11 })
    // There is room again, and nothing is out of order.
    reactor.send(11)
    #expect(stage.finish { reactor.currentState.last == 11 })
    return (reactor.currentState, failures.elements)
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `the policy fail refuses and reports new actions`(_ placement: PlacementUnderTest) throws {
    let (state, failures) = try flood(placement, .fail)
    // On a loop the action that is being processed may still have its slot.
    #expect(state == [0, 1, 2, 3, 4, 11] || state == [0, 1, 2, 3, 11])
    #expect(failures.allSatisfy { $0 == .full })
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `the policy dropNewest keeps the oldest actions`(_ placement: PlacementUnderTest) throws {
    let (state, failures) = try flood(placement, .dropNewest)
    #expect(state == [0, 1, 2, 3, 4, 11] || state == [0, 1, 2, 3, 11])
    #expect(failures.allSatisfy { $0 == .dropped })
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `the policy dropOldest keeps the newest actions`(_ placement: PlacementUnderTest) throws {
    let (state, failures) = try flood(placement, .dropOldest)
    #expect(state == [0, 7, 8, 9, 10, 11] || state == [0, 8, 9, 10, 11])
    #expect(failures.allSatisfy { $0 == .dropped })
  }

  @Test
  func `the policy dropOldest goes on when everything in the ring was pushed out`() throws {
    let (isInside, mayGoOn) = (Gate(), Gate())
    let failures = Record<SendError>()
    let reactor = Script.held(
      on: .caller, capacity: 4, overflow: .dropOldest, failures: failures, isInside: isInside,
      mayGoOn: mayGoOn)
    let isDone = Threads.start { reactor.send(0) }
    #expect(isInside.wait())
    for action in 1...1000 { reactor.send(action) }
    #expect(reactor.counters.waiting <= 8)
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(reactor.currentState == [0, 997, 998, 999, 1000])
    #expect(failures.elements.count == 996)
    #expect(reactor.counters.dropped == 996)
  }

  @Test
  func `the policy dropOldest drops nothing that the reactor sends to itself`() throws {
    let (isInside, mayGoOn, hasSent, mayEnd) = (Gate(), Gate(), Gate(), Gate())
    let failures = Record<SendError>()
    let reactor = Script(
      on: .caller, capacity: 4, overflow: .dropOldest, failures: failures,
      mutate: { reactor, action in
        if action == 0 {
          isInside.open()
          _ = mayGoOn.wait()
          for own in 100..<110 { reactor.send(own) }
          hasSent.open()
          _ = mayEnd.wait()
        }
        return .just(action)
      })
    let isDone = Threads.start { reactor.send(0) }
    #expect(isInside.wait())
    // The first four are in the ring, the others beside it: before and behind the reactor's own.
    for action in 1...6 { reactor.send(action) }
    mayGoOn.open()
    #expect(hasSent.wait())
    for action in 7...1000 { reactor.send(action) }
    mayEnd.open()
    #expect(isDone.wait())
    #expect(reactor.currentState == [0] + Array(100..<110) + Array(997...1000))
    #expect(failures.elements.count == 996)
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `sends from inside a turn keep their order where the policy is block`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let (isInside, mayGoOn) = (Gate(), Gate())
    let failures = Record<SendError>()
    let full = Script.held(
      on: stage.placement, capacity: 2, failures: failures, isInside: isInside, mayGoOn: mayGoOn)
    let sender = Script(
      on: .caller,
      mutate: { _, action in
        for each in 1...100 { full.send(each) }
        return .just(action)
      })
    let isDone = Threads.start { full.send(0) }
    #expect(isInside.wait())
    // Returns, although nobody makes room.
    #expect(Threads.start { sender.send(0) }.wait())
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(stage.finish { full.currentState.count == 101 })
    #expect(full.currentState == Array(0...100))
    #expect(failures.elements == [])
  }

  @Test
  func `the number of actions beside the mailbox is bounded`() throws {
    let (isInside, mayGoOn) = (Gate(), Gate())
    let failures = Record<SendError>()
    let full = Script.held(
      on: .caller, capacity: 2, reentrantCapacity: 3, failures: failures, isInside: isInside,
      mayGoOn: mayGoOn)
    let sender = Script(
      on: .caller,
      mutate: { _, action in
        for each in 1...10 { full.send(each) }
        return .just(action)
      })
    let isDone = Threads.start { full.send(0) }
    #expect(isInside.wait())
    sender.send(0)
    #expect(failures.elements == Array(repeating: .reentrantOverflow, count: 5))
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(full.currentState == Array(0...5))
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a deadline ends the wait of a thread`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let (isInside, mayGoOn) = (Gate(), Gate())
    let reactor = Script.held(on: stage.placement, capacity: 1, isInside: isInside, mayGoOn: mayGoOn)
    let isDone = Threads.start { reactor.send(0) }
    #expect(isInside.wait())
    var accepted = 0
    while (try? reactor.trySend(1)) != nil { accepted += 1 }
    let start = ContinuousClock.now
    #expect(throws: SendError.timedOut) { try reactor.send(2, before: start + .milliseconds(30)) }
    #expect(ContinuousClock.now >= start + .milliseconds(30))
    let trySend = Threads.start { try? reactor.send(3, before: .now + .seconds(patience)) }
    mayGoOn.open()
    #expect(trySend.wait())
    #expect(isDone.wait())
    #expect(stage.finish { reactor.currentState.last == 3 })
    #expect(reactor.currentState == [0] + Array(repeating: 1, count: accepted) + [3])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `the mailbox grows to its capacity and keeps the order`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let (isInside, mayGoOn) = (Gate(), Gate())
    let reactor = Script.held(on: stage.placement, capacity: 1024, isInside: isInside, mayGoOn: mayGoOn)
    let isDone = Threads.start { reactor.send(0) }
    #expect(isInside.wait())
    var accepted = 0
    while (try? reactor.trySend(1 + accepted)) != nil { accepted += 1 }
    #expect((1023...1024).contains(accepted))
    mayGoOn.open()
    #expect(isDone.wait())
    for action in accepted + 1...3000 { reactor.send(action) }
    #expect(stage.finish { reactor.currentState.count == 3001 })
    #expect(reactor.currentState == Array(0...3000))
  }
}
