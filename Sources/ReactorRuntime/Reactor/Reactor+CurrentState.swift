import ReactorCore

extension Reactor {
  /// A whole state, from any thread and without waiting: what the last turn left, or published on its way.
  ///
  /// After a send that ran at once (placement ``Placement/caller``, idle) it contains that action. Inside
  /// `mutate` it contains everything before the running action's next mutation; inside
  /// ``reduce(state:mutation:)`` it is the state before; inside ``reduce(into:mutation:)``, a state before
  /// this turn. Before the first action it is ``initialState``.
  @inlinable
  public var currentState: State {
    if runtime.detours.contains(.stubbed) { return stub.state.value }
    return runtime.state.read() ?? initialState
  }

  /// Calls `body` with the state that ``currentState`` would answer, without copying or retaining it:
  /// `reactor.withCurrentState { $0.items.count }`. Any thread; never waits for the owner.
  ///
  /// `body` should be short. While it runs, the state that it was given stays alive and as it is, and the owner
  /// goes on elsewhere; if seven threads stayed inside their bodies, each with another state, readers would see
  /// nothing newer. `body` may send actions; they do not change what it was given. What it was given must not
  /// escape: what is needed later is copied out, as the result.
  ///
  /// Only before the first action, and while the ``stub`` stands in, `body` gets a copy.
  ///
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  /// - Complexity: O(1), apart from `body`.
  @inlinable
  @inline(__always)
  public func withCurrentState<Result, E: Error>(
    _ body: (borrowing State) throws(E) -> Result
  ) throws(E) -> Result {
    if runtime.detours.contains(.stubbed) { return try body(stub.state.value) }
    if let result = try runtime.state.withValue(body) { return result }
    return try body(initialState)
  }
}
