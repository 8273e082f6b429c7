import ReactorRuntime
import TestSupport

/// What the reactor's owner is told.
enum SnapshotsOrder: Sendable {
  case send(SnapshotsAction)
  case step
  case close(Closing)
}

/// A list of the states that there have been, and of the actions that wait.
struct SnapshotsModel<State: SnapshotsState> {
  private(set) var states: [State]
  private(set) var waiting: [(changes: [SnapshotsChange], payload: Int)] = []
  private(set) var closing: Closing?
  /// Whether there is a state that readers can be inside of.
  private(set) var hasStarted: Bool
  private let isStepped: Bool
  private let turnLimit: Int
  private let lifetimes = Lifetimes()

  init(_ snapshotsCase: SnapshotsCase, hasStarted: Bool) {
    states = [State(lifetimes.track(0))]
    isStepped = snapshotsCase.isStepped
    turnLimit = snapshotsCase.turnLimit
    self.hasStarted = hasStarted
  }

  var newest: Int { states.count - 1 }

  func sight(of version: Int) -> Sight { states[version].sight }

  /// Whether the owner changes the state before it has obeyed.
  func changesState(_ order: SnapshotsOrder) -> Bool {
    switch order {
    case .send: !isStepped && closing == nil
    case .step: !waiting.isEmpty
    case .close: false
    }
  }

  mutating func obey(_ order: SnapshotsOrder) {
    switch order {
    case .send(let action):
      if closing != nil { return }
      hasStarted = true
      waiting.append((action.changes, action.payload.value))
      if !isStepped { process(1) }
    case .step: process(min(turnLimit, waiting.count))
    case .close(let how):
      if closing != .discard { closing = how }
      if how == .discard { waiting = [] }
    }
  }

  private mutating func process(_ count: Int) {
    for action in waiting.prefix(count) {
      let payload = lifetimes.track(action.payload)
      for change in action.changes {
        var state = states[newest]
        state.apply(change, payload)
        states.append(state)
      }
    }
    waiting.removeFirst(count)
  }
}
