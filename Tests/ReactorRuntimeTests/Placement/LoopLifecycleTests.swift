import ReactorCore
import Synchronization
import TestSupport
import Testing

@testable import ReactorRuntime

/// The life cycle of a loop as a table: each transition from each phase. Then with threads.
@Suite struct LoopLifecycleTests {
  typealias Phase = LoopLifecycle.Phase

  enum Transition: CaseIterable, Sendable {
    case openToClosing, closingToSealed, sealedToEnded

    func isMade(in lifecycle: borrowing LoopLifecycle) -> Bool {
      switch self {
      case .openToClosing: lifecycle.openToClosing()
      case .closingToSealed: lifecycle.closingToSealed()
      case .sealedToEnded: lifecycle.sealedToEnded()
      }
    }
  }

  /// A thread may post when the loop is sealed, another one when the thread that ends the loop runs the actions for that.
  @Test func `what comes around the end of a loop runs in its order`() throws {
    let stepper = try LoopStepper(turnLimit: 16)
    let state = stepper.loop.state
    let log = Record<Int>()
    let areDone = Gate(count: 3)
    @Sendable func post(_ number: Int) {
      state.postInAnyPhase(
        .closure {
          log.append(number)
          areDone.open()
        })
    }
    state.whenEnded { post(2) }
    state.close()
    let isSealed = state.trySeal()
    #expect(isSealed)
    post(1)
    #expect(log.elements == [])
    state.endIfSealed()
    post(3)
    #expect(areDone.wait())
    #expect(log.elements == [1, 2, 3])
  }

  private func makeLifecycle(in phase: Phase) -> LoopLifecycle {
    let lifecycle = LoopLifecycle()
    for transition in Transition.allCases.prefix(Int(phase.rawValue)) {
      let isMade = transition.isMade(in: lifecycle)
      #expect(isMade)
    }
    return lifecycle
  }

  /// The phase, as the queries show it.
  private func phase(of lifecycle: borrowing LoopLifecycle) -> Phase? {
    switch (lifecycle.isClosed, lifecycle.isSealed, lifecycle.hasEnded) {
    case (false, false, false): .open
    case (true, false, false): .closing
    case (true, true, false): .sealed
    case (true, true, true): .ended
    default: nil
    }
  }

  @Test(arguments: [
    (Transition.openToClosing, Phase.open, Phase?.some(.closing)), (.openToClosing, .closing, nil),
    (.openToClosing, .sealed, nil), (.openToClosing, .ended, nil),
    (.closingToSealed, .open, nil), (.closingToSealed, .closing, .sealed), (.closingToSealed, .sealed, nil),
    (.closingToSealed, .ended, nil),
    (.sealedToEnded, .open, nil), (.sealedToEnded, .closing, nil), (.sealedToEnded, .sealed, .ended),
    (.sealedToEnded, .ended, nil),
  ])
  func `a transition is made from its own phase and changes nothing in another one`(
    _ transition: Transition, _ before: Phase, _ after: Phase?
  ) {
    let lifecycle = makeLifecycle(in: before)
    let found = phase(of: lifecycle)
    #expect(found == before)
    let isMade = transition.isMade(in: lifecycle)
    #expect(isMade == (after != nil))
    let next = phase(of: lifecycle)
    #expect(next == after ?? before)
  }

  @Test func `of many threads that try each transition exactly one makes it`() {
    for _ in 0..<100 {
      let lifecycle = Shared(LoopLifecycle())
      let made = Record<Transition>()
      #expect(
        Threads.run(4) { _ in
          while !lifecycle.value.hasEnded {
            for transition in Transition.allCases where transition.isMade(in: lifecycle.value) {
              made.append(transition)
            }
          }
        })
      // Threads write down what they made in another order than they made it.
      let counts = Transition.allCases.map { one in made.elements.count { $0 == one } }
      #expect(counts == [1, 1, 1])
    }
  }

  @Test func `an action for the end runs once and in its order or at once after the end`() {
    let lifecycle = makeLifecycle(in: .sealed)
    let ran = Record<Int>()
    for index in 0..<3 { lifecycle.whenEnded { ran.append(index) } }
    let isMade = lifecycle.sealedToEnded()
    #expect(isMade)
    #expect(ran.elements == [])
    lifecycle.runEndActions()
    #expect(ran.elements == [0, 1, 2])
    lifecycle.whenEnded { ran.append(3) }
    #expect(ran.elements == [0, 1, 2, 3])
    lifecycle.runEndActions()
    #expect(ran.elements == [0, 1, 2, 3])
  }

  @Test func `an action that is registered around the end runs once`() {
    for _ in 0..<50 {
      let lifecycle = Shared(makeLifecycle(in: .sealed))
      let ran = Record<Int>()
      #expect(
        Threads.run(4) { thread in
          for index in 0..<20 {
            if index == 10, lifecycle.value.sealedToEnded() { lifecycle.value.runEndActions() }
            lifecycle.value.whenEnded { ran.append(thread * 100 + index) }
          }
        })
      #expect(Set(ran.elements).count == 80)
      #expect(ran.elements.count == 80)
    }
  }

  @Test func `a wait returns after the end or at its deadline`() {
    let lifecycle = Shared(makeLifecycle(in: .sealed))
    let isInTime = lifecycle.value.wait(until: .now + .milliseconds(5))
    #expect(!isInTime)
    let results = Record<Bool>()
    let hasWaited = Threads.start { results.append(lifecycle.value.wait(until: .now + .seconds(patience))) }
    let isMade = lifecycle.value.sealedToEnded()
    #expect(isMade)
    lifecycle.value.runEndActions()
    #expect(hasWaited.wait())
    results.append(lifecycle.value.wait(until: .now))
    #expect(results.elements == [true, true])
  }
}

/// A thread that closes a loop and is stopped between the word of the life cycle and the ring of the inbox.
@Suite struct FrozenLoopCloseTests {
  @Test func `a reactor that is submitted before the ring is closed is run`() throws {
    let loop = try Loop()
    let failures = Record<SendError>()
    let reactor = Script(on: .loop(loop), failures: failures)
    let isMade = loop.state.lifecycle.openToClosing()
    #expect(isMade)
    #expect(throws: LoopError.closed) { try loop.execute {} }
    reactor.send(1)
    #expect(Threads.yield { reactor.currentState == [1] })
    #expect(!loop.state.hasEnded)
    // The next thread that closes the loop closes the ring.
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(loop.state.hasEnded)
    reactor.send(2)
    #expect(failures.elements == [.closed])
    #expect(reactor.currentState == [1])
  }

  @Test func `a thread that the ring refuses finds the loop closed`() throws {
    for _ in 0..<50 {
      let loop = try Loop()
      let reactor = Script(on: .loop(loop), failures: Record())
      let hasBeenOpen = Record<Bool>()
      #expect(
        Threads.run(3) { thread in
          if thread == 0 { return loop.beginClosing() }
          let runtime = reactor.runtime
          while loop.state.inbox.submit(
            LoopReactor(ObjectIdentifier(runtime), of: reactor, { $2 == .leave ? 1 : 0 }))
          {}
          hasBeenOpen.append(!loop.state.isClosed)
        })
      #expect(hasBeenOpen.elements == [false, false])
      #expect(Threads.start { loop.shutdown() }.wait())
    }
  }
}
