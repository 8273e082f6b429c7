import TestSupport
import Testing

@testable import ReactorCore
@testable import ReactorRuntime

/// A thread that closes a reactor stops for a while in the middle of closing it.
@Suite struct FrozenCloseTests {
  /// At that point the reactor is already marked as closed, but its ring still accepts actions.
  @Test(arguments: PlacementUnderTest.allCases)
  func `a reactor does not end before it refuses actions`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let reactor = Script(on: stage.placement)
    reactor.send(1)
    #expect(Threads.yield { reactor.currentState == [1] })
    reactor.runtime.ending.isWanted.store(true, ordering: .relaxed)
    reactor.runtime.mailbox.ring.wasClosed.store(true, ordering: .sequentiallyConsistent)
    // Twice a turn after which nothing is left.
    for action in 2...3 {
      reactor.send(action)
      #expect(Threads.yield { reactor.currentState.count == action })
      #expect(Threads.yield { !reactor.runtime.state.wasBusy })
      #expect(!reactor.runtime.ending.isOver)
    }
    reactor.close()
    #expect(reactor.waitUntilClosed(before: .now + .seconds(120)))
    #expect(stage.finish())
    #expect(reactor.currentState == [1, 2, 3])
  }
}
