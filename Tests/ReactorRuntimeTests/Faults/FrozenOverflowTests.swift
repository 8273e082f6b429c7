import ReactorTesting
import TestSupport
import Testing

@testable import ReactorCore
@testable import ReactorRuntime

/// A sender stops between claim and publication while newer actions push older ones out.
@Suite struct FrozenOverflowTests {
  /// The owner takes over the actions that are kept beside the ring, and cannot process them yet. So they must give way
  /// to newer ones, too, or else their number would grow without bound.
  @Test(
    .enabled(if: Build.isOnCCore, "without a fence the owner waits for the publication"), arguments: [1, 8])
  func `memory stays bounded while the oldest give way behind an unpublished claim`(_ capacity: Int) throws {
    let loop = try SteppedLoop()
    let failures = Record<SendError>()
    let reactor = Script(
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
}
