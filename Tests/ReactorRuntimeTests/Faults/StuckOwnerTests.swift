import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

/// An owner stops in the middle of a turn: what it delays, and what goes on.
@Suite struct StuckOwnerTests {
  private static let capacity = 8
  private static let each = 20

  /// The error with which an action for which there is no room is reported in the end.
  private static func reason(of policy: OverflowPolicy) -> SendError {
    switch policy {
    case .block: .closed
    case .fail: .full
    case .dropNewest, .dropOldest: .dropped
    }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `others can read, send and close while the owner is stuck`(_ placement: PlacementUnderTest) throws {
    func body(_ policy: OverflowPolicy) throws {
      let stage = try Stage(placement)
      let (isInside, mayGoOn) = (Gate(), Gate())
      let failures = Record<SendError>()
      let reactor = Script.held(
        on: stage.placement, capacity: Self.capacity, overflow: policy, failures: failures,
        isInside: isInside, mayGoOn: mayGoOn)
      let isDone = Threads.start { reactor.send(0) }
      #expect(isInside.wait())

      // Readers do not wait, and get the state that was published last.
      let isOver = Shared(Atomic(false))
      let reads = Shared(Atomic(0))
      let haveRead = Threads.start {
        while !isOver.value.load(ordering: .relaxed) {
          #expect(reactor.currentState == [])
          #expect(reactor.withCurrentState { $0.count } == 0)
          reads.value.add(1, ordering: .relaxed)
        }
      }

      // Senders do not wait either, unless the policy says so.
      let haveSent = Threads.start {
        #expect(
          Threads.run(3) { thread in for index in 1...Self.each { reactor.send(thread * 100 + index) } })
      }
      if policy == .block {
        #expect(Threads.yield { (try? reactor.trySend(1000)) == nil })
      } else {
        #expect(haveSent.wait())
      }
      #expect(throws: SendError.full) { try reactor.trySend(1000) }
      #expect(throws: SendError.timedOut) { try reactor.send(1000, before: .now + .milliseconds(5)) }
      // On a loop the action that the owner is stuck in may still have its slot.
      let waiting = reactor.counters.waiting
      #expect((Self.capacity - 1...Self.capacity * (policy == .dropOldest ? 2 : 1)).contains(waiting))

      // It can be closed, which wakes the senders that wait for room. It does not end in time, and the error names it.
      reactor.close()
      #expect(haveSent.wait())
      #expect(throws: SendError.closed) { try reactor.trySend(1000) }
      #expect(!reactor.waitUntilEnded(before: .now + .milliseconds(5)))
      #expect(throws: ShutdownError.self) {
        try Shutdown.close([reactor.closer()], before: .now + .milliseconds(5))
      }
      let soFar = reads.value.load(ordering: .relaxed)
      #expect(Threads.yield { reads.value.load(ordering: .relaxed) > soFar })
      isOver.value.store(true, ordering: .relaxed)
      #expect(haveRead.wait())

      // When the owner goes on, it processes everything that was accepted, in each sender's order. The rest was reported.
      mayGoOn.open()
      #expect(isDone.wait())
      #expect(reactor.waitUntilEnded(before: .now + .seconds(patience)))
      let state = reactor.currentState
      #expect(state.first == 0)
      let mine = state.count { $0 == 1000 }
      #expect(state.count - mine + failures.elements.count == 1 + 3 * Self.each)
      #expect((Self.capacity...Self.capacity + 1).contains(state.count))
      #expect(failures.elements.allSatisfy { $0 == Self.reason(of: policy) })
      for thread in 0..<3 {
        let ofThread = state.filter { $0 != 0 && $0 != 1000 && $0 / 100 == thread }
        #expect(ofThread == ofThread.sorted())
        #expect(Set(ofThread).count == ofThread.count)
      }
      #expect(stage.finish())
    }
    for policy in [OverflowPolicy.block, .fail, .dropNewest, .dropOldest] { try body(policy) }
  }

  /// The error names the loop as well, which ends when it can.
  @Test
  func `a loop with a stuck owner does not end in time`() throws {
    let loop = try Loop(name: "stuck")
    let (isInside, mayGoOn) = (Gate(), Gate())
    let reactor = Script.held(on: .loop(loop), capacity: 8, isInside: isInside, mayGoOn: mayGoOn)
    let other = Script(on: .loop(loop))
    reactor.send(0)
    #expect(isInside.wait())
    reactor.send(1)
    other.send(1)
    #expect(throws: ShutdownError.self) { try loop.shutdown(before: .now + .milliseconds(5)) }
    #expect(other.currentState == [])
    mayGoOn.open()
    try loop.shutdown(before: .now + .seconds(patience))
    #expect(reactor.currentState == [0, 1])
    // Handed to the loop before it was closed.
    #expect(other.currentState == [1])
  }
}
