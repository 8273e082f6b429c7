import ReactorTesting
import TestSupport
import Testing

@testable import ReactorCore
@testable import ReactorRuntime

/// A sender that stops between claim and publication, while newer actions push older ones out.
@Suite struct FrozenOverflowTests {
  /// The owner takes over what is kept beside the ring, and cannot process it yet; so that must give way, too.
  /// Not on the pure-Swift core: without fences its owner waits for the publication.
  @Test(arguments: [CoreUnderTest.c], [1, 8])
  func whatGivesWayIsBounded(_ core: CoreUnderTest, _ capacity: Int) throws {
    func body<C: Core>(_: C.Type) throws {
      let loop = try SteppedLoopOn<C>()
      let failures = Record<SendError>()
      let reactor = Script<C>(
        on: loop.placement, capacity: capacity, overflow: .dropOldest, failures: failures)
      reactor.send(0)
      loop.step()
      var frozen = try #require(FrozenSend(1, to: reactor))
      for action in 2...1000 {
        reactor.send(action)
        loop.step()
      }
      #expect(failures.elements.count >= 1000 - 4 * capacity)
      frozen.go(to: .sent)
      loop.run()
      #expect(reactor.currentState.last == 1000)
      #expect(reactor.currentState.count <= 1 + 4 * capacity)
      #expect(reactor.currentState.count + failures.elements.count == 1001)
    }
    try body(core.type)
  }
}
