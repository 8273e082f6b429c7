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

  @Test(arguments: PlacementUnderTest.allCases)
  func `those that are tried are processed in their order`(_ placement: PlacementUnderTest) throws {
    for count in [0, 1, 2, 9, 64] {
      let stage = try Stage(placement)
      let reactor = Script(on: stage.placement, capacity: 64)
      #expect(reactor.trySend(contentsOf: 0..<count) == count)
      #expect(stage.finish { reactor.currentState.count == count })
      #expect(reactor.currentState == Array(0..<count))
    }
  }

  @Test func `an idle reactor takes any number of those that are tried`() {
    let reactor = Script(on: .caller, capacity: 8)
    #expect(reactor.trySend(contentsOf: 0..<5000) == 5000)
    #expect(reactor.currentState == Array(0..<5000))
  }

  @Test(arguments: [OverflowPolicy.block, .fail, .dropNewest, .dropOldest])
  func `a full mailbox takes as many as it has room for, and none is reported`(_ policy: OverflowPolicy)
    throws
  {
    let (loop, failures) = (try SteppedLoop(), Record<SendError>())
    let reactor = Script(on: loop.placement, capacity: 8, overflow: policy, failures: failures)
    #expect(reactor.trySend(contentsOf: 0..<20) == 8)
    #expect(reactor.trySend(contentsOf: 8..<20) == 0)
    #expect(loop.run())
    #expect(reactor.trySend(contentsOf: 8..<20) == 8)
    #expect(loop.run())
    #expect(reactor.currentState == Array(0..<16))
    #expect(failures.elements == [])
    loop.shutdown()
  }

  @Test func `a turn may send as many to its reactor as may wait there`() {
    let counts = Record<Int>()
    let reactor = Script(
      on: .caller, reentrantCapacity: 2,
      mutate: { reactor, action in
        if action == 0 { counts.append(reactor.trySend(contentsOf: [10, 11, 12])) }
        return .just(action)
      })
    // Starts it: the first action of all is processed by itself.
    _ = reactor.state
    #expect(reactor.trySend(contentsOf: [0, 1]) == 2)
    #expect(counts.elements == [2])
    #expect(reactor.currentState == [0, 1, 10, 11])
  }

  @Test func `a closed reactor or loop accepts none`() throws {
    let (loop, failures) = (try Loop(), Record<SendError>())
    let closed = Script(on: .caller, failures: failures)
    closed.close()
    #expect(closed.trySend(contentsOf: [1, 2]) == 0)
    let left = Script(on: .loop(loop), failures: failures)
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(left.trySend(contentsOf: [1, 2]) == 0)
    #expect(failures.elements == [])
  }
}
