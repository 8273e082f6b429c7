import FaultyPlatform
import ReactorCore
import ReactorTesting
import TestSupport
import Testing

@testable import ReactorRuntime

/// What closing costs each of very many reactors. FaultyPlatform counts calls and memory of the core, by thread.
@Suite(.disabled(if: Build.isPureSwift, "the pure-Swift core calls the system directly"))
struct ClosingManyTests {
  /// A heavy fence interrupts every processor: a million of them take many seconds. A ring is half a kilobyte.
  @Test func `closing idle reactors needs no fence, and no memory of the core`() throws {
    let loop = try SteppedLoop()
    for placement in [Placement.caller, loop.placement] {
      let reactors = (0..<100).map { _ in Script(on: placement) }
      for reactor in reactors { reactor.send(1) }
      #expect(loop.run())
      faulty_reset()
      let before = faulty_alive_of_thread()
      for reactor in reactors { reactor.close() }
      #expect(loop.run())
      #expect(reactors.allSatisfy { $0.waitUntilEnded(before: .now) })
      #expect(faulty_calls(FAULTY_MEMBARRIER) == 0)
      #expect(faulty_alive_of_thread() == before)
      #expect(reactors.allSatisfy { $0.runtime.extrasReference.use { _ in true } == nil })
    }
  }

  /// A sender that finds a reactor idle asks only the ring. So a ring that cannot be closed would accept for good.
  @Test func `a reactor that is closed without memory accepts nothing`() throws {
    defer { faulty_reset() }
    let loop = try SteppedLoop()
    for placement in [Placement.caller, loop.placement] {
      let reactor = Script(on: placement)
      faulty_fail_allocations_after(0)
      reactor.close()
      #expect(throws: SendError.closed) { try reactor.trySend(1) }
      faulty_reset()
      #expect(loop.run())
      #expect(throws: SendError.closed) { try reactor.trySend(1) }
      #expect(reactor.waitUntilEnded(before: .now))
      #expect(reactor.currentState == [])
    }
  }

  @Test func `a reactor that closes itself needs no fence`() throws {
    let reactor = Script(
      on: .caller,
      mutate: { reactor, action in
        reactor.close()
        return .just(action)
      })
    faulty_reset()
    reactor.send(1)
    #expect(faulty_calls(FAULTY_MEMBARRIER) == 0)
    #expect(reactor.waitUntilEnded(before: .now))
    #expect(reactor.currentState == [1])
  }

  /// The thread that waits may come before, during or after the end.
  @Test func `a thread that waits for the end while the reactor ends returns`() {
    for _ in 0..<500 {
      let reactor = Script(on: .caller)
      reactor.send(1)
      let isOver = Threads.start { #expect(reactor.waitUntilEnded(before: .now + .seconds(patience))) }
      reactor.close()
      #expect(isOver.wait())
    }
  }
}
