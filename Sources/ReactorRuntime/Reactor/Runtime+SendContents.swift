import ReactorCore

extension Reactor {
  /// Sends several actions, in their order. Any thread. The result is that of ``send(_:)`` for each of them, but they cost less:
  /// an idle reactor on placement ``Placement/caller`` processes up to 1024 in one turn, and a mailbox takes up to 256 with one
  /// claim, if it has room.
  ///
  /// The actions of a run come one after the other, with nothing of other senders in between. Between two runs something else
  /// may come. What an action of a run makes the reactor send to itself is processed after the run: so the reactor's
  /// `reentrantCapacity` is for all of that together. If an action of a run closes the reactor, the rest of the run is processed
  /// nevertheless; with ``Closing/discard``, it is reported.
  ///
  /// If there is no room, the ``OverflowPolicy`` decides about each action by itself: with ``OverflowPolicy/fail`` or
  /// ``OverflowPolicy/dropNewest``, the actions that fit are accepted, and each of the others is reported.
  ///
  /// - Parameter actions: The actions. Anything but an array is copied to one first.
  @inlinable
  public func send(contentsOf actions: some Sequence<Action>) {
    runtime.send(contentsOf: Array(actions), to: self)
  }
}

extension Reactor {
  /// Sends as many of several actions as there is room for, in their order, without waiting and whatever the ``OverflowPolicy`` says.
  /// Any thread; on the reactor's own loop, there is room for as many as its `reentrantCapacity` says. They cost as little as those of
  /// ``send(contentsOf:)``, and come in runs as those do.
  ///
  /// ```swift
  /// requests.removeFirst(shard.trySend(contentsOf: requests.map { .run($0) }))
  /// ```
  ///
  /// Nothing is reported about the actions that were not accepted. ``trySend(_:)`` of the first of them throws the reason, unless there
  /// is room meanwhile.
  ///
  /// - Parameter actions: The actions. Anything but an array is copied to one first.
  /// - Returns: How many were accepted: that many from the first one on.
  @inlinable
  public func trySend(contentsOf actions: some Collection<Action>) -> Int {
    runtime.trySend(contentsOf: Array(actions), to: self)
  }
}

/// Sending several actions. Any thread.
extension Runtime {
  @inlinable
  @inline(never)
  func send<R: Reactor<Action, Mutation, State>>(contentsOf actions: [Action], to reactor: R) {
    _ = sendRuns(of: actions, to: reactor) { action in
      sendOrReport(action, to: reactor)
      return true
    }
  }

  /// - Returns: How many were accepted.
  @inlinable
  @inline(never)
  func trySend<R: Reactor<Action, Mutation, State>>(contentsOf actions: [Action], to reactor: R) -> Int {
    // As where one is tried: otherwise the mailbox might accept what nobody processes.
    if withLoop({ $0.isClosed && !$0.runsTurnsHere }) == true { return 0 }
    return sendRuns(of: actions, to: reactor) { enqueue(.action($0), to: reactor, .never) == nil }
  }

  /// Sends actions in runs, and where that is not possible one of them, until `sendOne` returns false. Returns how many were sent.
  @inlinable
  @inline(__always)
  func sendRuns<R: Reactor<Action, Mutation, State>>(
    of actions: [Action], to reactor: R, _ sendOne: (Action) -> Bool
  ) -> Int {
    var next = 0
    while next < actions.count {
      if loop == nil, !ThreadStack.isLow, state.tryAcquire() {
        if mailbox.isInboundIdle {
          next = runTurnAndRelease(with: actions, from: next, of: reactor)
          continue
        }
        runTurnsAndRelease(of: reactor)
      }
      let sent = isOwnerInTurn ? 0 : tryEnqueue(actions, from: next)
      if sent > 0 {
        next += sent
        ensureProcessing(by: reactor, within: .usual)
      } else {
        // The mailbox is full, must grow, or is not used; or the reactor was never started.
        if !sendOne(actions[next]) { break }
        next += 1
      }
    }
    return next
  }

  /// Runs a turn with the actions from an index on, up to the limit, on the sender's thread; if the reactor is durable, until it
  /// has recorded enough. The owner; releases the ownership before it returns.
  ///
  /// - Returns: The index after the last one.
  @inlinable
  func runTurnAndRelease<R: Reactor<Action, Mutation, State>>(
    with actions: [Action], from first: Int, of reactor: R
  ) -> Int {
    let limit = min(actions.count, first + turnLimit)
    let ends = mailbox.turnEnds
    let outer = enterTurn(with: ends)
    var next = first
    repeat {
      let end = R.isDurable ? min(limit, next + Self.journalShare) : limit
      leaveScopes { for index in next..<end { process(actions[index], of: reactor) } }
      next = end
    } while next < limit && !hasRecordedEnough()
    leaveTurn(outer, after: next - first)
    turnCounters.count(turnOf: next - first)
    releaseOrContinue(of: reactor, as: state.form, after: ends, turns: turnCounters.wasTurns)
    return next
  }

  /// Puts the actions from an index on into the ring, with one claim: as many as it has room for. Returns how many.
  @inlinable
  func tryEnqueue(_ actions: [Action], from first: Int) -> Int {
    // A claim that is large, and is not published for long, keeps those behind it waiting.
    mailbox.ring.senderRing.trySend(upTo: min(actions.count - first, 256)) {
      Work.action(actions[first + $0])
    }
  }
}
