import ReactorCore
import Synchronization

/// What a loop, the thread that runs its rounds, and the reactors placed on it share.
@usableFromInline
final class LoopState: Sendable {
  let name: String
  @usableFromInline let lifecycle = LoopLifecycle()
  @usableFromInline let inbox: LoopInbox
  @usableFromInline let waiting: WaitStrategy
  @usableFromInline let turnLimit: Int
  let jobCapacity: Int
  /// The token of the thread that is inside of a round; 0 if there is none, so also when the loop has ended: a thread
  /// that starts later may get the same token.
  @usableFromInline let currentThread = Atomic<UInt64>(0)
  /// The token of the loop's own thread, from its start on. Unlike `currentThread` it stays until the thread has
  /// returned, so that the thread does not join itself in what it runs after the loop has ended.
  @usableFromInline let ownThread = Atomic<UInt64>(0)
  /// Whose turn the loop is running; 0 between turns, 1 in a job, 2 in the actions for its end. Relaxed: only the thread
  /// that runs the rounds decides anything by it.
  @usableFromInline let running = Atomic<UInt>(0)
  @usableFromInline let monitor = LoopMonitor()
  let cancelledTimers = CancelledTimers()
  let lateJobs = LateJobs()
  /// Of a loop without a thread.
  let host: LoopHost?
  let polling: LoopPolling

  @usableFromInline
  init(
    name: String, waiting: WaitStrategy, turnLimit: Int, jobCapacity: Int,
    waking kind: EventCountKind = .futex, signal: (@Sendable () -> Void)? = nil,
    host: LoopHost? = nil, polling: LoopPolling = .byThread
  ) throws(CoreError) {
    Self.check(turnLimit, "turnLimit", of: name)
    Self.check(jobCapacity, "jobCapacity", of: name)
    inbox = try LoopInbox(waking: kind, signal: signal)
    self.name = name
    self.waiting = waiting
    self.turnLimit = turnLimit
    self.jobCapacity = jobCapacity
    self.host = host
    self.polling = polling
  }

  private static func check(_ limit: Int, _ parameter: String, of name: String) {
    guard limit > 0 else {
      fatalError(
        """
        Problem: the \(parameter) of the loop "\(name)" is \(limit).
        Likely cause: it was computed, or 0 was meant as "without a limit".
        Remedy: a positive number; .max is without a limit.
        """)
    }
  }

  /// Hands a scheduled reactor to the loop. Returns false once the loop is closed, except for what the loop's own
  /// turns schedule. Any thread.
  @usableFromInline
  func submit(_ reactor: LoopReactor) -> Bool {
    if !runsTurnsHere { return inbox.submit(reactor) }
    inbox.submitFromTurn(reactor)
    return true
  }
}

// MARK: Which thread is inside

extension LoopState {
  /// Whether the calling thread is inside of a round of this loop. Any thread. Relaxed: a thread that finds its own
  /// token has stored it itself.
  @usableFromInline var isCurrent: Bool { currentThread.load(ordering: .relaxed) == CurrentCore.threadToken }

  /// Whether the calling thread is inside of a round, and the loop has not ended. That is not so in a job that comes
  /// after the end: what such a job sends is refused like what other threads send.
  @usableFromInline var runsTurnsHere: Bool { isCurrent && !hasEnded }

  /// The thread that makes room in the mailboxes of the loop's reactors.
  var drainingThread: WaitGraph.Emptier {
    let current = currentThread.load(ordering: .relaxed)
    guard current == 0, let host else { return WaitGraph.Emptier(current) }
    return host.next()
  }

  /// Runs `body` as if the calling thread were the loop's thread, marked like that (see ``run()``).
  func asCurrent<Result>(_ body: () -> Result) -> Result {
    currentThread.store(CurrentCore.threadToken, ordering: .relaxed)
    let outer = TurnMark.enter()
    defer {
      TurnMark.leave(outer)
      currentThread.store(0, ordering: .relaxed)
    }
    return body()
  }

  /// Whether the calling thread, which runs the rounds, is inside of a turn of that runtime.
  @usableFromInline
  func isRunning(_ runtime: AnyObject) -> Bool { runningToken == UInt(bitPattern: ObjectIdentifier(runtime)) }

  /// What `running` was a moment ago. Any thread.
  var runningToken: UInt { running.load(ordering: .relaxed) }

  /// Notes whose turn begins, or with nil that it has ended. The thread that runs the rounds.
  @inlinable
  func setRunning(_ runtime: ObjectIdentifier?) {
    running.store(runtime.map { UInt(bitPattern: $0) } ?? 0, ordering: .relaxed)
  }

  /// Notes that jobs begin. The thread that runs the rounds.
  func setRunningJob() { running.store(Self.runningJob, ordering: .relaxed) }

  static var runningJob: UInt { 1 }
  static var runningEndActions: UInt { 2 }
}

// MARK: The end

extension LoopState {
  /// Whether nothing is accepted from other threads any more. Any thread.
  @inlinable
  var isClosed: Bool { lifecycle.isClosed }

  /// Whether the loop was closed, and needs another round in which it ends. Any thread.
  var isEnding: Bool { isClosed && !hasEnded }

  /// Whether no turn will run any more. Any thread.
  @inlinable
  var hasEnded: Bool { lifecycle.hasEnded }

  /// Refuses what other threads submit from now on, and wakes the loop. Any thread; calling it again does nothing.
  @usableFromInline
  func close() {
    // Whether or not this call made the transition, it closes the ring as well: see `LoopLifecycle`.
    _ = lifecycle.openToClosing()
    inbox.close()
  }

  /// Seals the loop if nothing will come any more, and returns whether it did. The thread that runs the rounds, when
  /// the loop is closed and everything that was taken in is done.
  @inlinable
  func trySeal() -> Bool { inbox.isRingDrained && sealIfInboxIsEmpty() }

  @usableFromInline
  func sealIfInboxIsEmpty() -> Bool { inbox.ifContentsAreEmpty { lifecycle.closingToSealed() } }

  /// Ends the loop if it is sealed. Any thread that runs rounds, after a round.
  @usableFromInline
  func endIfSealed() {
    // The check spares each round of an open loop a read-modify-write.
    guard lifecycle.isSealed, lifecycle.sealedToEnded() else { return }
    monitor.beat()
    running.store(Self.runningEndActions, ordering: .relaxed)
    lifecycle.runEndActions()
    setRunning(nil)
  }

  /// Runs `action` once the loop has ended: on the thread that ends it, or at once if it has ended. Any thread.
  @usableFromInline
  func whenEnded(_ action: @escaping @Sendable () -> Void) { lifecycle.whenEnded(action) }
}

/// What runs the rounds of a loop without a thread: see ``HostedLoop`` and ``MainLoop``.
@usableFromInline
struct LoopHost: Sendable {
  /// Runs a round on the calling thread if no other thread would run it, and returns how many actions, jobs and timers it ran;
  /// nil if it is not for this thread to run one. Called by a thread that is about to wait.
  let runRoundHere: @Sendable () -> Int?
  /// Returns which thread runs the next round. Called between two rounds, by any thread.
  let next: @Sendable () -> WaitGraph.Emptier
}

/// What polls the descriptors that a loop watches.
@usableFromInline
enum LoopPolling: Sendable {
  /// The loop's own thread.
  case byThread
  /// Other code, which runs the rounds when a descriptor is readable. The closure makes it watch the given descriptor, too, and
  /// returns whether the system allows that.
  case byHost(@Sendable (Int32) -> Bool)
  /// Nothing: the loop has no thread, and other code is called.
  case impossible
}

/// What is on its way to a loop: reactors, each at most once, and jobs and timers.
///
/// A reactor normally goes through a ring. If that is full, it is kept beside the ring under a lock, so that no sender
/// waits for the loop, which may be busy with a long turn or may be the sender itself. Jobs and timers always go
/// under the lock: they allocate anyway, and this keeps the order of those that one thread submits.
@usableFromInline
struct LoopInbox: ~Copyable, Sendable {
  @usableFromInline let ring: Ring<LoopReactor>
  /// What the thread of the loop sleeps on.
  @usableFromInline let wake: EventCount
  /// Wakes what runs the rounds, in place of `wake`.
  private let signal: InboxSignal?
  /// `wake` as ``arm(unless:)`` has left it. A sleep that a watched descriptor has ended leaves it armed, and then the next sleep needs no
  /// heavy fence: that would cost a server that sleeps between its requests an eighth of its time. The thread that runs the rounds.
  private let armedKey = OwnerIsolated<UInt32>(0)
  /// What the loop sleeps on once it has watched a descriptor.
  let watches = AtomicReference<LoopWatches>()
  private let contents = SystemMutex(InboxContents())
  /// Whether `contents` may hold something; spares the loop the lock.
  ///
  /// Relaxed: it changes under the lock only. A loop that reads an old value takes the contents in a later round; one
  /// that is about to sleep reads it after `wake` was armed, and whatever set it notifies afterwards.
  @usableFromInline let hasContents = Atomic(false)

  /// - Parameters:
  ///   - kind: What the thread of the loop sleeps on.
  ///   - signal: Called in place of waking that thread, on the thread that submits.
  @usableFromInline
  init(waking kind: EventCountKind = .futex, signal: (@Sendable () -> Void)? = nil) throws(CoreError) {
    let ring = try Ring<LoopReactor>(capacity: 1024)
    wake = try EventCount(kind)
    self.ring = ring
    self.signal = signal.map(InboxSignal.init)
  }

  deinit { watches.releaseObject() }

  // MARK: Any thread

  /// Takes a reactor in and wakes the loop; returns false once the ring is closed. Any thread. It does not wait,
  /// except for other threads that find the ring full at the same moment.
  @usableFromInline
  func submit(_ reactor: LoopReactor) -> Bool {
    switch ring.trySend(reactor) {
    case .closed: return false
    case .full: if !submitBesideRing(reactor, evenIfClosed: false) { return false }
    case .accepted: break
    }
    notify()
    return true
  }

  /// Adds something beside the ring and wakes the loop, unless `isRefused` returns true. Any thread.
  func post(unless isRefused: (inout InboxContents) -> Bool, _ add: (inout InboxContents) -> Void) -> Bool {
    let isAdded = tryAdd(unless: isRefused, add)
    if isAdded { notify() }
    return isAdded
  }

  /// Refuses the reactors of other threads from now on, and wakes the loop. Any thread.
  func close() {
    ring.close()
    notify()
  }

  /// How many reactors and jobs were on their way a moment ago. Any thread.
  var wasCounts: (reactors: Int, jobs: Int) {
    let (reactors, jobs) = contents.withLock { ($0.reactors.count, $0.jobs.count) }
    return (ring.wasCount + reactors, jobs)
  }

  private func notify() {
    if let signal { return signal.raise() }
    wake.notifyAndCall {
      // After the word was found armed: see ``LoopWatches``.
      CurrentCore.lightFence()
      watches.use { $0.signal() }
    }
  }

  // MARK: The thread that runs the rounds

  /// Lets the next submitter wake the loop, unless `condition` returns true. Returns whether the loop may wait for its descriptors.
  func arm(unless condition: () -> Bool) -> Bool {
    wake.arm(again: &armedKey.value, unless: condition)
  }

  // MARK: Reactors that have left for a while

  /// Notes that a reactor has left, scheduled, and comes back by ``resume(_:)``. Until then, the loop is not sealed. The thread
  /// that runs the rounds.
  func noteSuspended(_ reactor: LoopReactor) { contents.withLock { $0.suspended[reactor.runtime] = reactor } }

  /// Takes a reactor in that has left, even after the loop was closed, and wakes the loop. Any thread, unless
  /// ``forgetSuspended(of:)`` was called.
  @usableFromInline
  func resume(_ runtime: ObjectIdentifier) {
    contents.withLock { contents in
      guard let reactor = contents.suspended.removeValue(forKey: runtime) else { return }
      contents.reactors.append(reactor)
      hasContents.store(true, ordering: .relaxed)
    }
    notify()
  }

  /// Those that have left. The thread that runs the rounds.
  var suspended: [LoopReactor] { contents.withLock { Array($0.suspended.values) } }

  /// Notes that the loop has taken a reactor back itself. The thread that runs the rounds.
  func forgetSuspended(of runtime: ObjectIdentifier) {
    contents.withLock { _ = $0.suspended.removeValue(forKey: runtime) }
  }

  private func submitBesideRing(_ reactor: LoopReactor, evenIfClosed: Bool) -> Bool {
    tryAdd(unless: { _ in ring.isClosed && !evenIfClosed }, { $0.reactors.append(reactor) })
  }

  private func tryAdd(
    unless isRefused: (inout InboxContents) -> Bool, _ add: (inout InboxContents) -> Void
  ) -> Bool {
    contents.withLock { contents in
      // Under the lock: a thread that closes the loop and then takes the lock finds everything that was added before.
      if isRefused(&contents) { return false }
      add(&contents)
      hasContents.store(true, ordering: .relaxed)
      return true
    }
  }

  // MARK: The thread that runs the rounds

  /// Accepts a reactor that a turn of this loop scheduled, even after the loop was closed. It needs no wake-up: the round
  /// goes on.
  @usableFromInline
  func submitFromTurn(_ reactor: LoopReactor) { _ = submitBesideRing(reactor, evenIfClosed: true) }

  /// Wakes the usual runner of the rounds. Another thread has run a round and left work, for which no wake-up was sent: what a turn of
  /// that round scheduled, or left at its limit.
  ///
  /// The mark comes before the wake-up. So a host that is about to sleep either finds it in its last check, or is woken.
  func wakeForRest() {
    contents.withLock { _ in hasContents.store(true, ordering: .relaxed) }
    notify()
  }

  /// Takes out what is beside the ring.
  func takeContents() -> InboxContents {
    contents.withLock { contents in
      hasContents.store(false, ordering: .relaxed)
      return contents.take()
    }
  }

  /// Whether something has come that was not taken in.
  var isWaiting: Bool { ring.isReady || hasContents.load(ordering: .relaxed) }

  /// Whether the loop has something to check: it must not sleep.
  @inlinable
  var isReady: Bool { ring.isReady || ring.isClosed || hasContents.load(ordering: .relaxed) }

  /// Whether nothing will come through the ring any more.
  // Closed is read first: a ring that is empty after it was closed stays empty.
  @inlinable
  var isRingDrained: Bool { ring.isClosed && ring.isEmpty }

  /// Calls `body` under the lock, unless something is beside the ring; returns what `body` returns, or else false.
  func ifContentsAreEmpty(_ body: () -> Bool) -> Bool { contents.withLock { $0.isEmpty && body() } }
}

/// What wakes the code that runs the rounds of a loop without a thread. An object, so that a loop with a thread pays a
/// pointer.
final class InboxSignal: Sendable {
  let raise: @Sendable () -> Void

  init(_ raise: @escaping @Sendable () -> Void) { self.raise = raise }
}

/// What is on its way to a loop beside the ring, under a lock.
@usableFromInline
struct InboxContents: Sendable {
  /// Those that found the ring full, and those that the loop's own turns scheduled.
  var reactors: [LoopReactor] = []
  var jobs: [LoopJob] = []
  var timers: [LoopTimer] = []
  /// The watches, once.
  var watches: LoopWatches?
  /// Reactors that have left until their journal has room, by their runtimes. Not taken out with the rest.
  var suspended: [ObjectIdentifier: LoopReactor] = [:]
  /// How many jobs and timers were ever taken in, without the cancelled timers that were removed here.
  var submitted = 0
  /// How many timers of the loop had been cancelled when the cancelled ones were last removed here.
  private var cancelledBefore = 0

  var isEmpty: Bool {
    reactors.isEmpty && jobs.isEmpty && timers.isEmpty && watches == nil && suspended.isEmpty
  }

  /// Removes the timers that were cancelled, if they may be a quarter of all, and returns how many.
  ///
  /// - Parameter total: How many timers of the loop were ever cancelled.
  /// - Complexity: O(n) for n timers, but only if n / 4 were cancelled since the last time: O(1) for each cancelled one.
  mutating func removeCancelledTimers(ifMany total: Int) -> Int {
    if total == cancelledBefore || (total - cancelledBefore) * 4 < timers.count { return 0 }
    cancelledBefore = total
    let before = timers.count
    timers.removeAll { $0.wasTaken }
    submitted -= before - timers.count
    return before - timers.count
  }

  /// Removes and returns all contents, but those that are suspended; keeps the count of submissions.
  mutating func take() -> InboxContents {
    var taken = self
    // While the result is there, the next one that is resumed would copy all of them.
    taken.suspended = [:]
    (reactors, jobs, timers, watches) = ([], [], [], nil)
    return taken
  }
}
