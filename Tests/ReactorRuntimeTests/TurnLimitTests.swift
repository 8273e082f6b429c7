import ReactorCore
import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// A turn ends at its limit, whatever it processes: what others sent, or what the reactor sends to itself.
@Suite struct TurnLimitTests {
  /// Sends `count` actions to itself when it processes action 0; each is processed after what was sent before it.
  private func fanOut(of count: Int, on placement: Placement) -> Script {
    Script(
      on: placement,
      mutate: { reactor, action in
        if action == 0 { for own in 1...count { reactor.send(own) } }
        return .just(action)
      })
  }

  @Test
  func `a turn counts re-entrant actions, and ends at the limit`() throws {
    let loop = try SteppedLoop(turnLimit: 16)
    let reactor = fanOut(of: 1000, on: loop.placement)
    reactor.send(0)
    #expect(loop.step() == 16)
    // This one comes after all of them; it must not make one turn of them.
    reactor.send(2000)
    for turn in 2...62 {
      #expect(loop.step() == 16)
      #expect(reactor.currentState.count == 16 * turn)
    }
    #expect(loop.step() == 10)
    #expect(reactor.currentState == Array(0...1000) + [2000])
    #expect(reactor.counters.largestTurn == 16)
  }

  @Test
  func `a reactor that sends to itself delays its neighbours on the loop by one turn at most`() throws {
    let loop = try SteppedLoop(turnLimit: 16)
    let reactor = fanOut(of: 1000, on: loop.placement)
    let neighbour = Script(on: loop.placement)
    reactor.send(0)
    #expect(loop.step() == 16)
    reactor.send(2000)
    for action in 1...10 {
      neighbour.send(action)
      #expect(loop.step() == 17)
      #expect(neighbour.currentState.count == action)
    }
  }

  @Test
  func `a reactor that other threads flood delays its neighbours on the loop by one turn at most`() throws {
    let loop = try SteppedLoop(turnLimit: 16)
    let (flooded, neighbour) = (Script(on: loop.placement, capacity: 256), Script(on: loop.placement))
    // More than there is room for, so that some of the senders always wait.
    let areDone = (0..<4).map { _ in Threads.start { for action in 0..<500 { flooded.send(action) } } }
    for action in 1...10 {
      #expect(Threads.yield { flooded.counters.waiting >= 16 })
      neighbour.send(action)
      // Fewer than 17 if the oldest of those that wait is a sender that was stopped in the middle of its send.
      try #require((1...17).contains(loop.step()))
      #expect(neighbour.currentState.count == action)
    }
    #expect(
      Threads.yield {
        loop.step()
        return areDone.allSatisfy { $0.isOpen }
      })
    loop.run()
    #expect(flooded.currentState.count == 2000)
    #expect(flooded.counters.largestTurn == 16)
  }

  /// The neighbour's action ends the flood, so a neighbour that starves is a test that does not end.
  @Test
  func `a reactor that other threads flood starves no neighbour on the same loop of a group`() throws {
    let group = try LoopGroup(count: 2, turnLimit: 64)
    let placement = Placement.group(group, key: "key")
    let isOver = Gate()
    let isFlooded = Gate(count: 1000)
    let flooded = Script(
      on: placement, capacity: 256,
      mutate: { _, action in
        isFlooded.open()
        return .just(action)
      }, reduce: { _, state, _ in state = [(state.last ?? 0) + 1] })
    let neighbours = (0..<3).map { _ in
      Script(
        on: placement,
        mutate: { _, action in
          if action == 10 { isOver.open() }
          return .just(action)
        })
    }
    let areDone = (0..<4).map { _ in
      Threads.start {
        var action = 0
        while !isOver.isOpen {
          flooded.send(action)
          action += 1
        }
      }
    }
    #expect(isFlooded.wait())
    for action in 0...10 {
      for neighbour in neighbours { neighbour.send(action) }
    }
    #expect(isOver.wait())
    isOver.open()
    for isDone in areDone { #expect(isDone.wait()) }
    #expect(Threads.start { group.shutdown() }.wait())
    for neighbour in neighbours { #expect(neighbour.currentState == Array(0...10)) }
    #expect(flooded.counters.largestTurn <= 64)
  }

  /// With a ring that is never empty, and actions in it that send to the reactor again.
  @Test(arguments: PlacementUnderTest.allCases)
  func `turns are short under load as well`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let reactor = Script(
      on: stage.placement, capacity: 1 << 14, reentrantCapacity: 1 << 20,
      mutate: { reactor, action in
        if action > 0 { for _ in 1...5 { reactor.send(-action) } }
        return .just(action)
      },
      reduce: { _, state, _ in state = [(state.last ?? 0) + 1] })
    #expect(Threads.run(4) { _ in for action in 1...2000 { reactor.send(action) } })
    #expect(stage.finish { reactor.currentState == [4 * 2000 * 6] })
    #expect(reactor.counters.largestTurn <= 1024)
  }

  @Test
  func `on the caller each turn publishes a state, and the owner stays while its own actions wait`() {
    let threads = Record<UInt64>()
    let lag = Record<Int>()
    let reactor = Script(
      on: .caller, snapshots: .copied, reentrantCapacity: 10_000,
      mutate: { reactor, action in
        threads.append(CurrentCore.threadToken)
        if action == 0 {
          // This one is sent first, so it comes first; and it waits in the ring.
          _ = Threads.start { reactor.send(20_000) }.wait()
          for own in 1...10_000 { reactor.send(own) }
        } else if action < 20_000, action % 1000 == 500 {
          // Another sender would take over if it could.
          let sender = Threads.start { Self.read(reactor, in: action, lag) }
          _ = sender.wait()
        }
        return .just(action)
      })
    reactor.send(0)
    #expect(reactor.currentState.prefix(10_002).elementsEqual([0, 20_000] + Array(1...10_000)))
    #expect(reactor.currentState.count == 10_012)
    #expect(Set(threads.elements) == [CurrentCore.threadToken])
    // A reader sees a state that is one turn old at most.
    #expect(lag.elements.count == 10)
    #expect(lag.elements.allSatisfy { $0 <= 1025 })
    #expect(reactor.counters.largestTurn <= 1024)
  }

  private static func read(_ reactor: Script, in action: Int, _ lag: Record<Int>) {
    lag.append(action - reactor.currentState.count)
    reactor.send(20_000 + action)
  }
}
