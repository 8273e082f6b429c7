import ReactorCore
import Synchronization

/// What is on its way to a loop: reactors, each at most once, and jobs and timers.
///
/// A reactor normally goes through a ring. If that is full, it is kept beside the ring under a lock, so that no sender
/// waits for the loop, which may be busy with a long turn or may be the sender itself. Jobs and timers always go
/// under the lock: they allocate anyway, and this keeps the order of those that one thread submits.
@usableFromInline
struct LoopInbox: ~Copyable, Sendable {
  @usableFromInline let ring: Ring<ScheduledReactor>
  /// What the thread of the loop sleeps on.
  @usableFromInline let wake: EventCount
  /// Wakes what runs the rounds, in place of `wake`.
  private let signal: (@Sendable () -> Void)?
  private let contents = SystemMutex(InboxContents())
  /// Whether `contents` may hold something; spares the loop the lock.
  ///
  /// Relaxed: it changes under the lock only. A loop that reads an old value takes the contents in a later round; one
  /// that is about to sleep reads it after the fence of `wake`, and whatever set it notifies afterwards.
  @usableFromInline let hasContents = Atomic(false)

  /// - Parameters:
  ///   - kind: What the thread of the loop sleeps on.
  ///   - signal: Called in place of waking that thread, on the thread that submits.
  @usableFromInline
  init(waking kind: EventCountKind = .futex, signal: (@Sendable () -> Void)? = nil) throws(CoreError) {
    let ring = try Ring<ScheduledReactor>(capacity: 1024)
    wake = try EventCount(kind)
    self.ring = ring
    self.signal = signal
  }

  // MARK: Any thread

  /// Takes a reactor in and wakes the loop; returns false once the ring is closed. Any thread. It does not wait,
  /// except for other threads that find the ring full at the same moment.
  @usableFromInline
  func submit(_ reactor: ScheduledReactor) -> Bool {
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
    if let signal { signal() } else { wake.notify() }
  }

  private func submitBesideRing(_ reactor: ScheduledReactor, evenIfClosed: Bool) -> Bool {
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
  func submitFromTurn(_ reactor: ScheduledReactor) { _ = submitBesideRing(reactor, evenIfClosed: true) }

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

/// What is on its way to a loop beside the ring, under a lock.
@usableFromInline
struct InboxContents: Sendable {
  /// Those that found the ring full, and those that the loop's own turns scheduled.
  var reactors: [ScheduledReactor] = []
  var jobs: [LoopJob] = []
  var timers: [LoopTimer] = []
  /// How many jobs and timers were ever taken in, without the cancelled timers that were removed here.
  var submitted = 0

  var isEmpty: Bool { reactors.isEmpty && jobs.isEmpty && timers.isEmpty }

  /// Removes the timers that were cancelled, and returns how many.
  mutating func removeCancelledTimers() -> Int {
    let before = timers.count
    timers.removeAll { $0.wasTaken }
    submitted -= before - timers.count
    return before - timers.count
  }

  /// Removes and returns all contents; keeps the count of submissions.
  mutating func take() -> InboxContents {
    defer {
      reactors = []
      jobs = []
      timers = []
    }
    return self
  }
}
