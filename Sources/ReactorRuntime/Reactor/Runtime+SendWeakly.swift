import ReactorCore

/// Sending by who does not hold the reactor otherwise: what ``Reactor/action`` does.
extension WeakOwner {
  /// As ``Reactor/send(_:)``; but nothing happens if the reactor is gone, and one that goes away inside its
  /// own `mutate` reduces nothing of what that answers.
  @inlinable
  @inline(never)
  func send(_ action: Owner.Action)
  where Owner: Reactor, Part == Runtime<Owner.Action, Owner.Mutation, Owner.State> {
    guard var reactor = owner else { return }
    let runtime = part(of: reactor)
    if runtime.detours.contains(.observedAction) {
      // As on each detour. Without observers of `action` it ends nothing.
      ThreadScope.outside { runtime.send(action, toHeld: &reactor) }
    } else {
      runtime.send(action, toHeld: &reactor)
    }
  }
}

extension Runtime {
  /// - Parameter reactor: The caller's own reference, and maybe the last one.
  @inlinable
  func send<R: Reactor<Action, Mutation, State>>(_ action: Action, toHeld reactor: inout R) {
    guard let answer = mutateNow(action, of: reactor) else { return }
    if isKnownUniquelyReferenced(&reactor) {
      // What others sent meanwhile is reported when the runtime goes away with it.
      Tracepoint.endTurn(self, actions: 1)
      state.leave()
    } else {
      finish(answer, to: action, of: reactor)
    }
  }

  /// Calls `mutate` if that is the next thing to do, and answers what that answers: then the calling thread
  /// is the owner. Otherwise sends the action in the usual way, and answers nil.
  @inlinable
  func mutateNow<R: Reactor<Action, Mutation, State>>(_ action: Action, of reactor: R) -> Observable<
    Mutation
  >? {
    guard canMutateNow else {
      send(action, to: reactor)
      return nil
    }
    #if DEBUG
      let turn = beginTurn()
      defer { endTurn(turn) }
    #endif
    Tracepoint.beginTurn(self)
    TurnMark.enter()
    defer { TurnMark.leave() }
    if pipelineReference.use({ announce(action, $0) }) == false {
      Tracepoint.endTurn(self, actions: 1)
      finish(of: reactor)
      return nil
    }
    #if DEBUG
      checkThreadOfAction()
    #endif
    return reactor.mutate(action: action)
  }

  /// The rest of an action's way. The owner, who is not afterwards.
  @inlinable
  func finish<R: Reactor<Action, Mutation, State>>(
    _ answer: Observable<Mutation>, to action: Action, of reactor: R
  ) {
    #if DEBUG
      let turn = beginTurn()
      defer { endTurn(turn) }
    #endif
    TurnMark.enter()
    pipelineReference.use { apply(answer, to: action, of: reactor, $0) }
    TurnMark.leave()
    Tracepoint.endTurn(self, actions: 1)
    turnCounters.count(.immediate)
    finish(of: reactor)
  }

  /// Makes the calling thread the owner if the next thing to do is to call `mutate`; otherwise it is not the
  /// owner, or was before.
  @inlinable
  var canMutateNow: Bool {
    if loop != nil || state.isOwner || !detours.isDisjoint(with: .sidings) { return false }
    if DedicatedThread.stackIsLow || !state.tryEnter() { return false }
    if mailbox.isIdle, detours.isDisjoint(with: .sidings) { return true }
    state.leave()
    return false
  }
}
