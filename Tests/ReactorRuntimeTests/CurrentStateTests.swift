import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests of what `currentState` returns, on which thread and when.
@Suite struct CurrentStateTests {
  @Test(arguments: [SnapshotPolicy.copied, .onDemand, .replayed])
  func `currentState contains an action when its synchronous send returns`(_ snapshots: SnapshotPolicy) throws
  {
    let reactor = Script(on: .caller, snapshots: snapshots)
    for index in 1...50 {
      if index % 2 == 0 { try reactor.trySend(index) } else { reactor.send(index) }
      #expect(reactor.currentState.last == index)
    }
    let seen = Record<[Int]>()
    #expect(Threads.run(1) { _ in seen.append(reactor.currentState) })
    #expect(seen.elements == [Array(1...50)])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `mutate reads a state with all earlier actions, and reduce the last published one`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let inMutate = Record<[Int]>()
    let inReduce = Record<([Int], [Int])>()
    let reactor = Script(
      on: stage.placement, snapshots: .copied,
      mutate: { reactor, action in
        inMutate.append(reactor.currentState)
        return .of(action, action + 1)
      },
      reduce: { reactor, state, mutation in
        inReduce.append((state, reactor.currentState))
        state.append(mutation)
      })
    for action in [10, 20, 30] { reactor.send(action) }
    #expect(stage.finish())
    #expect(inMutate.elements == [[], [10, 11], [10, 11, 20, 21]])
    // In reduce, it is a whole state from before the running action, never a partly changed one.
    for (old, shown) in inReduce.elements {
      #expect(shown == Array(old.prefix(shown.count)))
      #expect(shown.count % 2 == 0)
      #expect(shown.count <= old.count)
    }
    if placement == .caller {
      #expect(inReduce.elements.map { $0.1.count } == [0, 0, 2, 2, 4, 4])
    }
  }

  final class Returning: ReactorKitReactor {
    typealias Action = Int
    let initialState: [Int] = []
    let seen = Record<[Int]>()
    let runtime: Runtime<Int, Int, [Int]>
    init(on placement: Placement, _ snapshots: SnapshotPolicy = .automatic) {
      runtime = Runtime(on: placement, snapshots: snapshots)
    }
    func reduce(state: [Int], mutation: Int) -> [Int] {
      seen.append(currentState)
      return state + [mutation]
    }
  }

  @Test(arguments: [SnapshotPolicy.copied, .onDemand, .replayed])
  func `a reduce that returns the state reads the state before its mutation`(_ snapshots: SnapshotPolicy)
    throws
  {
    let reactor = Returning(on: .caller, snapshots)
    for action in 1...3 { reactor.send(action) }
    #expect(reactor.seen.elements == [[], [1], [1, 2]])
  }

  @Test(arguments: [SnapshotPolicy.copied, .onDemand, .replayed])
  func `other threads see the states of a turn at its end`(_ snapshots: SnapshotPolicy) throws {
    let isInside = Gate()
    let mayGoOn = Gate()
    let reactor = Script(
      on: .caller, snapshots: snapshots,
      mutate: { _, action in
        if action == 2 {
          isInside.open()
          _ = mayGoOn.wait()
        }
        return .just(action)
      })
    reactor.send(1)
    let isDone = Threads.start { reactor.send(2) }
    #expect(isInside.wait())
    #expect(reactor.currentState == [1])
    // The reactor is busy, so this thread leaves the action to the owner.
    reactor.send(3)
    #expect(reactor.currentState == [1])
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(reactor.currentState == [1, 2, 3])
  }

  @Test(arguments: [SnapshotPolicy.copied, .onDemand, .replayed])
  func `a loop publishes the state of each turn while the reactor stays busy`(_ snapshots: SnapshotPolicy)
    throws
  {
    let loop = try Loop(turnLimit: 4)
    let mayEnd = Gate()
    // The reactor is never idle, so the loop keeps its ownership until the gate opens.
    let reactor = Script(
      on: .loop(loop), snapshots: snapshots,
      mutate: { reactor, action in
        if !mayEnd.isOpen { reactor.send(action + 1) }
        return .just(action)
      },
      reduce: { _, state, mutation in state = [mutation] })
    reactor.send(1)
    #expect(Threads.yield { (reactor.currentState.first ?? 0) > 100 })
    mayEnd.open()
    #expect(Threads.start { loop.shutdown() }.wait())
  }
}
