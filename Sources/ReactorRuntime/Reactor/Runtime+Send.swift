import ReactorCore

/// What a sender does. Any thread.
extension RuntimeOn {
  @inlinable
  @inline(__always)
  func send<R: Reactor>(_ action: Action, to reactor: R)
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    if loop == nil, !DedicatedThread.stackIsLow {
      if state.tryEnter() {
        if mailbox.ring.isIdle {
          process(action, of: reactor)
          finish(of: reactor)
        } else {
          runTurns(after: action, of: reactor)
        }
        return
      }
    }
    if !state.isOwner, isOnItsWay(action, to: reactor) { return }
    sendOrReport(action, to: reactor)
  }

  /// Puts the action into the ring, if there is room, and sees to it that somebody processes it. Inline, so
  /// that it specialises with what is around it: this is all that a send to a loop pays for.
  @inlinable
  @inline(__always)
  func isOnItsWay<R: Reactor>(_ action: Action, to reactor: R) -> Bool
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    guard mailbox.ring.trySend(.action(action)).isAccepted else { return false }
    C.lightFence()
    if !state.wasBusy { runOrSchedule(reactor) }
    return true
  }

  /// Out of line, so that what is inlined at each send is only the way of an idle reactor.
  @inlinable
  @inline(never)
  func sendOrReport<R: Reactor>(_ action: Action, to reactor: R)
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    if let reason = deliver(.action(action), to: reactor, waits: true) {
      report(.actionNotDelivered(reason), action)
    }
  }

  @inlinable
  func trySend<R: Reactor>(_ action: Action, to reactor: R) throws(SendError)
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    // Found out otherwise only after the action was accepted.
    if let loop, loop.isClosed, !loop.isCurrent { throw .closed }
    if let reason = deliver(.action(action), to: reactor, waits: false) { throw reason }
  }

  /// Ends a turn of one action on the sender's thread. The owner, who is not afterwards.
  @inlinable
  @inline(__always)
  func finish<R: Reactor>(of reactor: R)
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    if mailbox.reentrant.isEmpty {
      state.leave()
      // Both ends of the ring are at hand, so this look is all that an undisturbed send pays for.
      if mailbox.ring.isEmpty || !reenters() { return }
    }
    runTurns(of: reactor)
  }

  /// Others were first: the action comes after theirs. The owner, who is not afterwards.
  @inlinable
  @inline(never)
  func runTurns<R: Reactor>(after action: Action, of reactor: R)
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    let isTaken = mailbox.appendAsOwner(.action(action))
    runTurns(of: reactor)
    // At the limit of the owner's queue: that much was waiting for a claim that is not yet published.
    if !isTaken { sendOrReport(action, to: reactor) }
  }

  /// Brings something on its way, or says why not.
  @inlinable
  @inline(__always)
  func deliver<R: Reactor>(_ work: Work<Action>, to reactor: R, waits: Bool) -> SendError?
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    if isRunHere { return deliverAsOwner(work, to: reactor) }
    var attempts = 0
    while true {
      switch mailbox.ring.trySend(work) {
      case .accepted:
        C.lightFence()
        if !state.wasBusy { runOrSchedule(reactor) }
        return nil
      case .closed:
        return .closed
      case .full:
        if !waits { return .full }
        // The owner without being the one that runs the turns: inside `initialState` on the sender's thread.
        if state.isOwner { return .deadlock }
        runOrSchedule(reactor)
        if let reason = waitForRoom(after: &attempts) { return reason }
      }
    }
  }

  /// Whether the calling thread is the one that runs this reactor's turns, so that it must not wait.
  @inlinable
  var isRunHere: Bool { loop.map { $0.isCurrent } ?? state.isOwner }

  /// What is sent from inside a turn: of this reactor, or of another on the same loop.
  @inlinable
  @inline(never)
  func deliverAsOwner<R: Reactor>(_ work: Work<Action>, to reactor: R) -> SendError?
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    if !mailbox.appendAsOwner(work) { return .reentrantOverflow }
    if !state.wasBusy { runOrSchedule(reactor) }
    return nil
  }

  /// Sees to it that somebody processes what was sent, if nobody is about to.
  @inlinable
  @inline(never)
  func runOrSchedule<R: Reactor>(_ reactor: R)
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    let hasStartedHere = !state.hasStarted && start(reactor)
    guard let loop else {
      if DedicatedThread.stackIsLow {
        if hasStartedHere { state.leave() }
        runElsewhere(reactor)
      } else if hasStartedHere || state.tryEnter() {
        runTurns(of: reactor)
      }
      return
    }
    if hasStartedHere { state.leave() }
    if state.trySchedule(), !loop.submit(Scheduled(self, of: reactor)) { discardAll() }
  }

  /// Turns of reactors that send to each other are nested on the stack of one thread. Before that is used up,
  /// another thread goes on, where the order is the same: that of the mailbox. A thread made for it, since
  /// those of a pool may all be waiting for this.
  @inlinable
  @inline(never)
  func runElsewhere<R: Reactor>(_ reactor: R)
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    _ = DedicatedThread(named: "reactor-turns") { reactor.runtime.runOrSchedule(reactor) }
  }

  /// Once, before the first action; true makes the caller the owner. The closure is made here, where the type
  /// of the reactor is known and the code specialises for it; a witness in a generic reactor's conformance
  /// would not.
  @inlinable
  @inline(never)
  func start<R: Reactor>(_ reactor: R) -> Bool
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    assert(
      reactor.runtime === self,
      """
      Problem: \(R.self).runtime is another object each time.
      Likely cause: it is a computed property.
      Remedy: store it: let runtime = Runtime<Action, Mutation, State>(on: …)
      """)
    let isFirst = state.tryStart {
      reactorType.value = type(of: reactor)
      #if DEBUG
        served.value = ObjectIdentifier(reactor)
      #endif
      return prepare(reactor)
    }
    guard isFirst else { return false }
    // Not retained: whoever runs a turn holds the reactor.
    if loop != nil { turnBody.value = { [unowned reactor] in reactor.runtime.turn(of: reactor) } }
    return true
  }
}
