import ReactorCore
import Synchronization

/// How reactors with keys end.
extension KeyedReactors {
  // MARK: Passivation

  /// Ends the reactors that were not used for that long and are not in use, and keeps their states by `onPassivate`. Any
  /// thread.
  ///
  /// Reactors on ``Placement/caller`` have usually ended when this returns, those on a loop end there. Uses are noted with a resolution
  /// of about 8 ms. The streams of a passivated reactor are disposed of, as by ``Reactor/close(_:)``.
  ///
  /// - Returns: How many it has begun to end.
  /// - Complexity: O(n). A mutex is held while at most 256 slots of a table are checked.
  @inlinable
  @discardableResult
  public func passivate(idleFor duration: Duration) -> Int {
    passivate(idleFor: duration, shards: shards.indices)
  }

  /// Ends the reactor of a key, unless it is in use, and keeps its state by `onPassivate`. Any thread.
  ///
  /// - Returns: False if there is no reactor, or it is in use.
  @inlinable
  @discardableResult
  public func passivate(_ key: Key) -> Bool {
    let reactor = withShard(hash(of: key)) { shard, hash -> R? in
      let index = shard.position(of: key, hash)
      return shard.slots[index]?.isUnused() == true ? shard.beginEnding(at: index) : nil
    }
    guard let reactor else { return false }
    end(reactor, of: key, by: .drain)
    return true
  }

  /// Passivates reactors by a timer of a loop, until the returned `Disposable` is disposed of, the collection goes away or the
  /// loop is shut down. Any thread.
  ///
  /// A reactor ends when it was not used for `duration`, or up to a quarter more, but at least 16 ms; and later by what `onPassivate`
  /// takes. Each time the timer is due it checks a sixteenth of the keys, and runs `onPassivate` of those on ``Placement/caller``: on
  /// the loop.
  ///
  /// - Throws: ``LoopError``, as `Loop.schedule(after:_:)`. If the loop is full later, it is tried again after 100 ms.
  public func passivate(idleFor duration: Duration, on loop: Loop) throws(LoopError) -> any Disposable {
    let timer = SerialDisposable()
    try continueSweep(0, idleFor: duration, on: loop, timer)
    return timer
  }

  /// Schedules the sweep of a part on the loop. Elsewhere, its timer could fire, and be replaced, before it is stored: then the next one
  /// would be disposed of in its place. Any thread.
  private func continueSweep(
    _ part: Int, idleFor duration: Duration, on loop: Loop, _ timer: SerialDisposable
  ) throws(LoopError) {
    try loop.execute { [weak self, weak loop] in
      guard let self, let loop, !timer.isDisposed else { return }
      scheduleSweep(part, idleFor: duration, on: loop, timer)
    }
  }

  /// On the loop.
  private func scheduleSweep(
    _ part: Int, idleFor duration: Duration, on loop: Loop, _ timer: SerialDisposable
  ) {
    let parts = 16
    let interval = max(duration / (4 * parts), .milliseconds(1))
    do throws(LoopError) {
      // The timer must not keep the loop, which keeps the timer.
      timer.disposable = try loop.schedule(after: interval) { [weak self, weak loop] in
        guard let self, let loop, !timer.isDisposed else { return }
        let size = shards.count / parts
        passivate(idleFor: duration, shards: part * size..<(part + 1) * size)
        scheduleSweep((part + 1) % parts, idleFor: duration, on: loop, timer)
      }
    } catch .full {
      scheduleSweepLater(part, idleFor: duration, on: loop, timer)
    } catch {}
  }

  /// Tries it again when the loop has no room. Any thread.
  private func scheduleSweepLater(
    _ part: Int, idleFor duration: Duration, on loop: Loop, _ timer: SerialDisposable
  ) {
    _ = Schedulers.timing.schedule(after: .milliseconds(100)) { [weak self, weak loop] in
      guard let self, let loop, !timer.isDisposed else { return }
      do throws(LoopError) {
        try continueSweep(part, idleFor: duration, on: loop, timer)
      } catch .full {
        scheduleSweepLater(part, idleFor: duration, on: loop, timer)
      } catch {}
    }
  }

  @inlinable
  @discardableResult
  func passivate(idleFor duration: Duration, shards range: Range<Int>) -> Int {
    let now = tick
    // Rounded up, so that none ends too early.
    let nanoseconds = min(max(0, duration.nanoseconds), .max - (1 << 22))
    let idle = Int32(clamping: (nanoseconds + (1 << 22) - 1) >> 22)
    return shards[range].reduce(0) { $0 + passivate(idleFor: idle, at: now, in: $1) }
  }

  /// Looks at all keys of a shard again until none ends: each reactor that has ended may move other keys to slots that were
  /// looked at. But not again once as many have ended as there were at first: `onPassivate` may use the same keys again.
  @inlinable
  func passivate(idleFor idle: Int32, at now: UInt32, in shard: SystemMutex<Shard>) -> Int {
    let most = shard.withLock { $0.count }
    var (count, before) = (0, -1)
    while count > before, count < most {
      before = count
      var index = 0
      slots: while true {
        switch shard.withLock({ $0.beginEnding(idleFor: idle, at: now, from: &index, slots: 256) }) {
        case .key(let key, let reactor):
          end(reactor, of: key, by: .drain)
          count += 1
        case .none: continue
        case .end: break slots
        }
      }
    }
    return count
  }

  /// Passivates a reactor, but not that of `key`, if there are more than the limit; and a second one if there still
  /// are, so that their number comes down again after many were in use. While all are in use, it searches for each sixteenth new key only:
  /// a search takes longer than to make a reactor.
  @inlinable
  func passivateAboveLimit(besides key: Key) {
    for _ in 0..<2 where remaining.load(ordering: .relaxed) - 1 - ending.load(ordering: .relaxed) > limit {
      if keysToSkip.load(ordering: .relaxed) > 0 {
        keysToSkip.wrappingSubtract(1, ordering: .relaxed)
        return
      }
      if !passivateLeastRecentlyUsed(besides: key) { return }
    }
  }

  /// Passivates about the least recently used key, unless all that it looks at are in use.
  ///
  /// - Returns: Whether there was a key that is not in use.
  @inlinable
  @inline(never)
  func passivateLeastRecentlyUsed(besides key: Key) -> Bool {
    for _ in 0..<4 {
      let (first, now) = (hand.wrappingAdd(1, ordering: .relaxed).oldValue, tick)
      var sample = Shard.Sample()
      for step in shards.indices where !sample.isComplete {
        let before = shards[(first &+ step) & (shards.count - 1)].withLock {
          $0.sample(&sample, besides: key, at: now)
        }
        withExtendedLifetime(before) {}
      }
      guard let oldest = sample.oldest else {
        // Not if it has looked at all keys, of which there are few: that is quick.
        if sample.isComplete { keysToSkip.store(15, ordering: .relaxed) }
        return false
      }
      // It may be in use by now.
      if passivate(oldest.key) { return true }
    }
    return true
  }

  // MARK: Removal

  /// Ends the reactor of a key, in use or not, and forgets its state: `onPassivate` is not called. Any thread, also inside of
  /// the reactor's turns; it does not wait.
  ///
  /// What is sent afterwards is for a new reactor. An action that another thread is sending at this moment may be refused, and
  /// is reported then. If the reactor is just being made or ended, it is removed after what waits was processed, or discarded. Then
  /// the state that is on its way to `onPassivate` is kept nevertheless, also after this has returned: if `onPassivate` runs already, or if
  /// an action waits for that state. So delete what is kept in the `onRemove` of the collection, which comes after that, and before the
  /// next reactor of the key is made; not where you call this.
  ///
  /// - Parameters:
  ///   - key: Whose reactor ends.
  ///   - closing: What becomes of the actions that wait in its mailbox. ``Closing/discard`` overrules an earlier ``Closing/drain`` of a
  ///     reactor that is ending; what waits for the next one is still processed.
  /// - Returns: Whether there was a reactor.
  @inlinable
  @discardableResult
  public func remove(_ key: Key, _ closing: Closing = .drain) -> Bool {
    let now = tick
    let removal = withShard(hash(of: key)) { shard, hash in
      let removal = shard.remove(key, hash, at: now, isTold: onRemove != nil)
      // As in `useOrKeep`.
      if case .tell = removal { remaining.wrappingAdd(1, ordering: .relaxed) }
      return removal
    }
    switch removal {
    case .none:
      // Of a collection that was closed: no reactor is made any more.
      onRemove?(key)
      return false
    case .tell:
      onRemove?(key)
      if endTransition(of: key, wasEnding: false) { makeAndDeliver(key, isForOthers: true) }
      return false
    case .afterTransition(let hasReactor, let ending):
      // As a second `close` of it.
      if closing == .discard { ending?.close(.discard) }
      return hasReactor
    case .end(let reactor):
      end(reactor, of: key, by: closing)
      return true
    }
  }

  // MARK: The end of one reactor

  /// Ends a reactor whose key is in transition. On ``Placement/caller``, an idle one has ended when this returns, unless the
  /// stack of the thread is low, the thread is inside of a read of another reactor's state, or replies of its last turn have to
  /// leave first.
  ///
  /// - Parameter budget: How many turns of the next reactor of the key the thread runs that has kept the state.
  @inlinable
  func end(_ reactor: R, of key: Key, by closing: Closing, within budget: TurnBudget = .usual) {
    if tryEnd(reactor, of: key, by: closing, within: budget), finishEnding(reactor, of: key) {
      makeAndDeliver(key, isForOthers: true, within: budget)
    }
  }

  /// Ends a reactor, and returns true if it has ended; then the caller calls ``finishEnding(_:of:)``. Otherwise the thread that ends it
  /// does that, and makes the next reactor if something waits for it, within the budget.
  @inlinable
  func tryEnd(_ reactor: R, of key: Key, by closing: Closing, within budget: TurnBudget) -> Bool {
    ending.wrappingAdd(1, ordering: .relaxed)
    let keep = { @Sendable [self] in
      if finishEnding(reactor, of: key) { makeAndDeliver(key, isForOthers: true, within: budget) }
    }
    let runtime = reactor.runtime
    if runtime.loop?.hasEnded == false {
      // Registered first: a loop that ends the reactor at once then keeps its state, and not this thread.
      runtime.whenEnded(keep)
      reactor.close(closing)
    } else {
      // Not inside of the turn in which it ends.
      reactor.close(closing)
      if runtime.mailbox.ring.lifecycle.isOver { return true }
      runtime.whenEnded(keep)
    }
    return false
  }

  /// Lets a new thread end a reactor, and go on with its key. Returns false if the system refuses a thread.
  @inlinable
  func tryEndOnNewThread(_ reactor: R, of key: Key, by closing: Closing) -> Bool {
    DedicatedThread.tryDetach(named: "reactor-making") { [self] in end(reactor, of: key, by: closing) }
  }

  /// Keeps the state of a reactor that has ended, or tells that its key was removed.
  ///
  /// - Returns: Whether something waits for the next reactor, which the caller makes then.
  @inlinable
  func finishEnding(_ reactor: R, of key: Key) -> Bool {
    let place = hash(of: key)
    if withShard(place, { shard, _ in shard.beginKeepingState(of: key) }) {
      // A copy: inside of a read of a state on demand, what `onPassivate` sends would not wait for room. The copy shares what the
      // state refers to, and nothing changes the state any more.
      let state = reactor.runtime.copyLastState(of: reactor)
      onPassivate(key, state)
    }
    // The reference of the transition goes away under the mutex. It must not be the last one.
    return withExtendedLifetime(reactor) { endTransition(of: key, wasEnding: true) }
  }

  /// Removes a key whose reactor has ended, or that had none, unless something waits for the next reactor.
  ///
  /// - Parameter wasEnding: Whether it counts among those that end.
  /// - Returns: Whether something waits for the next reactor, which the caller makes then.
  @inlinable
  func endTransition(of key: Key, wasEnding: Bool) -> Bool {
    let (place, isTold) = (hash(of: key), onRemove != nil)
    while true {
      switch withShard(place, { shard, hash in shard.removeOrMake(key, hash, isTold: isTold) }) {
      case .tellRemoval: onRemove?(key)
      case .discard(let waiting): discard(waiting)
      case .make:
        if wasEnding { ending.wrappingSubtract(1, ordering: .relaxed) }
        return true
      case .removed(let removed):
        if wasEnding { ending.wrappingSubtract(1, ordering: .relaxed) }
        endIfLast()
        withExtendedLifetime(removed) {}
        return false
      case .done, .deliverMore, .end:
        if wasEnding { ending.wrappingSubtract(1, ordering: .relaxed) }
        endIfLast()
        return false
      }
    }
  }

  /// Closes reactors without a loop, or with one that is closed, and keeps their states, one after the other, on a thread made for it: on the calling thread,
  /// `onPassivate` would hold up the closing of other parts, beyond their deadline. That is so if the system refuses a thread. The state
  /// of one that is in a turn is kept by the thread that has the turn.
  @inlinable
  func endOnNewThread(_ closed: consuming [(key: Key, reactor: R)], by closing: Closing) {
    if closed.isEmpty { return }
    // Taken out, so that each goes away once its state is kept, and not after the end of the collection.
    let left = SystemMutex(closed)
    // The collection does not end before the last of them has gone. Relaxed: it counts one more than the caller has counted.
    remaining.wrappingAdd(1, ordering: .relaxed)
    let endAll = { @Sendable [self] in
      while let (key, reactor) = left.withLock({ $0.popLast() }) { end(reactor, of: key, by: closing) }
      endIfLast()
    }
    if !DedicatedThread.tryDetach(named: "reactor-closing", endAll) { endAll() }
  }

  /// One key less; or the collection was closed. The last one ends the collection.
  @inlinable
  func endIfLast() {
    // Acquiring and releasing: what each of the threads did, to the one that ends the collection.
    if remaining.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { termination.finish() }
  }
}

/// `onPassivate` may send what it keeps.
extension KeyedReactors: SendsWhileClosing {}

extension KeyedReactors: Closeable {
  /// Refuses what is sent from now on, and ends all reactors: their states are kept by `onPassivate`. Any thread; it does not
  /// wait. Calling it again has no effect, except that ``Closing/discard`` overrules an earlier ``Closing/drain``.
  ///
  /// The states of idle reactors on ``Placement/caller``, and of those whose loop has ended, are kept on a thread that is made for it, one
  /// after the other; usually after this has returned. That of a reactor in a turn is kept by the thread that has the turn.
  ///
  /// Sends by key are refused with ``SendError/closed``, also those from turns of the reactors. To wait for the end, close it
  /// as a part of ``Shutdown/close(_:before:)``, before the loops of its reactors and before what `onPassivate` sends to:
  ///
  /// ```swift
  /// try Shutdown.close([sessions, group], before: .now + .seconds(10))
  /// ```
  ///
  /// A collection that goes away without it calls no `onPassivate`: its reactors end with their last references.
  ///
  /// - Parameter closing: What becomes of the actions that the reactors hold.
  @inlinable
  public func close(_ closing: Closing = .drain) {
    // Relaxed: only one thread finds false.
    let isFirst = !isClosedWord.exchange(true, ordering: .relaxed)
    var closed: [(key: Key, reactor: R)] = []
    for shard in shards {
      for (key, reactor, isActive) in shard.withLock({ $0.close(closing) }) {
        if isActive, reactor.runtime.loop?.isClosed != false {
          // It has no loop, or one that ends, so the thread that closes it may keep its state.
          if reactor.runtime.loop == nil { reactor.close(closing) }
          closed.append((key, reactor))
        } else if isActive {
          end(reactor, of: key, by: closing)
        } else if closing == .discard {
          reactor.close(closing)
        }
      }
    }
    endOnNewThread(consume closed, by: closing)
    if isFirst { endIfLast() }
  }

  /// As ``close(_:)`` with ``Closing/drain``. Any thread.
  @inlinable
  public func beginClosing() { close(.drain) }

  /// Waits until all reactors have ended and their states are kept; see ``Closeable``. Any thread; inside of a turn of one of
  /// the reactors, of `make`, of `onPassivate`, of `onRemove`, or of code that is told what was refused, it does not wait.
  public func finishClosing(before deadline: ContinuousClock.Instant) -> [Unfinished] {
    let name = String(reflecting: Self.self)
    if isInsideOfTransition
      || inTransition.contains(where: { $0.runtime.isRunHere || $0.runtime.isEndingHere })
    {
      return [Unfinished(name: name, loop: nil, occupation: .closesItself)]
    }
    // On its thread the main loop, where `onPassivate` may wait for room.
    let loop =
      MainLoopRunner.loopHere ?? inTransition.first { $0.runtime.loop?.host != nil }?.runtime.loop
    let isOver = HostThread.wait(until: deadline, for: { loop }, { termination.wait(until: $0) })
    if isOver { return [] }
    let waiting = counters.waiting + inTransition.reduce(0) { $0 + $1.counters.waiting }
    return [Unfinished(name: name, loop: nil, occupation: .waiting(actions: waiting))]
  }

  /// Whether the calling thread is inside of `make`, `onPassivate` or `onRemove`, or delivers what waits, or tells that it was refused.
  private var isInsideOfTransition: Bool {
    let thread = CurrentCore.threadToken
    return shards.contains {
      $0.withLock { $0.transitions.values.contains { $0.thread == thread } }
    }
  }

  /// The reactors that are being made or ended.
  private var inTransition: [R] {
    shards.flatMap { $0.withLock { $0.transitions.values.compactMap { $0.reactor } } }
  }
}
