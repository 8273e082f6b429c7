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
  /// The token of the thread that ran the last round of a loop without a thread. Relaxed: a hint.
  private let lastRunner = Atomic<UInt64>(0)
  /// Whose turn the loop is running; 0 between turns, 1 in a job. Relaxed: only the thread that runs the rounds
  /// decides anything by it.
  @usableFromInline let running = Atomic<UInt>(0)
  @usableFromInline let monitor = LoopMonitor()
  let cancelledTimers = CancelledTimers()
  let lateJobs = LateJobs()
  /// Of a loop without a thread: runs a round on the calling thread if no other thread would run it, and returns
  /// whether it did. Called by a sender that is about to wait for room: see ``HostedLoop`` and ``MainLoop``.
  let runRoundHere: (@Sendable () -> Bool)?

  @usableFromInline
  init(
    name: String, waiting: WaitStrategy, turnLimit: Int, jobCapacity: Int,
    waking kind: EventCountKind = .futex, signal: (@Sendable () -> Void)? = nil,
    runRoundHere: (@Sendable () -> Bool)? = nil
  ) throws(CoreError) {
    Self.check(turnLimit, "turnLimit", of: name)
    Self.check(jobCapacity, "jobCapacity", of: name)
    inbox = try LoopInbox(waking: kind, signal: signal)
    self.name = name
    self.waiting = waiting
    self.turnLimit = turnLimit
    self.jobCapacity = jobCapacity
    self.runRoundHere = runRoundHere
  }

  private static func check(_ limit: Int, _ parameter: String, of name: String) {
    precondition(
      limit > 0,
      """
      Problem: the \(parameter) of the loop "\(name)" is \(limit).
      Likely cause: it was computed, or 0 was meant as "without a limit".
      Remedy: a positive number; .max is without a limit.
      """)
  }

  /// Hands a scheduled reactor to the loop. Returns false once the loop is closed, except for what the loop's own
  /// turns schedule. Any thread.
  @usableFromInline
  func submit(_ reactor: ScheduledReactor) -> Bool {
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

  /// The token of the thread that makes room in the mailboxes of the loop's reactors; 0 if there is none. Between the
  /// rounds of a loop without a thread, it is that of the thread that ran the last one, and probably runs the next.
  var drainingThread: UInt64 {
    let current = currentThread.load(ordering: .relaxed)
    return current == 0 && runRoundHere != nil ? lastRunner.load(ordering: .relaxed) : current
  }

  /// Runs `body` as if the calling thread were the loop's thread.
  func asCurrent<Result>(_ body: () -> Result) -> Result {
    lastRunner.store(CurrentCore.threadToken, ordering: .relaxed)
    currentThread.store(CurrentCore.threadToken, ordering: .relaxed)
    defer { currentThread.store(0, ordering: .relaxed) }
    return body()
  }

  /// Whether the calling thread, which runs the rounds, is inside of a turn of that runtime.
  @usableFromInline
  func isRunning(_ runtime: AnyObject) -> Bool { wasRunning == UInt(bitPattern: ObjectIdentifier(runtime)) }

  /// What `running` was a moment ago. Any thread.
  var wasRunning: UInt { running.load(ordering: .relaxed) }

  /// Notes whose turn begins, or with nil that it has ended. The thread that runs the rounds.
  @inlinable
  func setRunning(_ runtime: ObjectIdentifier?) {
    running.store(runtime.map { UInt(bitPattern: $0) } ?? 0, ordering: .relaxed)
  }

  /// Notes that jobs begin. The thread that runs the rounds.
  func setRunningJob() { running.store(1, ordering: .relaxed) }
}

// MARK: The end

extension LoopState {
  /// Whether nothing is accepted from other threads any more. Any thread.
  @inlinable
  var isClosed: Bool { lifecycle.isClosed }

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
    if lifecycle.isSealed, lifecycle.sealedToEnded() { lifecycle.runEndActions() }
  }

  /// Runs `action` once the loop has ended: on the thread that ends it, or at once if it has ended. Any thread.
  @usableFromInline
  func whenEnded(_ action: @escaping @Sendable () -> Void) { lifecycle.whenEnded(action) }
}
