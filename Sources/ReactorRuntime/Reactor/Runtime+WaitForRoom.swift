import ReactorCore

/// What a sender does that found the mailbox full.
extension Runtime {
  @usableFromInline
  enum Place: Sendable {
    /// Kept beside the ring.
    case found
    /// There is room again.
    case inTheRing
    case wait
    case none(SendError)
  }

  /// What to do with something for which there was no room.
  @usableFromInline
  @inline(never)
  func findPlace(for work: Work<Action>, _ patience: Patience) -> Place {
    guard let overflow = makeOverflow() else { return .none(.outOfMemory) }
    switch patience {
    case .none: return .none(.full)
    case .asThePolicySays:
      if case .action(let action) = work, policy != .block { return overrule(action, in: overflow) }
    case .until, .unlimited: break
    }
    // A turn must not wait: somebody may wait for it.
    if !TurnMark.isSet { return .wait }
    #if DEBUG
      checkRoom()
    #endif
    return place(overflow.spill(work, besides: mailbox.ring, limit: mailbox.reentrant.limit))
  }

  private func overrule(_ action: Action, in overflow: Overflow<Action>) -> Place {
    switch policy {
    case .block: .wait
    case .fail: .none(.full)
    case .dropNewest: .none(.dropped)
    case .dropOldest: place(overflow.push(action, besides: mailbox.ring, drop: { refuse($0, .dropped) }))
    }
  }

  private func place(_ spill: Overflow<Action>.Spill) -> Place {
    switch spill {
    case .taken: .found
    case .ringHasRoom: .inTheRing
    case .overLimit: .none(.reentrantOverflow)
    }
  }

  /// Nil if there is no memory.
  @usableFromInline
  func makeOverflow() -> Overflow<Action>? {
    if let overflow = mailbox.overflow.use({ $0 }) { return overflow }
    guard let overflow = try? Overflow<Action>() else { return nil }
    return mailbox.overflow.setIfNil(overflow)
  }

  /// Reports an action that a newer one has pushed out. The owner.
  @usableFromInline
  @inline(never)
  func drop(_ action: Action, _ count: inout Int) {
    count += 1
    refuse(action, .dropped)
  }

  /// Reports an action that was not accepted. Any thread.
  @usableFromInline
  func refuse(_ action: Action, _ reason: SendError) {
    if reason == .dropped { mailbox.overflow.use { _ = $0.dropped.add(1, ordering: .relaxed) } }
    report(.actionNotDelivered(reason), action)
  }

  /// Waits a little, or until there is room again; says why not if that would never come, or takes too long.
  @usableFromInline
  @inline(never)
  func waitForRoom(after attempts: inout Int, _ patience: Patience) -> SendError? {
    var timeout: Int64?
    if case .until(let deadline) = patience {
      let left = ContinuousClock.now.duration(to: deadline).nanoseconds
      if left <= 0 { return .timedOut }
      timeout = left
    }
    attempts += 1
    if attempts <= 8 {
      CurrentCore.pause(times: 16)
      return nil
    }
    // The caller may be the one who is to run the loop's rounds, between two of them.
    if let roundHere = loop?.roundHere, roundHere() { return nil }
    if attempts <= 512 {
      DedicatedThread.yield()
      return nil
    }
    attempts = 0
    guard let overflow = makeOverflow() else { return .outOfMemory }
    // Not retained, which would cost each wait an allocation more: the sender holds the reactor.
    let wait = WaitGraph.Wait(
      thread: CurrentCore.threadToken, emptier: { [unowned self] in emptier },
      isOver: { [unowned self] in canGoOn },
      wake: { [unowned overflow] in overflow.notifyOutOfTurn() })
    guard WaitGraph.enter(wait) else { return .deadlock }
    defer { WaitGraph.leave(wait.thread) }
    // One sleep at most: others went on because this wait was over, so it must be looked at anew.
    var looks = 0
    _ = overflow.room.wait(timeoutNanoseconds: timeout) {
      looks += 1
      return looks > 2 || canGoOn
    }
    return nil
  }

  /// The token of the thread that makes room.
  private var emptier: UInt64 { loop?.emptier ?? state.wasOwner }

  /// Whether a sender that found the ring full should try again.
  @usableFromInline
  var canGoOn: Bool { mailbox.hasRoom || !state.wasBusy || mailbox.ring.isClosed }
}
