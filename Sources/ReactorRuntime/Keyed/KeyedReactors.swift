import ReactorCore
import Synchronization

/// Reactors by key, for entities, sessions and connections: one is made at the first send to its key, and ended when it was
/// not used for a while.
///
/// ```swift
/// let sessions = KeyedReactors<UserID, Session>(
///   upTo: 100_000,
///   onPassivate: { user, state in store.save(copy state, of: user) },
///   make: { user in Session(store.load(user), on: .caller) })
/// sessions.send(.touch, to: user)
/// ```
///
/// At each moment there is at most one reactor of a key, for all threads. The next one is made only after the one before has
/// ended, and `onPassivate` has returned. What is sent meanwhile waits, in its order, and no sender waits for it. So each
/// action is processed by the old reactor before it ends, or by the next one.
///
/// A reactor is **in use** while anything but this collection refers to it: a send, a read, the loop that has its turn, a
/// reference that ``subscript(_:)`` has returned. Only reactors that are not in use are passivated.
///
/// A durable reactor cannot be used: the program stops with a message.
///
/// <doc:ReactorsByKey> describes which code is called when, and on which thread.
public final class KeyedReactors<Key: Hashable & Sendable, R: Reactor>: Sendable {
  @usableFromInline typealias Shard = KeyedShard<Key, R>

  /// The upper bits of a key's hash choose its shard.
  @usableFromInline static var shardBits: Int { 8 }

  @usableFromInline let shards: ContiguousArray<SystemMutex<Shard>>
  /// The same ones. A send that retained its shard would take the count's line from other senders.
  @usableFromInline let uncountedShards: ContiguousArray<UncountedReference<SystemMutex<Shard>>>
  @usableFromInline let limit: Int
  @usableFromInline let waitingCapacity: Int
  @usableFromInline let make: @Sendable (Key) -> R
  @usableFromInline let onPassivate: @Sendable (Key, borrowing R.State) -> Void
  @usableFromInline let onRemove: (@Sendable (Key) -> Void)?
  @usableFromInline let onFailure: @Sendable (Failure) -> Void
  @usableFromInline let clock: @Sendable () -> Int64
  /// How many keys there are, and one more until ``close(_:)`` was called.
  @usableFromInline let remaining = Atomic(1)
  /// How many of them end now. Relaxed: it only decides how many more do.
  @usableFromInline let ending = Atomic(0)
  @usableFromInline let isClosedWord = Atomic(false)
  /// The shard where the search for the least recently used key begins.
  @usableFromInline let hand = Atomic(0)
  /// For how many new keys above the limit no search follows, since the last one has found all keys in use. Relaxed: one more or less does
  /// not matter.
  @usableFromInline let keysToSkip = Atomic(0)
  @usableFromInline let termination = Termination()

  /// Makes a collection without reactors.
  ///
  /// - Parameters:
  ///   - limit: Above how many keys each new one passivates one or two others that are not in use: about the least recently
  ///     used of 16. If so many are in use that it finds none among about 128 keys, there are more keys for a while; and only each
  ///     sixteenth new key searches again.
  ///   - waitingCapacity: How many actions may wait for the reactor of one key while it is made, or the one before ends. The reactor
  ///     then takes all of them, beside its mailbox if they do not fit into that.
  ///   - onFailure: Called with each action that was refused, and by no reactor: as that of the ``Runtime``.
  ///   - onPassivate: Keeps the state of a reactor that has ended, before the next one of its key is made. It is called on the
  ///     thread that ended the reactor: the one that passivates, or the loop of the reactor. After ``close(_:)``, for idle
  ///     reactors on ``Placement/caller``, and for those whose loop has ended: on a thread made for it. What it sends waits for room,
  ///     except on a loop, and on a thread that is inside of a turn or a read.
  ///   - onRemove: Deletes what `onPassivate` has kept. Called after each ``remove(_:_:)``, also of a key without a reactor: when the
  ///     reactor has ended, and before the next one of its key is made, on the thread that does so. So nothing that was removed comes
  ///     back. It may be called once for several removals that follow each other. After ``close(_:)``, a removal of a key without a reactor
  ///     calls it on its own thread, at once, also beside another call.
  ///   - make: Makes the reactor of a key, on the thread that sent to it first, or that has ended the one before. Called by
  ///     one thread at a time for each key, and never beside `onPassivate` or `onRemove` of that key. It may load what `onPassivate`
  ///     has kept.
  public convenience init(
    upTo limit: Int = .max, waitingCapacity: Int = 4096,
    onFailure: @escaping @Sendable (Failure) -> Void = { Hooks.defaultFailureHandler($0) },
    onPassivate: @escaping @Sendable (Key, borrowing R.State) -> Void = { _, _ in },
    onRemove: (@Sendable (Key) -> Void)? = nil,
    make: @escaping @Sendable (Key) -> R
  ) {
    self.init(
      upTo: limit, waitingCapacity: waitingCapacity, clock: { MonotonicTime.coarse }, onFailure: onFailure,
      onPassivate: onPassivate, onRemove: onRemove, make: make)
  }

  /// - Parameter clock: Nanoseconds since some moment.
  package init(
    upTo limit: Int = .max, waitingCapacity: Int = 4096, clock: @escaping @Sendable () -> Int64,
    onFailure: @escaping @Sendable (Failure) -> Void = { Hooks.defaultFailureHandler($0) },
    onPassivate: @escaping @Sendable (Key, borrowing R.State) -> Void = { _, _ in },
    onRemove: (@Sendable (Key) -> Void)? = nil,
    make: @escaping @Sendable (Key) -> R
  ) {
    guard !R.isDurable else {
      fatalError(
        """
        Problem: KeyedReactors was made with the durable reactor \(R.self).
        Likely cause: its journal would be opened for the next reactor of a key while the one before still uses it.
        Remedy: use a reactor that is not durable, and let onPassivate keep its state.
        """)
    }
    guard limit > 0 else { fatalError("the limit is \(limit); it must be positive") }
    guard waitingCapacity > 0 else {
      fatalError("waitingCapacity is \(waitingCapacity); it must be positive")
    }
    self.limit = limit
    self.waitingCapacity = waitingCapacity
    self.make = make
    self.onPassivate = onPassivate
    self.onRemove = onRemove
    self.onFailure = onFailure
    self.clock = clock
    shards = ContiguousArray((0..<(1 << Self.shardBits)).map { _ in SystemMutex(Shard()) })
    uncountedShards = ContiguousArray(shards.map { UncountedReference($0) })
  }

  // MARK: Sending

  /// Sends an action to the reactor of a key, and makes the reactor if there is none. Any thread; otherwise as
  /// ``Reactor/send(_:)``.
  ///
  /// While another thread makes or ends a reactor of that key, the action waits for that thread, and this returns. If the reactor was closed,
  /// by itself or by others, this passivates it, and the action is for the next one. An action
  /// that is refused is reported: by the reactor; or by `onFailure` of this collection, if that was closed
  /// (``SendError/closed``), or too much waits for that thread (``SendError/full``, also with ``OverflowPolicy/block``).
  ///
  /// - Complexity: O(1) on average, and no allocation, if there is a reactor; a mutex is held for the search.
  @inlinable
  @inline(__always)
  public func send(_ action: R.Action, to key: Key) {
    if let reactor = findOpen(key) {
      withExtendedLifetime(reactor) { reactor.send(action) }
    } else {
      sendOrKeep(action, key)
    }
  }

  /// Sends an action to the reactor of a key, or throws if there is no room: this never waits for room. Otherwise as
  /// ``send(_:to:)``. Any thread.
  ///
  /// But above `limit`, each form of send that makes a reactor then passivates another one, and calls `onPassivate`, which may wait.
  ///
  /// - Throws: As ``Reactor/trySend(_:)``. The action was not accepted then. An action that is accepted while the reactor is
  ///   made or ended is sent to it later, as by ``Reactor/send(_:)``.
  @inlinable
  public func trySend(_ action: R.Action, to key: Key) throws(SendError) {
    if let reactor = useOrKeep(.action(action), key) { try reactor.get().trySend(action) }
  }

  // MARK: Reactors

  /// The reactor of a key: nil if there is none, or if it is being made or ended. Any thread. It makes none.
  ///
  /// As long as you hold the reference, the reactor is in use, and is not passivated. It may be removed or closed; then it
  /// refuses what is sent with ``SendError/closed``, while the key may have another reactor.
  ///
  /// A request to the reactor with a completion, or with a future of swift-nio, does not hold it, as one by key does
  /// (``ask(_:_:before:completion:)``). If the reply may come later than the turn of the request, hold the reactor in the completion.
  /// Otherwise it may be passivated before. Then the request fails: with
  /// ``AskError/closed`` if the state or a stream that `mutate` has returned keeps the reply, with ``AskError/dropped`` if other code
  /// does, such as a property of the reactor:
  ///
  /// ```swift
  /// guard let session = sessions[user] else { return }
  /// session.ask({ .nextPage($0) }, before: .now + .seconds(30)) { result in
  ///   withExtendedLifetime(session) { show(result) }
  /// }
  /// ```
  @inlinable
  public subscript(key: Key) -> R? { find(key) }

  /// Returns the reactor of a key, and makes it if there is none. Any task: it is suspended while another thread makes the
  /// reactor, or ends the one before. Holding the reactor is as in ``subscript(_:)``.
  ///
  /// - Throws: ``SendError/closed``; ``SendError/full`` if as much waits as `waitingCapacity` allows; ``SendError/cancelled`` if the
  ///   task is cancelled while it is suspended.
  @inlinable
  nonisolated(nonsending)
    public func reactor(for key: Key) async throws(SendError) -> R
  {
    if let reactor = findOpen(key) { return reactor }
    return try await waitForReactor(of: key)
  }

  /// Calls `body` with the state of a key's reactor: as ``Reactor/withCurrentState(_:)``. While the reactor is being ended,
  /// that is its last state. Any thread. Returns nil if there is none; it makes none.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - isUse: Whether the time without a use begins anew with this. Not for what looks at all keys, such as a report: otherwise none of
  ///     them is ever passivated.
  ///   - body: Reads the state.
  @inlinable
  public func withCurrentState<Result, E: Error>(
    of key: Key, isUse: Bool = true, _ body: (borrowing R.State) throws(E) -> Result
  ) throws(E) -> Result? {
    guard let reactor = (isUse ? find(key) : nil) ?? findToRead(key) else { return nil }
    return try reactor.withCurrentState(body)
  }

  /// A copy of the state of a key's reactor: as ``withCurrentState(of:isUse:_:)``. Any thread.
  @inlinable
  public func currentState(of key: Key, isUse: Bool = true) -> R.State? {
    ((isUse ? find(key) : nil) ?? findToRead(key))?.currentState
  }

  /// The counters of a key's reactor, for reports: this is no use of it, so the time without a use goes on. Any thread. Returns nil if there
  /// is none; it makes none.
  public func counters(of key: Key) -> ReactorCounters? { findToRead(key)?.counters }

  /// The keys, in no order. Any thread; the shards are read one after the other, so a key that is added or removed meanwhile
  /// may be there or not.
  ///
  /// - Complexity: O(n).
  public var keys: [Key] { shards.flatMap { $0.withLock { $0.keys } } }

  /// How many keys have a reactor, or one that is being made or ended. Any thread; may be stale.
  ///
  /// - Complexity: O(1), with respect to the number of keys; it locks 256 shards, one after the other, which takes microseconds.
  @inlinable
  public var count: Int {
    var sum = 0
    for shard in shards { sum += shard.withLock { $0.count } }
    return sum
  }

  /// What has happened to the keys. Any thread; the shards are read one after the other.
  ///
  /// - Complexity: O(1), with respect to the number of keys that are not being made or ended; otherwise as ``count``.
  @inlinable
  public var counters: KeyedCounters {
    var sum = KeyedCounters()
    for shard in shards { sum.add(shard.withLock { $0.counters }) }
    return sum
  }

  // MARK: Finding

  @inlinable
  @inline(__always)
  func hash(of key: Key) -> UInt {
    // Not `hashValue`: a type may have one of its own, whose upper bits say nothing.
    UInt(bitPattern: key._rawHashValue(seed: 0))
  }

  @inlinable
  @inline(__always)
  func withShard<Result>(_ hash: UInt, _ body: (inout Shard, UInt32) -> Result) -> Result {
    uncountedShards[Int(hash &>> UInt(UInt.bitWidth - Self.shardBits))].use { mutex in
      mutex.withLock { shard in body(&shard, UInt32(truncatingIfNeeded: hash)) }
    }
  }

  /// The time in units of about four milliseconds.
  @inlinable
  @inline(__always)
  var tick: UInt32 { UInt32(truncatingIfNeeded: clock() &>> 22) }

  @inlinable
  @inline(__always)
  func find(_ key: Key) -> R? {
    let now = tick
    return withShard(hash(of: key)) { shard, hash in shard.use(key, hash, at: now) }
  }

  /// The same, unless it was closed: then the next send ends it.
  @inlinable
  @inline(__always)
  func findOpen(_ key: Key) -> R? {
    guard let reactor = find(key), !reactor.runtime.mailbox.ring.lifecycle.wasClosedForGood else {
      return nil
    }
    return reactor
  }

  /// Returns the reactor of a key, active or in transition, and notes no use.
  @inlinable
  @inline(never)
  func findToRead(_ key: Key) -> R? {
    withShard(hash(of: key)) { shard, hash in
      shard.slots[shard.position(of: key, hash)]?.reactor ?? shard.transitions[key]?.reactor
    }
  }

  // MARK: Making

  @inlinable
  @inline(never)
  func sendOrKeep(_ action: R.Action, _ key: Key) {
    switch useOrKeep(.action(action), key) {
    case nil: break
    case .success(let reactor): reactor.send(action)
    case .failure(let reason): report(action, reason)
    }
  }

  /// Returns the reactor of the key, or why there is none; or keeps what waits for it, and returns nil.
  @inlinable
  @inline(never)
  func useOrKeep(
    _ waiting: Shard.Waiting, _ key: Key, within budget: TurnBudget = .usual
  ) -> Result<R, SendError>? {
    let now = tick
    let capacity = waitingCapacity
    var closed: R?
    while true {
      let admission = withShard(hash(of: key)) { shard, hash in
        let admission = shard.admit(waiting, key, hash, at: now, upTo: capacity, replacing: closed)
        // Relaxed: it counts. Under the mutex, so that the thread that closes this shard afterwards cannot end the collection
        // before the key is counted.
        if case .first = admission { remaining.wrappingAdd(1, ordering: .relaxed) }
        return admission
      }
      switch admission {
      case .active(let reactor):
        if !reactor.runtime.mailbox.ring.lifecycle.wasClosedForGood { return .success(reactor) }
        closed = reactor
      case .refused(let reason): return .failure(reason)
      case .kept: return nil
      case .replaces(let reactor):
        end(reactor, of: key, by: .drain, within: budget)
        return nil
      case .first:
        makeAndDeliver(key, within: budget)
        passivateAboveLimit(besides: key)
        return nil
      }
    }
  }

  /// Makes the reactor of a key in transition, and delivers what waits for it. Then the key is active. No mutex is held while the
  /// user's code runs.
  ///
  /// If the key was removed meanwhile, it ends the reactor, and makes the next one if something waits for that. Others may remove and use
  /// the key as fast, so this is a loop, and after some reactors another thread goes on.
  ///
  /// - Parameters:
  ///   - isForOthers: Whether the first of what waits is of another thread.
  ///   - budget: How many turns of the first reactor the calling thread runs.
  @inlinable
  @inline(never)
  func makeAndDeliver(_ key: Key, isForOthers: Bool = false, within budget: TurnBudget = .usual) {
    var (isForOthers, budget, left) = (isForOthers, budget, Self.mostInSequence)
    while true {
      let reactor = make(key)
      withShard(hash(of: key)) { shard, _ in shard.tally.made += 1 }
      guard let closing = deliver(to: reactor, of: key, isForOthers: isForOthers, within: budget) else {
        return
      }
      (isForOthers, budget, left) = (true, .usual, left - 1)
      if left <= 0, tryEndOnNewThread(reactor, of: key, by: closing) { return }
      guard tryEnd(reactor, of: key, by: closing, within: budget), finishEnding(reactor, of: key) else {
        return
      }
    }
  }

  /// How many reactors of a key a thread makes in sequence. Only the first may be for its own request.
  @usableFromInline static var mostInSequence: Int { 256 }

  /// Delivers what waits for a reactor, without waiting for room. Until then its key is in transition.
  ///
  /// - Returns: How the calling thread ends the reactor; nil if the key is active, or the collection was closed and discards.
  @inlinable
  @inline(never)
  func deliver(to reactor: R, of key: Key, isForOthers: Bool, within budget: TurnBudget) -> Closing? {
    // Read before the mutex is locked. A reactor that stores no runtime makes it at the first use, and that may destroy the state of
    // another one which is gone: code of the program, which may use the collection.
    let runtime = reactor.runtime
    // The first action without the mailbox, which most reactors on `.caller` never need: this thread processes it. Not if it is of
    // another thread, which may give up before its turn ends.
    var toMailbox = isForOthers || runtime.loop != nil
    while true {
      let now = tick
      var (delivery, next) = withShard(hash(of: key)) { shard, hash in
        shard.deliverOrActivate(key, hash, reactor, runtime, at: now, toMailbox: toMailbox)
      }
      if let first = delivery.first, !process(first, by: reactor, within: budget) {
        // `make` has shown the reactor to other threads, and one of them is its owner.
        delivery = Shard.offer([first], to: runtime, hasDelivered: false)
      }
      // Before the turns: on `.caller` this thread runs them, also those for what others go on sending. That may take longer than the
      // deadlines of these tasks.
      for wait in delivery.users { wait.end(.success(reactor)) }
      let hasOffered = !delivery.offered.isEmpty
      // These may be the last references to replies, if the reactor was closed meanwhile.
      TurnMark.whileDiscarding(runtime.mailbox.ring.isClosed) { delivery.forgetOffered() }
      if hasOffered { runtime.ensureProcessing(by: reactor, within: budget) }
      if let reason = delivery.reason { refuse(delivery.refused, by: reactor, reason) }
      // Likewise, and its turn may have closed the reactor.
      TurnMark.whileDiscarding(runtime.mailbox.ring.isClosed) { delivery.first = nil }
      switch next {
      case .deliverMore: break
      case .discard(let waiting): discard(waiting)
      case .end(let closing):
        // Its loop may end it, and then this thread is not needed any more.
        withShard(hash(of: key)) { shard, _ in shard.transitions[key]?.thread = 0 }
        return closing
      case .make, .tellRemoval, .removed, .done: return nil
      }
      toMailbox = true
    }
  }

  /// Processes what waits, without the mailbox. Returns false if its action is still to be delivered: the reactor has an owner, or the
  /// stack of the thread is low. It does not wait.
  @inlinable
  func process(_ waiting: Shard.Waiting, by reactor: R, within budget: TurnBudget) -> Bool {
    if let action = waiting.action,
      !reactor.runtime.tryProcessHere(action, of: reactor, within: budget)
    {
      return false
    }
    waiting.wait?.end(.success(reactor))
    return true
  }

  /// Tells the senders of what the mailbox of a reactor has refused.
  @inlinable
  func refuse(_ waiting: ArraySlice<Shard.Waiting>, by reactor: R, _ reason: SendError) {
    for case let wait? in waiting.map(\.wait) { wait.end(.failure(reason)) }
    for case .action(let action) in waiting { reactor.runtime.reportRefused(action, reason) }
  }

  @inlinable
  @inline(never)
  func discard(_ waiting: [Shard.Waiting]) {
    // The tasks first: `onFailure` may take long, and they have deadlines.
    for case let wait? in waiting.map(\.wait) { wait.end(.failure(.closed)) }
    for case .action(let action) in waiting { report(action, .closed) }
  }

  @usableFromInline
  func report(_ action: R.Action, _ reason: SendError) {
    onFailure(
      Failure(reactor: String(reflecting: R.self), cause: .actionNotDelivered(reason), action: action))
  }
}
