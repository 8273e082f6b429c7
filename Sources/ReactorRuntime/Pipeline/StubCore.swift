import ReactorCore

/// The storage of a stub, generic over actions and states rather than over the reactor.
@usableFromInline
final class StubCore<Action: Sendable, State: Sendable>: Sendable {
  @usableFromInline let state: StateRelay<State>
  @usableFromInline let action = ActionSubject<Action>()
  let recorded = SystemMutex<[Action]>([])

  @usableFromInline
  init(_ state: State) {
    self.state = StateRelay(value: state)
    action.subscribe(onNext: { [recorded] action in recorded.withLock { $0.append(action) } })
  }
}
