import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// A test for each row of the README's table of guarantees, with the words of the row as its name.
@Suite struct GuaranteeTests {
  @Test(arguments: PlacementUnderTest.allCases)
  func `Actions may be sent from any thread`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let reactor = Script(on: stage.placement)
    #expect(Threads.run(8) { thread in reactor.send(thread) })
    #expect(stage.finish())
    #expect(reactor.currentState.sorted() == Array(0..<8))
  }

  private final class Busy: @unchecked Sendable {
    // Unchecked, because the test checks that only one action at a time accesses it.
    var isInside = false
    var overlaps = 0
    var count = 0
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `One action at a time goes through mutate and reduce`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let busy = Busy()
    let reactor = Script(
      on: stage.placement,
      mutate: { _, action in
        if busy.isInside { busy.overlaps += 1 }
        busy.isInside = true
        return .just(action)
      },
      reduce: { _, _, _ in
        busy.count += 1
        busy.isInside = false
      })
    #expect(Threads.run(4) { _ in for index in 0..<2000 { reactor.send(index) } })
    #expect(stage.finish())
    #expect(busy.overlaps == 0)
    #expect(busy.count == 8000)
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `Actions of one thread keep their order`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let reactor = Script(on: stage.placement, capacity: 16)
    #expect(Threads.run(4) { thread in for index in 0..<1000 { reactor.send(thread * 1000 + index) } })
    #expect(stage.finish())
    let state = reactor.currentState
    for thread in 0..<4 {
      #expect(state.filter { $0 / 1000 == thread } == Array(thread * 1000..<(thread + 1) * 1000))
    }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `A send that returned before another began is reduced first`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let reactor = Script(on: stage.placement)
    // Each thread sends only after the send of the previous thread has returned.
    let turns = (0...40).map { _ in Gate() }
    turns[0].open()
    #expect(
      Threads.run(4) { thread in
        for turn in stride(from: thread, to: 40, by: 4) {
          _ = turns[turn].wait()
          reactor.send(turn)
          turns[turn + 1].open()
        }
      })
    #expect(stage.finish())
    #expect(reactor.currentState == Array(0..<40))
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func
    `A re-entrant action waits for the running one, never recurses, never deadlocks (full mailbox included)`(
      _ placement: PlacementUnderTest
    ) throws
  {
    let stage = try Stage(placement)
    let depth = Busy()
    let reactor = Script(
      on: stage.placement, capacity: 1,
      mutate: { reactor, action in
        if depth.isInside { depth.overlaps += 1 }
        depth.isInside = true
        if action == 0 { for next in 1...100 { reactor.send(next) } }
        depth.isInside = false
        return .of(action, -action)
      })
    reactor.send(0)
    #expect(stage.finish { reactor.currentState.count == 202 })
    #expect(reactor.currentState == (0...100).flatMap { [$0, -$0] })
    #expect(depth.overlaps == 0)
  }

  private struct Pair: Sendable {
    var left = 0
    var right = [0]
  }

  private final class Pairs: Reactor {
    typealias Action = Int
    let initialState = Pair()
    let runtime: Runtime<Int, Int, Pair>
    init(on placement: Placement) { runtime = Runtime(on: placement) }
    func reduce(into state: inout Pair, mutation: Int) {
      state.left = mutation
      state.right = [mutation]
    }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `currentState from any thread is a whole state, never torn`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let reactor = Pairs(on: stage.placement)
    let isDone = Gate()
    let torn = Record<Int>()
    let readers = Threads.start {
      _ = Threads.run(2) { _ in
        while !isDone.isOpen {
          let state = reactor.currentState
          if state.right != [state.left] { torn.append(state.left) }
        }
      }
    }
    for index in 1...5000 { reactor.send(index) }
    #expect(stage.finish())
    isDone.open()
    #expect(readers.wait())
    #expect(torn.elements == [])
    #expect(reactor.currentState.left == 5000)
  }

  @Test
  func `A synchronous send that returned is visible in currentState (placement .caller, no contention)`()
    throws
  {
    let reactor = Script(on: .caller)
    for index in 0..<100 {
      reactor.send(index)
      #expect(reactor.currentState == Array(0...index))
    }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `What waits for a reactor is bounded`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let isInside = Gate()
    let mayGoOn = Gate()
    let reactor = Script(
      on: stage.placement, capacity: 8,
      mutate: { _, action in
        isInside.open()
        _ = mayGoOn.wait()
        return .just(action)
      })
    let isDone = Threads.start { reactor.send(-1) }
    #expect(isInside.wait())
    let accepted = (0..<1000).count { (try? reactor.trySend($0)) != nil }
    #expect(accepted <= 8)
    #expect(accepted >= 7)
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(stage.finish())
    #expect(reactor.currentState == [-1] + Array(0..<accepted))
  }
}
