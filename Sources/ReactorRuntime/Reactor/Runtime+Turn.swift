import ReactorCore
import Synchronization

/// Processing an action. The owner.
extension Runtime {
  /// Takes one action through mutate and reduce. The owner.
  @inlinable
  @inline(__always)
  func process<R: Reactor<Action, Mutation, State>>(_ action: Action, of reactor: R) {
    process(action, of: reactor, as: state.form)
  }

  /// The same, with the form of the state as a constant where the caller knows it. The owner. When it returns, a state with one
  /// place can be read: `OwnedState.release(as:afterTurns:)` relies on that.
  @inlinable
  @inline(__always)
  func process<R: Reactor<Action, Mutation, State>>(_ action: Action, of reactor: R, as form: StateForm) {
    #if DEBUG
      checkServes(reactor)
      let turn = beginTurn()
      defer { endTurn(turn) }
    #endif
    if _slowPath(!extraStages.isEmpty) { return processThroughStages(action, of: reactor) }
    #if DEBUG
      checkThreadOfAction()
    #endif
    if !passOn(action, of: R.self, { mutation in reduce(mutation, of: reactor, as: form) }) {
      let mutations = reactor.mutate(action: action)
      deliver(mutations, for: action, of: reactor, as: form)
    }
    state.endAction(as: form)
  }

  /// Applies what `mutate` has returned for an action that met no stage before it. The caller ends the action. The owner.
  @inlinable
  @inline(__always)
  func deliver<R: Reactor<Action, Mutation, State>>(
    _ mutations: Observable<Mutation>, for action: Action, of reactor: R, as form: StateForm
  ) {
    // It may have subscribed to a stream of the reactor. An action that is running when the reactor discards is still reduced.
    if _slowPath(!extraStages.subtracting(.discarding).isEmpty) {
      return deliverThroughStages(mutations, for: action, of: reactor)
    }
    mutations.deliver(
      to: { mutation in reduce(mutation, of: reactor, as: form) },
      orStream: { mutations in
        usePipeline(of: reactor) { subscribe(to: mutations, for: action, $0) }
      })
  }

  /// Calls `body` with the action itself if `mutate` is known to be the default one, which would only return it in a stream; returns
  /// whether it did. The optimizer does not remove the copy in that stream; for an action without references, that costs less than
  /// this check. The owner.
  @inlinable
  @inline(__always)
  func passOn<R: Reactor<Action, Mutation, State>>(
    _ action: Action, of _: R.Type, _ body: (Mutation) -> Void
  ) -> Bool {
    if _isPOD(Action.self) { return false }
    return R.withMutation(from: action) { mutation in
      guard hasDefaultMutate else { return false }
      body(mutation)
      return true
    }
  }

  /// Applies a mutation to the state. The owner.
  @inlinable
  @inline(__always)
  func reduce<R: Reactor<Action, Mutation, State>>(_ mutation: Mutation, of reactor: R) {
    reduce(mutation, of: reactor, as: state.form)
  }

  /// The same, with the form of the state as a constant where the caller knows it. The owner.
  @inlinable
  @inline(__always)
  func reduce<R: Reactor<Action, Mutation, State>>(_ mutation: Mutation, of reactor: R, as form: StateForm) {
    #if DEBUG
      beginReduce()
      defer { endReduce() }
    #endif
    if R.isDurable {
      reactor.willReduce(mutation)
      // Its state may have observers elsewhere, which are notified once the mutation is durable.
      TurnMark.beginReduce()
    }
    defer { if R.isDurable { TurnMark.endReduce() } }
    if R.reducesByValue {
      // The state before can be read meanwhile.
      state.replace { state in reactor.reduce(state: state, mutation: mutation) }
    } else if form == .replayed {
      reduceReplayed(mutation, of: reactor)
    } else {
      state.change(as: form) { state in reactor.reduce(into: &state, mutation: mutation) }
    }
  }

  /// The same if the state is replayed. Not inlined: `reduce` is, at each place that delivers mutations.
  @inlinable
  @inline(never)
  func reduceReplayed<R: Reactor<Action, Mutation, State>>(_ mutation: Mutation, of reactor: R) {
    #if DEBUG
      let verify: ((State, State) -> Void)? = { self.checkReplay($0, $1) }
    #else
      let verify: ((State, State) -> Void)? = nil
    #endif
    state.change(byReplaying: mutation, verify: verify) { state, mutation in
      reactor.reduce(into: &state, mutation: mutation)
    }
  }
}

/// Turns: processing what is in the mailbox. The owner.
extension Runtime {
  /// Runs turns until the mailbox is empty, or as many full ones as ``TurnBudget/usual`` allows. The owner; releases
  /// the ownership before it returns.
  @inlinable
  @inline(never)
  func runTurnsAndRelease<R: Reactor<Action, Mutation, State>>(of reactor: R) {
    runTurnsAndRelease(of: reactor, within: .usual)
  }

  /// The same, until the budget is spent. Then a thread made for it continues, so that nothing is left behind.
  @inlinable
  @inline(never)
  func runTurnsAndRelease<R: Reactor<Action, Mutation, State>>(of reactor: R, within budget: TurnBudget) {
    // The scopes that the calling thread is inside of have nothing to do with these turns.
    ThreadScope.leaveAll {
      var pacer = Pacer()
      var allowance = TurnAllowance(budget, turnLimit: turnLimit)
      repeat {
        while true {
          let processed = runTurnKeepingOwnership(of: reactor, upTo: turnLimit, before: allowance.deadline)
          if R.isDurable, holdTurnEndsOrGiveUpOwnership() { return }
          allowance.note(processed)
          if mailbox.turnEnds.isRequested {
            // Releases for that. But not while the owner's own actions wait, which come first in the order.
            if !mailbox.holdsOwn, mailbox.ownerQueue.isEmpty { break }
            runTurnEndsAsOwner()
          }
          if processed == 0 { break }
          // At the limit, releases for a moment, so that another sender can take over. But not while the owner's own
          // actions wait: they come first in the order.
          let mayRelease = processed >= turnLimit || allowance.isSpent
          if mayRelease, !mailbox.holdsOwn, mailbox.ownerQueue.isEmpty { break }
          // Other threads are sending: after a short wait their actions come in bursts.
          if processed < turnLimit { pacer.wait(afterReceiving: processed) }
        }
        releaseAndRunTurnEnds()
        if allowance.isSpent {
          if mailbox.isInboundEmptyAfterRelease || tryRunTurnsOnNewThread(reactor) { return }
          allowance.extend()
        }
      } while tryReacquire()
    }
  }

  /// Calls ``TurnObserving/turnEnded(_:)``, and hands over to the journal what the turn has recorded. The owner, at the end
  /// of a turn, when its state is shown.
  @usableFromInline
  @inline(never)
  func notifyTurnObserver() {
    extrasReference.use { extras in
      extras.turnHook?()
      extras.journal?.endTurn(mailbox.turnEnds)
    }
  }

  /// Releases the ownership and does what the turn has left to do at its end. The owner; it must check the mailbox again
  /// afterwards.
  @inlinable
  func releaseAndRunTurnEnds() {
    let ends = mailbox.turnEnds
    if !ends.isRequested { return state.release() }
    // Taken out first: another owner may come at once.
    let taken = ends.take()
    state.release()
    taken.run()
  }

  /// Shows the state, and does what the turn has left to do at its end, between two turns. The owner, which stays the
  /// owner: a loop, or a thread that cannot release. What runs may send to this reactor, as a job of a loop may.
  @inlinable
  @inline(never)
  func runTurnEndsAsOwner() {
    state.publish()
    let ends = mailbox.turnEnds.take()
    // What they make a stream emit is of the next turn: reduced here, it would not be shown before its own replies leave.
    pipelineReference.use { $0.progress.value.isBetweenTurns = true }
    ends.run()
    pipelineReference.use { $0.progress.value.isBetweenTurns = false }
  }

  /// Processes what is in the mailbox, up to the limit, and publishes the state; returns how many elements that were. The
  /// owner, which stays the owner.
  ///
  /// - Parameter deadline: No element but the first is begun after this ``MonotonicTime``. `.max` is never: reading the clock
  ///   after each element would take longer than most elements.
  @inlinable
  func runTurnKeepingOwnership<R: Reactor<Action, Mutation, State>>(
    of reactor: R, upTo limit: Int, before deadline: Int64 = .max
  ) -> Int {
    #if DEBUG
      let turn = beginTurn()
      defer { endTurn(turn) }
    #endif
    let outer = TurnMark.enter(mailbox.turnEnds)
    defer { TurnMark.leave(outer) }
    let connects = extraStages.contains(.unconnected) && connectsInTurn
    if connects { connect(reactor) }
    Tracepoint.beginTurn(self)
    beginTiming()
    var dropped = 0
    var processed = 0
    repeat {
      let share = deadline != .max ? 1 : R.isDurable ? min(limit - processed, Self.journalShare) : limit
      let count = mailbox.drain(
        upTo: share, dropsOldest: policy == .dropOldest, { process($0, of: reactor) },
        besideRing: { processBesideRing($0, of: reactor) }, orDrop: { drop($0, counting: &dropped) })
      processed += count
      if count < share { break }
    } while processed < limit && (deadline == .max || MonotonicTime.now < deadline)
      && !(R.isDurable && hasRecordedEnough())
    // After the drain, which withdraws the request to check. Relaxed: `sweepObservers` repeats it.
    let mustSweep = isSweepRequested.load(ordering: .relaxed)
    if mustSweep { sweepObservers() }
    endTiming(processed)
    Tracepoint.endTurn(self, actions: processed)
    if processed > 0 {
      state.publish()
      if mailbox.turnEnds.isObserved { notifyTurnObserver() }
      turnCounters.count(turnOf: processed - dropped)
    } else if connects {
      // A transform may have emitted mutations at once. A loop may keep the reactor for long before it releases it; and the journal must
      // not wait for the next action to write them.
      state.publish()
      if R.isDurable { notifyTurnObserver() }
    }
    // In each turn, since it may be the last one: an owner that has reached the limit releases without another turn.
    if mailbox.ring.lifecycle.isClosed { endIfDone() }
    // What an observer captured may send when it is released. So another turn must follow.
    return mustSweep ? max(1, processed) : processed
  }

  /// Processes one element of the mailbox. The owner.
  @inlinable
  @inline(__always)
  func process<R: Reactor<Action, Mutation, State>>(_ work: Work<Action>, of reactor: R) {
    switch work {
    case .action(let action): process(action, of: reactor)
    case .step(let step): step.run()
    }
  }

  /// The same, without the reactor's code at this place once more.
  @inlinable
  @inline(__always)
  func processBesideRing<R: Reactor<Action, Mutation, State>>(_ work: Work<Action>, of reactor: R) {
    switch work {
    case .action(let action): processAlone(action, of: reactor)
    case .step(let step): step.run()
    }
  }

  /// After a release: acquires again if something is ready. Returns whether the calling thread is the owner again.
  ///
  /// If this returns false, no action is forgotten; `rr_trampoline.h` documents the argument. It waits only briefly for
  /// a claim that is not published yet: after the heavy fence, its producer will find that nobody owns the reactor.
  @inlinable
  func tryReacquire() -> Bool {
    var attempts = 0
    while !mailbox.isInboundEmptyAfterRelease {
      guard state.tryAcquireAgain() else { return false }
      if mailbox.pollReady() { return true }
      let claimed = mailbox.ring.advanceToOldest()
      state.release()
      attempts += 1
      if attempts < 32 {
        CurrentCore.pause()
      } else if !CurrentCore.heavyFence() {
        DedicatedThread.yield()
      } else if claimed?.ring.isHeadPublished != true, !mailbox.ring.isEmpty {
        // The producer of the claim will run or schedule the reactor. If the ring is empty, there is no such producer,
        // and a closer may have relied on this owner: then it checks once more.
        return false
      }
    }
    return false
  }
}

/// What the thread of a loop calls.
extension Runtime {
  /// Makes the closure through which a loop reaches all reactors of this type. The loop retains the reactor while it calls
  /// the closure.
  @inlinable
  static func makeLoopHandler<R: Reactor<Action, Mutation, State>>(of _: R.Type) -> LoopHandler {
    { runtime, reactor, call in
      UncountedReference<Runtime>(runtime).use { runtime in
        if call == .turn {
          return UncountedReference<R>(reactor).use { runtime.runLoopTurnKeepingOwnership(of: $0) }
        }
        if R.isDurable, call == .leave,
          UncountedReference<R>(reactor).use({ runtime.holdTurnEndsOrGiveUpOwnership(onLoop: $0) })
        {
          return 1
        }
        if R.isDurable, call == .takeBack { return runtime.tryTakeBack() ? 1 : 0 }
        return runtime.handle(call)
      }
    }
  }

  /// Makes what is submitted to the loop. The thread that has scheduled the reactor.
  @inlinable
  func makeLoopReactor(_ reactor: any AnyObject & Sendable) -> LoopReactor {
    guard let handler = kindReference.use({ $0.loopHandler }) else {
      preconditionFailure("a reactor is scheduled before it has started")
    }
    return LoopReactor(ObjectIdentifier(self), of: reactor, handler)
  }

  @inlinable
  @inline(__always)
  func runLoopTurnKeepingOwnership<R: Reactor<Action, Mutation, State>>(of reactor: R) -> Int {
    if R.isDurable, isSuspendedOnLoop { return 0 }
    loop?.setRunning(ObjectIdentifier(self))
    let processed = runTurnKeepingOwnership(of: reactor, upTo: turnLimit)
    loop?.setRunning(nil)
    if R.isDurable { holdTurnEnds() }
    if mailbox.turnEnds.isRequested { runTurnEndsAsOwner() }
    return processed
  }

  /// Does what the loop's thread asks for, other than a turn.
  @inlinable
  func handle(_ call: LoopRequest) -> Int {
    switch call {
    case .prefetch:
      state.prefetch()
      mailbox.ring.senderRing.prefetch()
      mailbox.ownerQueue.prefetch()
    case .acquire:
      state.acquireScheduled()
      // Not where the reactor was started, on any thread: turns of others on this loop may be sending to it at that moment.
      if kindReference.use({ $0.isTurnObserving }) == true { mailbox.turnEnds.markObserved() }
    case .reschedule: state.reschedule()
    case .close: closeByLoop()
    case .leave: return tryLeaveLoop() ? 1 : 0
    case .count: return counters.waiting
    case .takeBack: return 0
    case .turn: preconditionFailure("a turn is run with the reactor")
    }
    return 0
  }

  /// Releases the ownership after a turn that did not reach its limit. Returns false if the calling thread stays the
  /// owner, since there is more to do.
  @inlinable
  func tryLeaveLoop() -> Bool {
    // Code that was notified of the reactor's end, or of a long turn, after the turn's last check of the mailbox may have
    // sent something.
    if !mailbox.ownerQueue.isEmpty, mailbox.isInboundEmpty { return false }
    state.release()
    return !tryReacquire()
  }
}

/// What all reactors of one type share: how reports name them, how a loop calls them, and what is found out once, because finding
/// it out costs more than all the rest of a reactor's start.
@usableFromInline
final class ReactorKind: ListedObject {
  let type: any AnyObject.Type
  @usableFromInline let loopHandler: LoopHandler
  @usableFromInline let isTurnObserving: Bool
  let isEndObserving: Bool
  /// Whether a reactor of this type has the default transforms, and so each of them. Relaxed: nothing else is read because of it.
  let hasDefaultTransforms = Atomic(false)
  /// Whether the reactors of this type have the default `mutate`, which sets this at its first call. Relaxed: nothing else depends on it.
  @usableFromInline let hasDefaultMutate = Atomic(false)
  @usableFromInline let earlier: ReactorKind?

  private init(_ type: any AnyObject.Type, _ loopHandler: @escaping LoopHandler, after earlier: ReactorKind?)
  {
    self.type = type
    self.loopHandler = loopHandler
    isTurnObserving = type is any TurnObserving.Type
    isEndObserving = type is any EndObserving.Type
    self.earlier = earlier
  }

  /// The kinds so far, the newest first: as many as the program has types of reactors. They are never removed.
  private static let newest = AtomicReference<ReactorKind>()

  /// Returns the kind of a type; makes it for the first reactor of that type. Any thread; lock-free; O(number of types).
  ///
  /// - Parameter loopHandler: The one of this type. It captures nothing, so one is as good as another.
  @usableFromInline
  static func of(
    _ type: any AnyObject.Type, _ loopHandler: @escaping LoopHandler
  ) -> UncountedReference<ReactorKind> {
    let kind = newest.first(where: { $0.type == type }, orAdd: { ReactorKind(type, loopHandler, after: $0) })
    guard let kind else { preconditionFailure("a kind was not made") }
    return kind
  }
}
