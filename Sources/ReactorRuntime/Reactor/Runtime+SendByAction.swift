import ReactorCore

/// Sending through a weak reference to the reactor, as ``Reactor/action`` does.
extension WeakReference {
  /// Sends an action as ``Reactor/send(_:)``, unless the reactor is gone. If the reactor goes away inside its own
  /// `mutate`, it reduces nothing of what that returns. A durable reactor does not go away there: its journal records that first.
  @inlinable
  @inline(never)
  func send(_ action: Object.Action)
  where Object: Reactor, Part == Runtime<Object.Action, Object.Mutation, Object.State> {
    var reactor = object
    guard let runtime = reactor.map({ part(of: $0) }) else { return }
    if _fastPath(ThreadScope.hasNothingToLeave) {
      runtime.send(action, through: &reactor, of: self)
    } else {
      // As wherever an action is processed: see ``Runtime/leaveScopes(unless:_:)``.
      ThreadScope.leaveAll { runtime.send(action, through: &reactor, of: self) }
    }
  }
}

extension Runtime {
  /// - Parameters:
  ///   - reactor: The caller's own reference, which may be the last one.
  ///   - weakly: Where the caller has that from.
  @inlinable
  func send<R: Reactor<Action, Mutation, State>>(
    _ action: Action, through reactor: inout R?, of weakly: WeakReactor<R>
  ) {
    // No other variable may hold the reactor here: that would be one more reference.
    guard let mutations = acquireAndMutateOrSend(action, of: reactor.unsafelyUnwrapped) else { return }
    // A durable reactor stays for its records, or the ends of this turn would tell of what nobody has recorded.
    if !R.isDurable, isKnownUniquelyReferenced(&reactor) {
      finishTurnAndRelease(with: mutations, for: action, droppingLast: &reactor, of: weakly)
    } else {
      finishTurnAndRelease(with: mutations, for: action, of: reactor.unsafelyUnwrapped)
    }
  }

  /// Ends the turn of an action whose `mutate` seems to have dropped all other references to the reactor. The owner;
  /// releases the ownership before it returns.
  ///
  /// It only seems so: until this thread drops its own reference, another thread can make a strong one of a weak one,
  /// and send, and then rely on this owner. So this drops it, and then finds out whether the reactor still exists. It
  /// releases the ownership only afterwards: a thread that found the reactor idle would overtake these mutations.
  @inlinable
  @inline(never)
  func finishTurnAndRelease<R: Reactor<Action, Mutation, State>>(
    with mutations: Observable<Mutation>, for action: Action, droppingLast reactor: inout R?,
    of weakly: WeakReactor<R>
  ) {
    reactor = nil
    reactor = weakly.object
    if let reactor { return finishTurnAndRelease(with: mutations, for: action, of: reactor) }
    Tracepoint.endTurn(self, actions: 1)
    releaseForEver()
  }

  /// Releases the ownership of a reactor that is gone. The runtime goes away, too, and then reports what others have sent
  /// meanwhile. The owner.
  @usableFromInline
  func releaseForEver() {
    releaseAndRunTurnEnds()
    // The closures that wait for room retain the runtime, and nobody will make room.
    mailbox.overflow.use { $0.waiters.resumeAll() }
  }

  /// Calls `mutate` if nothing must come before, and returns its result: then the calling thread is the owner. The result
  /// is empty if an observer of `action` has closed the reactor. Otherwise sends the action in the usual way, and returns nil.
  @inlinable
  func acquireAndMutateOrSend<R: Reactor<Action, Mutation, State>>(_ action: Action, of reactor: R)
    -> Observable<Mutation>?
  {
    guard loop == nil, !state.isOwner, extraStages.isDisjoint(with: .beforeMutate), !ThreadStack.isLow,
      state.tryAcquire()
    else {
      send(action, to: reactor)
      return nil
    }
    guard mailbox.isInboundIdle, extraStages.isDisjoint(with: .beforeMutate) else {
      // Not released first: another thread may already rely on this owner.
      runTurnsAndRelease(appending: action, of: reactor)
      return nil
    }
    #if DEBUG
      let turn = beginTurn()
      defer { endTurn(turn) }
    #endif
    let outer = enterTurn(with: mailbox.turnEnds)
    if pipelineReference.use({ tryAnnounce(action, $0) }) == false {
      TurnMark.leave(outer)
      return .empty()
    }
    #if DEBUG
      checkThreadOfAction()
    #endif
    let mutations = reactor.mutate(action: action)
    TurnMark.leave(outer)
    return mutations
  }

  /// Processes what `mutate` has returned for an action, and ends the turn. The owner; releases the ownership before it
  /// returns.
  @inlinable
  func finishTurnAndRelease<R: Reactor<Action, Mutation, State>>(
    with mutations: Observable<Mutation>, for action: Action, of reactor: R
  ) {
    #if DEBUG
      let turn = beginTurn()
      defer { endTurn(turn) }
    #endif
    let outer = TurnMark.enter(mailbox.turnEnds)
    pipelineReference.use { deliver(mutations, for: action, of: reactor, $0) }
    state.endAction()
    leaveTurn(outer, after: 1)
    turnCounters.countImmediate()
    releaseOrContinue(
      of: reactor, as: state.form, after: mailbox.turnEnds, turns: turnCounters.wasImmediate)
  }
}
