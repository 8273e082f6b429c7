/// The streams that the three transforms are given, or answer.
@usableFromInline
struct TransformStreams<Action: Sendable, Mutation: Sendable, State: Sendable>: Sendable {
  @usableFromInline let action: Observable<Action>
  @usableFromInline let mutation: Observable<Mutation>
  @usableFromInline let state: Observable<State>

  @usableFromInline
  init(action: Observable<Action>, mutation: Observable<Mutation>, state: Observable<State>) {
    self.action = action
    self.mutation = mutation
    self.state = state
  }
}

/// By which a stream is known that a transform was given.
@usableFromInline
final class PortIdentity: Sendable {
  @usableFromInline init() {}
}
