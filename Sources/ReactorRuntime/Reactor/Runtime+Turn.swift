import ReactorCore
import Synchronization

/// What the owner does: turns.
extension RuntimeOn {
  /// One action through mutate and reduce. The owner.
  @inlinable
  @inline(__always)
  func process<R: Reactor>(_ action: Action, of reactor: R)
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    #if DEBUG
      checkServes(reactor)
    #endif
    if !detours.isEmpty { return processOnDetour(action, of: reactor) }
    reactor.mutate(action: action).deliver(
      to: { mutation in reduce(mutation, of: reactor) },
      orStream: { mutations in start(mutations, for: action, pipeline(of: reactor)) })
  }

  /// One thing from the mailbox. The owner.
  @inlinable
  @inline(__always)
  func process<R: Reactor>(_ work: Work<Action>, of reactor: R)
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    switch work {
    case .action(let action): process(action, of: reactor)
    case .step(let step): step.run()
    }
  }

  /// Applies a mutation to the state. The owner.
  @inlinable
  @inline(__always)
  func reduce<R: Reactor>(_ mutation: Mutation, of reactor: R)
  where R.Action == Action, R.Mutation == Mutation, R.State == State {
    if reducesByValue.load(ordering: .relaxed) {
      state.replace { state in reactor.reduce(state: state, mutation: mutation) }
    } else {
      state.change { state in reactor.reduce(into: &state, mutation: mutation) }
    }
  }

  /// Processes what is there, up to the limit, and shows the result to readers; answers how many actions
  /// that were. The owner, who stays the owner.
  @inlinable
  func turn<R: Reactor>(of reactor: R) -> Int
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    if detours.contains(.unconnected), !detours.contains(.stubbed) { connect(reactor) }
    let processed = mailbox.drain(upTo: turnLimit) { work in process(work, of: reactor) }
    if processed > 0 {
      state.publish()
      mailbox.notifyRoom()
    }
    return processed
  }

  /// Turns until nothing is left to do, then leaves. The owner, who is not afterwards.
  @inlinable
  @inline(never)
  func runTurns<R: Reactor>(of reactor: R)
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    // What the calling thread is in the middle of elsewhere does not concern the turns.
    ThreadScope.outside {
      var pacer = Pacer<C>()
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
        state.leave()
      } while reenters()
    }
  }

  /// After leaving: whether something is ready and the calling thread is the owner again.
  ///
  /// Nothing is forgotten when this answers false; the argument stands in `rr_trampoline.h`. A claim that is
  /// not yet published is waited for only briefly: then it is its producer who will find nobody here.
  @inlinable
  func reenters() -> Bool {
    var looks = 0
    while !mailbox.ring.isEmpty {
      guard state.tryEnter() else { return false }
      if mailbox.ring.isReady { return true }
      state.leave()
      looks += 1
      if looks < 32 {
        C.pause()
      } else if !C.heavyFence() {
        DedicatedThread.yield()
      } else if !mailbox.ring.wasReady {
        return false
      }
    }
    return false
  }
}

/// What the thread of a loop calls.
extension RuntimeOn: LoopHosted {
  @usableFromInline
  func beginOnLoop() { state.begin() }

  @usableFromInline
  func suspendOnLoop() { state.reschedule() }

  @usableFromInline
  func turnOnLoop() -> Int {
    loop?.setRunning(self)
    defer { loop?.setRunning(nil) }
    return turnBody.value()
  }

  @usableFromInline
  func closeOnLoop() {
    mailbox.ring.close()
    mailbox.room.notify()
  }

  @usableFromInline
  func leaveLoop() -> Bool {
    state.leave()
    return !reenters()
  }
}
