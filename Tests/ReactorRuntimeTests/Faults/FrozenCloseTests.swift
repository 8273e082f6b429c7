import TestSupport
import Testing

@testable import ReactorCore
@testable import ReactorRuntime

/// Who closes a reactor, and stops for a while in the middle of that.
@Suite struct FrozenCloseTests {
  /// Everybody can see by then that it is closed, and the ring still takes what is sent.
  @Test(arguments: PlacementUnderTest.allCases)
  func `does not end before it refuses`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let reactor = Script(on: stage.placement)
    reactor.send(1)
    #expect(Threads.yield { reactor.currentState == [1] })
    let next = reactor.runtime.mailbox.ring.lifecycle.openToClosing(by: .reactor(.drain))
    #expect(next == .seal)
    // A turn, after which nothing is left, and one more.
    for action in 2...3 {
      reactor.send(action)
      #expect(Threads.yield { reactor.currentState.count == action })
      #expect(Threads.yield { !reactor.runtime.state.wasBusy })
      let hasEnded = reactor.runtime.mailbox.ring.lifecycle.hasEnded
      #expect(!hasEnded)
    }
    reactor.close()
    #expect(reactor.waitUntilClosed(before: .now + .seconds(120)))
    #expect(stage.finish())
    #expect(reactor.currentState == [1, 2, 3])
  }
}
