import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests of `pulse(_:)`. PulseTests covers the property wrapper itself.
@Suite struct PulseSemanticsTests {
  private final class Alarm: ReactorKitReactor {
    enum Action {
      case show(String?)
      case showTwice(String)
      case append(String)
      case count
    }
    typealias Mutation = Action

    struct State {
      @Pulse var message: String?
      @Pulse var history: [String] = []
      var count = 0
    }

    let initialState = State(message: "first")
    let runtime: Runtime<Action, Action, State>

    init(on placement: Placement) { runtime = Runtime(on: placement) }

    func reduce(state: State, mutation: Action) -> State {
      var state = state
      switch mutation {
      case .show(let message): state.message = message
      case .showTwice(let message):
        state.message = "not seen"
        state.message = message
      case .append(let message): state.history.append(message)
      case .count: state.count += 1
      }
      return state
    }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `21. pulse emits on subscription and then only when the counter changed, for equal values too`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let (messages, late) = (Record<String?>(), Record<String?>())
    let alarm = Alarm(on: stage.placement)
    alarm.pulse(\.$message).subscribe(onNext: { messages.append($0) })
    for action: Alarm.Action in [
      .show("a"), .count, .show("a"), .append("x"), .show(nil), .showTwice("b"),
    ] {
      alarm.action.onNext(action)
    }
    alarm.pulse(\.$message).subscribe(onNext: { late.append($0) })
    alarm.action.onNext(.count)
    #expect(stage.finish())
    #expect(messages.elements == ["first", "a", "a", nil, "b"])
    #expect(late.elements == ["b"])
    #expect(alarm.currentState.count == 2)
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `21. The counter rises on a change in place, too`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let histories = Record<[String]>()
    let alarm = Alarm(on: stage.placement)
    alarm.pulse(\.$history).subscribe(onNext: { histories.append($0) })
    for action: Alarm.Action in [.append("a"), .show("b"), .append("a")] { alarm.action.onNext(action) }
    #expect(stage.finish())
    #expect(histories.elements == [[], ["a"], ["a", "a"]])
    #expect(alarm.currentState.$history.valueUpdatedCount == 2)
  }
}
