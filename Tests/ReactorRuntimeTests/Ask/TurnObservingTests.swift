import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// The hook at the end of a turn.
@Suite struct TurnObservingTests {
  @Test(arguments: askedPlaces)
  func `each turn ends with the hook, when others can read the state and before they get the reply`(
    _ placement: PlacementUnderTest, _ snapshots: SnapshotPolicy
  ) throws {
    let stage = try Stage(placement)
    let ledger = Ledger(on: stage.placement, snapshots: snapshots)
    for number in 1...3 {
      let isReplied = Gate()
      ledger.ask {
        .add(number, $0)
      } completion: { _ in
        ledger.log.append("reply \(number)")
        isReplied.open()
      }
      #expect(isReplied.wait())
    }
    #expect(
      ledger.log.elements == [
        "turn 1, read 1", "reply 1", "turn 3, read 3", "reply 2", "turn 6, read 6", "reply 3",
      ])
    #expect(stage.finish())
  }

  @Test func `a turn of several actions has one end`() throws {
    let loop = try SteppedLoop(turnLimit: 4)
    let ledger = Ledger(on: loop.placement)
    for number in 1...6 {
      ledger.ask {
        .add(number, $0)
      } completion: { _ in
        ledger.log.append("reply")
      }
    }
    #expect(loop.run())
    let reply = "reply"
    #expect(
      ledger.log.elements == [
        "turn 10, read 10", reply, reply, reply, reply, "turn 21, read 21", reply, reply,
      ])
    loop.shutdown()
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `the hook may send to its reactor`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let ledger = Ledger(on: stage.placement, addsUpTo: 5)
    ledger.send(.increment)
    #expect(Threads.yield { ledger.log.elements.count == 5 })
    #expect(ledger.log.elements == (1...5).map { "turn \($0), read \($0)" })
    #expect(stage.finish())
  }
}

/// Writes a line at the end of each turn.
private final class Ledger: TurnObserving {
  enum Action: Sendable {
    case add(Int, Reply<Void>)
    case increment
  }
  typealias Mutation = Action

  let initialState = 0
  let runtime: Runtime<Action, Action, Int>
  let log = Record<String>()
  private let limit: Int

  init(on placement: Placement, snapshots: SnapshotPolicy = .automatic, addsUpTo limit: Int = 0) {
    runtime = Runtime(on: placement, snapshots: snapshots)
    self.limit = limit
  }

  func reduce(into state: inout Int, mutation: Action) {
    switch mutation {
    case .add(let number, let reply):
      reply()
      state += number
    case .increment:
      state += 1
    }
  }

  func turnEnded(_ state: borrowing Int) {
    let read = Record<Int>()
    #expect(Threads.run(1) { _ in read.append(self.currentState) })
    log.append("turn \(copy state), read \(read.elements[0])")
    if state < limit { send(.increment) }
  }
}
