import ReactorCore

/// What a sender does. Any thread.
extension RuntimeOn {
  @inlinable
  @inline(__always)
  func send<R: Reactor>(_ action: Action, to reactor: R)
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    if loop == nil {
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
    guard mailbox.ring.trySend(action).isAccepted else { return false }
    C.lightFence()
    if !state.wasBusy { runOrSchedule(reactor) }
    return true
  }

  /// Out of line, so that what is inlined at each send is only the way of an idle reactor.
  @inlinable
  @inline(never)
  func sendOrReport<R: Reactor>(_ action: Action, to reactor: R)
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    if let reason = deliver(action, to: reactor, waits: true) { report(reason, of: R.self) }
  }

  @inlinable
  func trySend<R: Reactor>(_ action: Action, to reactor: R) throws(SendError)
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    // Found out otherwise only after the action was accepted.
    if let loop, loop.isClosed { throw .closed }
    if let reason = deliver(action, to: reactor, waits: false) { throw reason }
  }

  /// Ends a turn of one action on the sender's thread. The owner, who is not afterwards.
  @inlinable
  @inline(__always)
  func finish<R: Reactor>(of reactor: R)
  where R.Action == Action, R.Mutation == Mutation, R.State == State {
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
  where R.Action == Action, R.Mutation == Mutation, R.State == State {
    // Fails only at the limit; then that many of this reactor's own actions were waiting for a claim that
    // is not yet published.
    let isTaken = mailbox.appendAsOwner(action)
    runTurns(of: reactor)
    if !isTaken { report(.reentrantOverflow, of: R.self) }
  }

  /// Brings an action on its way, or says why not.
  @inlinable
  @inline(__always)
  func deliver<R: Reactor>(_ action: Action, to reactor: R, waits: Bool) -> SendError?
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    if isRunHere { return deliverAsOwner(action, to: reactor) }
    var attempts = 0
    while true {
      switch mailbox.ring.trySend(action) {
      case .accepted:
        C.lightFence()
        if !state.wasBusy { runOrSchedule(reactor) }
        return nil
      case .closed:
        return .closed
      case .full:
        if !waits { return .full }
        runOrSchedule(reactor)
        if let reason = waitForRoom(after: &attempts) { return reason }
      }
    }
  }

  /// Whether the calling thread is the one that runs this reactor's turns, so that it must not wait.
  @inlinable
  var isRunHere: Bool { loop.map { $0.isCurrent } ?? state.isOwner }

  /// An action that is sent from inside a turn: of this reactor, or of another on the same loop.
  @inlinable
  @inline(never)
  func deliverAsOwner<R: Reactor>(_ action: Action, to reactor: R) -> SendError?
  where R.Action == Action, R.Mutation == Mutation, R.State == State, R.Backing == C {
    if mailbox.ring.isClosed { return .closed }
    if !mailbox.appendAsOwner(action) { return .reentrantOverflow }
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
      if hasStartedHere || state.tryEnter() { runTurns(of: reactor) }
      return
    }
    if hasStartedHere { state.leave() }
    if state.trySchedule(), !loop.submit(Scheduled(self, of: reactor)) { discardAll(of: R.self) }
  }

  /// Once, before the first action; true makes the caller the owner. The closure is made here, where the type of the reactor is known and the
  /// code specialises for it; a witness in a generic reactor's conformance would not.
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
    guard state.tryStart(with: { reactor.initialState }) else { return false }
    reactorType.value = R.self
    #if DEBUG
      served.value = ObjectIdentifier(reactor)
    #endif
    // Not retained: whoever runs a turn holds the reactor.
    if loop != nil { turnBody.value = { [unowned reactor] in reactor.runtime.turn(of: reactor) } }
    return true
  }

  /// The loop is closed, so nobody will process what is inside. Whoever scheduled.
  @usableFromInline
  func discardAll(of reactor: any AnyObject.Type) {
    state.begin()
    mailbox.ring.close()
    repeat {
      // What the loop's own thread sent is its own to touch, or, once that has ended, the deinit's.
      let discarded = isRunHere ? mailbox.removeAll() : mailbox.ring.drain { _ in }
      for _ in 0..<discarded { report(.closed, of: reactor) }
      state.leave()
    } while reenters()
    mailbox.room.notify()
  }

  /// Waits a little, or until there is room again; says why not if that would never come.
  @usableFromInline
  @inline(never)
  func waitForRoom(after attempts: inout Int) -> SendError? {
    attempts += 1
    if attempts <= 8 {
      C.pause(times: 16)
      return nil
    }
    if attempts <= 512 {
      DedicatedThread.yield()
      return nil
    }
    attempts = 0
    // Not retained, which would cost each wait an allocation more: the sender holds the reactor.
    let wait = WaitGraph.Wait(
      thread: C.threadToken, emptier: { [unowned self] in emptier }, isOver: { [unowned self] in canGoOn })
    guard WaitGraph.enter(wait) else { return .deadlock }
    defer { WaitGraph.leave(wait.thread) }
    _ = mailbox.room.wait { canGoOn }
    return nil
  }

  /// The token of the thread that makes room.
  private var emptier: UInt64 { loop.map { $0.token.load(ordering: .relaxed) } ?? state.wasOwner }

  /// Whether a sender that found the ring full should try again.
  private var canGoOn: Bool { mailbox.hasRoom || !state.wasBusy || mailbox.ring.isClosed }
}
