import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

/// Tests of actions that a reactor sends to itself from inside its turns.
@Suite struct ReentrancyTests {
  @Test(arguments: PlacementUnderTest.allCases)
  func `actions that mutate sends wait for the running action`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let order = Record<String>()
    let reactor = Script(
      on: stage.placement,
      mutate: { reactor, action in
        order.append("mutate \(action)")
        if action < 10 {
          let before = reactor.currentState
          reactor.send(action * 10)
          reactor.send(action * 10 + 1)
          #expect(reactor.currentState == before)
        }
        order.append("end \(action)")
        return .of(action, -action)
      },
      reduce: { _, state, mutation in
        order.append("reduce \(mutation)")
        state.append(mutation)
      })
    reactor.send(1)
    #expect(stage.finish())
    #expect(reactor.currentState == [1, -1, 10, -10, 11, -11])
    #expect(
      order.elements == [
        "mutate 1", "end 1", "reduce 1", "reduce -1", "mutate 10", "end 10", "reduce 10", "reduce -10",
        "mutate 11", "end 11", "reduce 11", "reduce -11",
      ])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `actions that reduce sends wait for the running action`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let reactor = Script(
      on: stage.placement,
      mutate: { _, action in action == 1 ? .from([1, 2, 3]) : .just(action) },
      reduce: { reactor, state, mutation in
        state.append(mutation)
        if mutation < 10 { reactor.send(mutation * 10) }
        if mutation == 2 { try? reactor.trySend(99) }
        state.append(-mutation)
      })
    reactor.send(1)
    #expect(stage.finish { reactor.currentState.count == 14 })
    #expect(reactor.currentState == [1, -1, 2, -2, 3, -3, 10, -10, 20, -20, 99, -99, 30, -30])
  }

  @Test func `what initialState sends on the thread of a sender waits where the loop may look`() throws {
    // The owner's queue is guarded by the loop's thread, and has room for one action here; the ring has room for eight.
    let loop = try Loop()
    let reactor = SenderInInitialState(on: loop)
    reactor.send(4)
    loop.shutdown()
    #expect(reactor.currentState == [4, 1, 2, 3])
    #expect(reactor.failures.elements == [])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a long chain of re-entrant actions does not recurse`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let reactor = Script(
      on: stage.placement, capacity: 2, reentrantCapacity: 1,
      mutate: { reactor, action in
        if action < 100_000 { reactor.send(action + 1) }
        return .just(action)
      },
      reduce: { _, state, mutation in state = [mutation] })
    reactor.send(0)
    #expect(stage.finish())
    #expect(reactor.currentState == [100_000])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a growing chain of re-entrant actions ends at the limit`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let refused = Record<SendError>()
    let pending = Shared(Atomic(1))
    // Each action of depth n sends two of depth n - 1. Once 64 actions wait, one of the two is refused.
    let reactor = Script(
      on: stage.placement, reentrantCapacity: 64,
      mutate: { reactor, depth in
        for _ in 0..<(depth > 0 ? 2 : 0) {
          do throws(SendError) {
            try reactor.trySend(depth - 1)
            pending.value.add(1, ordering: .relaxed)
          } catch {
            refused.append(error)
          }
        }
        pending.value.subtract(1, ordering: .relaxed)
        return .just(depth)
      })
    reactor.send(10)
    #expect(stage.finish { pending.value.load(ordering: .relaxed) == 0 })
    #expect(!refused.elements.isEmpty)
    #expect(refused.elements.allSatisfy { $0 == .reentrantOverflow })
    // Only the refused actions are missing, because each action was sent by one that was processed.
    let processed = reactor.currentState
    let sent = processed.count { $0 > 0 } * 2 + 1
    #expect(processed.count == sent - refused.elements.count)
  }

  @Test
  func `a re-entrant send beyond the limit is reported`() throws {
    let failures = Record<SendError>()
    let reactor = Script(
      on: .caller, reentrantCapacity: 3, failures: failures,
      mutate: { reactor, action in
        if action == 0 { for next in 1...5 { reactor.send(next) } }
        return .just(action)
      })
    reactor.send(0)
    #expect(reactor.currentState == [0, 1, 2, 3])
    #expect(failures.elements == [.reentrantOverflow, .reentrantOverflow])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a re-entrant send to a full mailbox neither blocks nor loses the action`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let failures = Record<SendError>()
    let isInside = Gate()
    let mayGoOn = Gate()
    let reactor = Script(
      on: stage.placement, capacity: 2, failures: failures,
      mutate: { reactor, action in
        if action == 0 {
          isInside.open()
          _ = mayGoOn.wait()
          for next in 100..<110 { reactor.send(next) }
        }
        return .just(action)
      })
    let isDone = Threads.start { reactor.send(0) }
    #expect(isInside.wait())
    // Another thread fills the mailbox while the owner is inside mutate. On a loop, the slot of the
    // running action may not have been released yet.
    var accepted = 0
    while accepted < 2, (try? reactor.trySend(1 + accepted)) != nil { accepted += 1 }
    #expect(accepted >= 1)
    #expect(throws: SendError.full) { try reactor.trySend(9) }
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(stage.finish())
    // The sends of the other thread had returned before the re-entrant sends began, so their actions come first.
    #expect(reactor.currentState == [0] + (0..<accepted).map { 1 + $0 } + Array(100..<110))
    #expect(failures.elements == [])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `re-entrant actions and those of other threads keep their real-time order`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let isInside = Gate()
    let hasSent = Gate()
    let hasReentered = Gate()
    let mayEnd = Gate()
    let reactor = Script(
      on: stage.placement,
      mutate: { reactor, action in
        if action == 0 {
          isInside.open()
          _ = hasSent.wait()
          reactor.send(10)
          hasReentered.open()
          _ = mayEnd.wait()
          reactor.send(11)
        }
        return .just(action)
      })
    let isDone = Threads.start { reactor.send(0) }
    #expect(isInside.wait())
    reactor.send(1)
    reactor.send(2)
    hasSent.open()
    #expect(hasReentered.wait())
    reactor.send(3)
    mayEnd.open()
    #expect(isDone.wait())
    #expect(stage.finish())
    #expect(reactor.currentState == [0, 1, 2, 10, 3, 11])
  }
}

/// Sends to itself when its initial state is read: on the thread of the first sender, also if it is on a loop.
private final class SenderInInitialState: Reactor {
  typealias Action = Int
  typealias Mutation = Int

  let failures: Record<String>
  let runtime: Runtime<Int, Int, [Int]>

  init(on loop: Loop) {
    let failures = Record<String>()
    self.failures = failures
    runtime = Runtime(
      on: .loop(loop), capacity: 8, reentrantCapacity: 1, onFailure: { failures.append("\($0.cause)") })
  }

  var initialState: [Int] {
    for action in 1...3 { send(action) }
    return []
  }

  func reduce(into state: inout [Int], mutation: Int) { state.append(mutation) }
}
