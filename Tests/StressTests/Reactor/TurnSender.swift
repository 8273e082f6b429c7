import ReactorCore
import ReactorRuntime

/// Sends what it gets on, from inside its turns.
final class TurnSender: Reactor {
  typealias Action = RecordingReactor.Action
  let initialState = 0
  let runtime = Runtime<Action, Action, Int>()
  private let target: RecordingReactor

  init(to target: RecordingReactor) { self.target = target }

  func mutate(action: Action) -> Observable<Action> {
    target.send(action)
    return .empty()
  }

  func reduce(into state: inout Int, mutation: Action) {}
}
