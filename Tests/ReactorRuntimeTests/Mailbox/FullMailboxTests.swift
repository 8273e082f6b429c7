import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// What a send does while there is no room.
@Suite struct FullMailboxTests {
  @Test(arguments: PlacementUnderTest.allCases)
  func `trySend throws full and a blocking send waits while there is no room`(_ placement: PlacementUnderTest)
    throws
  {
    let stage = try Stage(placement)
    let isInside = Gate()
    let mayGoOn = Gate()
    let reactor = Script.held(on: stage.placement, capacity: 4, isInside: isInside, mayGoOn: mayGoOn)
    let isDone = Threads.start { reactor.send(0) }
    #expect(isInside.wait())
    var accepted = 0
    while (try? reactor.trySend(1 + accepted)) != nil { accepted += 1 }
    #expect((3...4).contains(accepted))
    #expect(throws: SendError.full) { try reactor.trySend(1000) }
    let last = 1 + accepted
    let hasSent = Threads.start { reactor.send(last) }
    // Only the owner makes room, and the owner is held.
    for _ in 0..<2000 { DedicatedThread.yield() }
    #expect(!hasSent.isOpen)
    mayGoOn.open()
    #expect(hasSent.wait())
    #expect(isDone.wait())
    #expect(stage.finish())
    #expect(Threads.yield { reactor.currentState == Array(0...last) })
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `many senders to a tiny mailbox lose no action`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let failures = Record<SendError>()
    let reactor = Script(on: stage.placement, capacity: 1, failures: failures)
    #expect(
      Threads.run(4) { thread in
        for index in 0..<500 { reactor.send(thread * 1000 + index) }
      })
    #expect(stage.finish())
    #expect(failures.elements == [])
    let state = reactor.currentState
    for thread in 0..<4 {
      #expect(state.filter { $0 / 1000 == thread } == (0..<500).map { thread * 1000 + $0 })
    }
  }
}
