import ReactorCore
import Synchronization
import TestSupport
import Testing

@testable import ReactorRuntime

/// The life cycle of a reactor as a table: each transition from each state.
@Suite struct LifecycleTests {
  /// How a life cycle gets into a state.
  enum Start: CaseIterable, Sendable {
    case open, closing, discarding, closingByLoop, sealed, discardingSealed, sealedByLoop, ended

    func reach(_ lifecycle: borrowing Lifecycle) {
      switch self {
      case .open: break
      case .closing: _ = lifecycle.openToClosing(by: .reactor(.drain))
      case .discarding: _ = lifecycle.openToClosing(by: .reactor(.discard))
      case .closingByLoop: _ = lifecycle.openToClosing(by: .loop)
      case .sealed:
        Start.closing.reach(lifecycle)
        _ = lifecycle.closingToSealed()
      case .discardingSealed:
        Start.discarding.reach(lifecycle)
        _ = lifecycle.closingToSealed()
      case .sealedByLoop:
        Start.closingByLoop.reach(lifecycle)
        _ = lifecycle.closingToSealed()
      case .ended:
        Start.sealed.reach(lifecycle)
        _ = lifecycle.sealedToEnded()
      }
    }
  }

  /// What a state looks like from outside, as one text.
  private func text(_ lifecycle: borrowing Lifecycle) -> String {
    let word = lifecycle.current
    return "\(word.phase)" + (word.discards ? " discards" : "") + (word.isClosedByLoopOnly ? " byLoop" : "")
  }

  @Test(arguments: [
    (Start.open, Lifecycle.AfterClosing.seal, "closing"), (.closing, .seal, "closing"),
    (.discarding, .seal, "closing discards"), (.closingByLoop, .seal, "closing"),
    (.sealed, .notifyOwner, "sealed"), (.discardingSealed, .notifyOwner, "sealed discards"),
    (.sealedByLoop, .notifyOwner, "sealed"), (.ended, .nothing, "ended"),
  ])
  func `a drain closes what is open and leaves a discard as it is`(
    _ start: Start, _ next: Lifecycle.AfterClosing, _ state: String
  ) {
    let lifecycle = Lifecycle()
    start.reach(lifecycle)
    let found = lifecycle.openToClosing(by: .reactor(.drain))
    #expect(found == next)
    #expect(text(lifecycle) == state)
  }

  @Test(arguments: [
    (Start.open, Lifecycle.AfterClosing.seal, "closing discards"), (.closing, .seal, "closing discards"),
    (.discarding, .seal, "closing discards"), (.closingByLoop, .seal, "closing discards"),
    (.sealed, .notifyOwner, "sealed discards"), (.discardingSealed, .notifyOwner, "sealed discards"),
    (.sealedByLoop, .notifyOwner, "sealed discards"), (.ended, .nothing, "ended"),
  ])
  func `a discard overrules a drain until the end`(
    _ start: Start, _ next: Lifecycle.AfterClosing, _ state: String
  ) {
    let lifecycle = Lifecycle()
    start.reach(lifecycle)
    let found = lifecycle.openToClosing(by: .reactor(.discard))
    #expect(found == next)
    #expect(text(lifecycle) == state)
  }

  @Test(arguments: [
    (Start.open, Lifecycle.AfterClosing.seal, "closing byLoop"), (.closing, .seal, "closing"),
    (.discarding, .seal, "closing discards"), (.closingByLoop, .seal, "closing byLoop"),
    (.sealed, .nothing, "sealed"), (.discardingSealed, .nothing, "sealed discards"),
    (.sealedByLoop, .nothing, "sealed byLoop"), (.ended, .nothing, "ended"),
  ])
  func `the end of a loop closes what is open and changes nothing that was closed`(
    _ start: Start, _ next: Lifecycle.AfterClosing, _ state: String
  ) {
    let lifecycle = Lifecycle()
    start.reach(lifecycle)
    let found = lifecycle.openToClosing(by: .loop)
    #expect(found == next)
    #expect(text(lifecycle) == state)
  }

  @Test(arguments: Start.allCases)
  func `only what is closing is sealed`(_ start: Start) {
    let lifecycle = Lifecycle()
    start.reach(lifecycle)
    let before = text(lifecycle)
    let isClosing = before.hasPrefix("closing")
    let isSealed = lifecycle.closingToSealed()
    #expect(isSealed == isClosing)
    #expect(text(lifecycle) == (isClosing ? before.replacing("closing", with: "sealed") : before))
  }

  @Test(arguments: Start.allCases)
  func `only what is sealed and closed for itself ends`(_ start: Start) {
    let lifecycle = Lifecycle()
    start.reach(lifecycle)
    let mayEnd = start == .sealed || start == .discardingSealed
    let found = lifecycle.mayEnd
    #expect(found == mayEnd)
    let hasEndedNow = lifecycle.sealedToEnded()
    #expect(hasEndedNow == mayEnd)
    #expect((text(lifecycle).hasPrefix("ended")) == (mayEnd || start == .ended))
    let endsAgain = lifecycle.sealedToEnded()
    #expect(!endsAgain)
  }

  @Test(arguments: [
    (Start.open, false, false), (.closing, true, false), (.closingByLoop, false, false),
    (.sealed, true, false),
    (.sealedByLoop, false, false), (.ended, true, true),
  ])
  func `the owner is refused outside of its own turns and after the end`(
    _ start: Start, _ outside: Bool, _ inTurn: Bool
  ) {
    let lifecycle = Lifecycle()
    start.reach(lifecycle)
    let isClosed = lifecycle.isClosed
    #expect(isClosed == (start != .open))
    let isRefusedOutside = lifecycle.refusesOwner(inTurn: false)
    #expect(isRefusedOutside == outside)
    let isRefusedInTurn = lifecycle.refusesOwner(inTurn: true)
    #expect(isRefusedInTurn == inTurn)
  }

  @Test func `of many threads that try one transition exactly one makes it`() {
    for _ in 0..<50 {
      let lifecycle = Shared(Lifecycle())
      let (sealed, ended) = (Shared(Atomic(0)), Shared(Atomic(0)))
      #expect(
        Threads.run(4) { thread in
          _ = lifecycle.value.openToClosing(
            by: thread == 0 ? .loop : .reactor(thread == 1 ? .discard : .drain))
          if lifecycle.value.closingToSealed() { sealed.value.add(1, ordering: .relaxed) }
          if lifecycle.value.sealedToEnded() { ended.value.add(1, ordering: .relaxed) }
        })
      #expect(sealed.value.load(ordering: .relaxed) == 1)
      #expect(ended.value.load(ordering: .relaxed) == 1)
      let phase = lifecycle.value.current.phase
      #expect(phase == .ended)
    }
  }
}
