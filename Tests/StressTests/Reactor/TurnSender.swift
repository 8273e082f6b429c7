import ReactorCore
import ReactorRuntime

/// Sends what it gets on, from inside its turns.
final class TurnSender<C: Core>: Reactor {
  typealias Action = RecordingReactor<C>.Action
  let initialState = 0
  let runtime = RuntimeOn<C, Action, Action, Int>()
  private let target: RecordingReactor<C>

  init(to target: RecordingReactor<C>) { self.target = target }

  func mutate(action: Action) -> Observable<Action> {
    target.send(action)
    return .empty()
  }

  func reduce(into state: inout Int, mutation: Action) {}
}
