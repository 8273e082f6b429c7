import ReactorCore
import Synchronization

/// What is on its way to a loop: runtimes, each at most once, as many as there are; and jobs and timers.
///
/// Normally runtimes go through a ring. What does not fit there is kept beside it under a lock, so that
/// nobody waits for the loop: it may be busy with a long turn, or it may be the caller. Jobs and timers
/// always are there: they allocate anyway, and their order is theirs alone.
@usableFromInline
struct LoopInbox: ~Copyable, Sendable {
  @usableFromInline let ring: Ring<Scheduled>
  @usableFromInline let wake: EventCount
  /// Wakes whoever runs the rounds, in place of `wake`.
  private let bell: (@Sendable () -> Void)?
  private let mail = SystemMutex(InboxContents())
  /// Whether `mail` may hold something; spares the loop the lock.
  @usableFromInline let hasContents = Atomic(false)

  @usableFromInline
  init(waking kind: EventCountKind = .futex, bell: (@Sendable () -> Void)? = nil) throws(CoreError) {
    let ring = try Ring<Scheduled>(capacity: 1024)
    wake = try EventCount(kind)
    self.ring = ring
    self.bell = bell
  }

  private func notify() {
    if let bell { bell() } else { wake.notify() }
  }

  /// Takes a runtime in and wakes the loop; false once it is closed. Any thread; waits for nobody but for
  /// another that finds the ring full at the same moment.
  @usableFromInline
  func submit(_ scheduled: Scheduled) -> Bool {
    switch ring.trySend(scheduled) {
    case .closed: return false
    case .full: if !submitToContents(scheduled, evenIfClosed: false) { return false }
    case .accepted: break
    }
    notify()
    return true
  }

  /// Takes in what the loop's own thread scheduled, from inside a turn; closed or not. The loop.
  @usableFromInline
  func submitHere(_ scheduled: Scheduled) { _ = submitToContents(scheduled, evenIfClosed: true) }

  private func submitToContents(_ scheduled: Scheduled, evenIfClosed: Bool) -> Bool {
    addToContents(unless: { _ in ring.isClosed && !evenIfClosed }, { $0.reactors.append(scheduled) })
  }

  /// Adds something to the mail and wakes the loop, unless `isRefused`. Any thread.
  func post(unless isRefused: (inout InboxContents) -> Bool, _ add: (inout InboxContents) -> Void) -> Bool {
    let isAdded = addToContents(unless: isRefused, add)
    if isAdded { notify() }
    return isAdded
  }

  private func addToContents(
    unless isRefused: (inout InboxContents) -> Bool, _ add: (inout InboxContents) -> Void
  ) -> Bool {
    mail.withLock { mail in
      // Under the lock: who finds the intake closed and then takes the lock sees all that got in before.
      if isRefused(&mail) { return false }
      add(&mail)
      hasContents.store(true, ordering: .relaxed)
      return true
    }
  }

  /// Refuses what comes from now on. Any thread.
  @usableFromInline
  func close() {
    ring.close()
    notify()
  }

  /// Takes out what is beside the ring. The loop.
  func takeContents() -> InboxContents {
    mail.withLock { mail in
      hasContents.store(false, ordering: .relaxed)
      return mail.take()
    }
  }

  /// Whether it is closed and nothing will come any more; then it is over. The loop.
  @inlinable
  func end() -> Bool { ring.isClosed && ring.isEmpty && endContents() }

  @usableFromInline
  func endContents() -> Bool {
    mail.withLock { mail in
      if mail.isEmpty { mail.isOver = true }
      return mail.isOver
    }
  }

  /// How much waits. Any thread.
  var wasCounts: (reactors: Int, jobs: Int) {
    let (reactors, jobs) = mail.withLock { ($0.reactors.count, $0.jobs.count) }
    return (ring.wasCount + reactors, jobs)
  }

  /// Whether something has come that was not taken in. The loop.
  var isWaiting: Bool { ring.isReady || hasContents.load(ordering: .relaxed) }

  /// Whether the loop has something to look at. The loop.
  @inlinable
  var isReady: Bool { ring.isReady || ring.isClosed || hasContents.load(ordering: .relaxed) }
}

/// What is on its way to a loop beside the ring, under a lock.
@usableFromInline
struct InboxContents: Sendable {
  /// Those that found the ring full, and those that the loop's own turns scheduled.
  var reactors: [Scheduled] = []
  var jobs: [LoopJob] = []
  var timers: [LoopTimer] = []
  /// How many jobs and timers that count were ever taken in.
  var submitted = 0
  /// Whether the loop will never look again.
  var isOver = false

  var isEmpty: Bool { reactors.isEmpty && jobs.isEmpty && timers.isEmpty }

  /// Answers how many.
  mutating func removeCancelledTimers() -> Int {
    let before = timers.count
    timers.removeAll { $0.wasTaken }
    submitted -= before - timers.count
    return before - timers.count
  }

  /// Takes out what is there.
  mutating func take() -> InboxContents {
    defer {
      reactors = []
      jobs = []
      timers = []
    }
    return self
  }
}
