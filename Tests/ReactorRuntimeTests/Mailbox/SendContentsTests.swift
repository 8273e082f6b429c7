import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// Several actions that are sent with one call.
@Suite struct SendContentsTests {
  @Test(arguments: PlacementUnderTest.allCases)
  func `actions of one call are processed in their order`(_ placement: PlacementUnderTest)
    throws
  {
    for count in [0, 1, 2, 7, 8, 9, 100, 5000] {
      let stage = try Stage(placement)
      let reactor = Script(on: stage.placement, capacity: 64)
      reactor.send(contentsOf: 0..<count)
      reactor.send(contentsOf: Array(count..<2 * count))
      #expect(stage.finish { reactor.currentState.count == 2 * count })
      #expect(reactor.currentState == Array(0..<2 * count))
    }
  }

  @Test func `an idle reactor processes them in one turn, and what they send to it after them`() {
    let reactor = Script(
      on: .caller,
      mutate: { reactor, action in
        if action == 1 { reactor.send(contentsOf: [10, 11]) }
        return .just(action)
      })
    reactor.send(0)
    reactor.send(contentsOf: [1, 2, 3])
    #expect(reactor.currentState == [0, 1, 2, 3, 10, 11])
    #expect(reactor.counters.largestTurn == 3)
  }

  @Test func `a loop gets them with as few claims as there is room for`() throws {
    let loop = try SteppedLoop()
    let reactor = Script(on: loop.placement, capacity: 4096)
    // Makes the mailbox, and lets it grow.
    reactor.send(contentsOf: 0..<1000)
    #expect(loop.run())
    reactor.send(contentsOf: 1000..<2000)
    #expect(reactor.counters.waiting == 1000)
    #expect(loop.run())
    #expect(reactor.currentState == Array(0..<2000))
    loop.shutdown()
  }

  @Test(arguments: [OverflowPolicy.fail, .dropNewest, .dropOldest])
  func `the policy decides about each action by itself`(_ policy: OverflowPolicy) throws {
    let (loop, failures) = (try SteppedLoop(), Record<SendError>())
    let reactor = Script(on: loop.placement, capacity: 4, overflow: policy, failures: failures)
    reactor.send(contentsOf: 0..<7)
    #expect(loop.run())
    #expect(reactor.currentState == (policy == .dropOldest ? [3, 4, 5, 6] : [0, 1, 2, 3]))
    #expect(failures.elements == Array(repeating: policy == .fail ? .full : .dropped, count: 3))
    loop.shutdown()
  }

  @Test func `threads that send several at a time keep their order`() throws {
    let loop = try Loop()
    let reactor = Script(on: .loop(loop), capacity: 256)
    let threads = (0..<4).map { thread in
      Threads.start {
        for run in 0..<100 {
          let first = thread * 100_000 + run * 10
          reactor.send(contentsOf: first..<first + 10)
        }
      }
    }
    for thread in threads { #expect(thread.wait()) }
    #expect(Threads.yield { reactor.currentState.count == 4000 })
    for thread in 0..<4 {
      #expect(
        reactor.currentState.filter { $0 / 100_000 == thread } == (0..<1000).map { thread * 100_000 + $0 })
    }
    loop.shutdown()
  }

  @Test func `a closed reactor refuses each of them`() {
    let failures = Record<SendError>()
    let reactor = Script(on: .caller, failures: failures)
    reactor.close()
    reactor.send(contentsOf: [1, 2, 3])
    #expect(failures.elements == [.closed, .closed, .closed])
    #expect(reactor.currentState == [])
  }
}
