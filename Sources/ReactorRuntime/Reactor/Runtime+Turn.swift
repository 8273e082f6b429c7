import ReactorCore
import Synchronization

/// What the owner does: turns.
extension Runtime {
  /// One action through mutate and reduce. The owner.
  @inlinable
  @inline(__always)
  func process<R: Reactor<Action, Mutation, State>>(_ action: Action, of reactor: R) {
    #if DEBUG
      checkServes(reactor)
      let turn = beginTurn()
      defer { endTurn(turn) }
    #endif
    if !slowPathReasons.isEmpty { return processOnSlowPath(action, of: reactor) }
    #if DEBUG
      checkThreadOfAction()
    #endif
    reactor.mutate(action: action).deliver(
      to: { mutation in reduce(mutation, of: reactor) },
      orStream: { mutations in start(mutations, for: action, pipeline(of: reactor)) })
  }

  /// One thing from the mailbox. The owner.
  @inlinable
  @inline(__always)
  func process<R: Reactor<Action, Mutation, State>>(_ work: Work<Action>, of reactor: R) {
    switch work {
    case .action(let action): process(action, of: reactor)
    case .step(let step): run(step, of: reactor)
    }
  }

  /// Something other than an action. The owner, in a turn.
  @inlinable
  func run<R: Reactor<Action, Mutation, State>>(_ step: Step, of reactor: R) {
    // The stub may have been disabled after this turn began. An observer that came before the transforms are connected
    // would be told the first state now, and once more when they are.
    if slowPathReasons.contains(.unconnected), !slowPathReasons.contains(.stubbed) { connect(reactor) }
    step.run()
  }

  /// Applies a mutation to the state. The owner.
  @inlinable
  @inline(__always)
  func reduce<R: Reactor<Action, Mutation, State>>(_ mutation: Mutation, of reactor: R) {
    #if DEBUG
      beginReduce()
      defer { endReduce() }
    #endif
    if reducesByValue.load(ordering: .relaxed) {
      state.replace { state in reactor.reduce(state: state, mutation: mutation) }
    } else {
      state.change { state in reactor.reduce(into: &state, mutation: mutation) }
    }
  }

  /// Processes what is there, up to the limit, and shows the result to readers; answers how many actions
  /// that were. The owner, who stays the owner.
  @inlinable
  func turn<R: Reactor<Action, Mutation, State>>(of reactor: R) -> Int {
    #if DEBUG
      let turn = beginTurn()
      defer { endTurn(turn) }
    #endif
    TurnMark.enter()
    defer { TurnMark.leave() }
    if slowPathReasons.contains(.unconnected), !slowPathReasons.contains(.stubbed) { connect(reactor) }
    Tracepoint.beginTurn(self)
    var dropped = 0
    let processed =
      policy == .dropOldest
      ? mailbox.drain(upTo: turnLimit, { process($0, of: reactor) }, orDrop: { drop($0, &dropped) })
      : mailbox.drain(upTo: turnLimit) { process($0, of: reactor) }
    Tracepoint.endTurn(self, actions: processed)
    if processed > 0 {
      state.publish()
      turnCounters.count(turnOf: processed - dropped)
      mailbox.notifyRoom()
    }
    // Now, for it may be the last one: who has reached the limit leaves, if there is nothing more.
    if mailbox.ring.lifecycle.isClosed { tryEnd() }
    return processed
  }

  /// Turns until nothing is left to do, then leaves. The owner, who is not afterwards.
  @inlinable
  @inline(never)
  func runTurns<R: Reactor<Action, Mutation, State>>(of reactor: R) {
    // What the calling thread is in the middle of elsewhere does not concern the turns.
    ThreadScope.outside {
      var pacer = Pacer()
      repeat {
        while true {
          let processed = turn(of: reactor)
          if processed == 0 { break }
          // At the limit, leave for a moment, so that who is just looking takes over; but not while the
          // owner's own actions wait, which come first in the order.
          if processed >= turnLimit, mailbox.reentrant.isEmpty { break }
          // Others are sending: a little patience here lets their actions come in bursts.
          if processed < turnLimit { pacer.wait(afterReceiving: processed) }
        }
        state.release()
      } while tryReacquire()
    }
  }

  /// After leaving: whether something is ready and the calling thread is the owner again.
  ///
  /// Nothing is forgotten when this answers false; the argument stands in `rr_trampoline.h`. A claim that is
  /// not yet published is waited for only briefly: then it is its producer who will find nobody here.
  @inlinable
  func tryReacquire() -> Bool {
    var looks = 0
    while !mailbox.isEmpty {
      guard state.tryAcquire() else { return false }
      if mailbox.isReady { return true }
      let claimed = mailbox.ring.oldest
      state.release()
      looks += 1
      if looks < 32 {
        CurrentCore.pause()
      } else if !CurrentCore.heavyFence() {
        DedicatedThread.yield()
      } else if claimed?.ring.wasReady != true, !mailbox.ring.isEmpty {
        // Its producer will come. If nothing is claimed any more, nobody will: then who closes may have relied on
        // this owner.
        return false
      }
    }
    return false
  }
}

/// What the thread of a loop calls.
extension Runtime {
  /// The only way from a loop to the reactor. Not retained: whoever calls it holds the reactor.
  @inlinable
  func makeServe<R: Reactor<Action, Mutation, State>>(_ reactor: R) -> @Sendable (LoopCall) -> Int {
    let (runtime, reactor) = (UncountedReference(self), UncountedReference(reactor))
    return { call in
      runtime.use { runtime in
        if call == .turn { return reactor.use { runtime.turnOnLoop(of: $0) } }
        return runtime.serve(call)
      }
    }
  }

  /// Whoever took the schedule.
  @inlinable
  func scheduled(_ reactor: any AnyObject & Sendable) -> Scheduled {
    Scheduled(ObjectIdentifier(self), of: reactor, binding.value.serve)
  }

  @inlinable
  @inline(__always)
  func turnOnLoop<R: Reactor<Action, Mutation, State>>(of reactor: R) -> Int {
    loop?.setRunning(ObjectIdentifier(self))
    defer { loop?.setRunning(nil) }
    return turn(of: reactor)
  }

  @inlinable
  func serve(_ call: LoopCall) -> Int {
    switch call {
    case .begin: state.acquireScheduled()
    case .suspend: state.reschedule()
    case .close: closeByLoop()
    case .leave: return leaveLoop() ? 1 : 0
    case .count: return counters.waiting
    case .turn: preconditionFailure("a turn is run with the reactor")
    }
    return 0
  }

  /// After a turn that was not cut short. The owner, who is not afterwards if it answers true.
  @inlinable
  func leaveLoop() -> Bool {
    // Who was told of an end, or of a long turn, after the turn's last look may have sent.
    if !mailbox.reentrant.isEmpty, mailbox.isEmpty { return false }
    state.release()
    return !tryReacquire()
  }
}
