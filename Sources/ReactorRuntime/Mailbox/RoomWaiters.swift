import ReactorCore
import Synchronization

/// The threads and tasks that wait for room in a mailbox, in the order in which they came; but see the last paragraph.
///
/// ```
///   waiter                                 owner
///   ──────                                 ─────
///   joins the line                         makes room
///   arms the flag (a heavy fence)          loads the flag (after a light fence)
///   may it retry?   no: sleeps             armed: takes waiters out of the line, and resumes them
/// ```
///
/// Either the waiter finds that it may retry, or the owner finds the flag armed. The flag stays armed while the line is not
/// empty. It is cleared under the lock of the line; a waiter that joins later arms it again.
///
/// The owner resumes only a few waiters for the room that it has made. Each waiter that was resumed, and has sent, or has
/// given up, resumes the next one if there still is room (``resumeNext(whileEmpty:)``). So a waiter that is left in the line
/// waits for the owner, which will make room again because it has something to process, or for a waiter that was resumed.
///
/// A task that was resumed may need a thread that is busy: that of its actor, or one of the pool. That may even be the one that is
/// behind it in the line. So while the mailbox is empty, no thread waits behind tasks: the first thread is resumed together with them.
/// And no task waits behind a few others: many are resumed at once if there is room.
@usableFromInline
final class RoomWaiters: Sendable {
  let line = SystemMutex(RoomLine())
  /// Nobody sleeps on it.
  @usableFromInline let flag: EventCount
  /// How often a thread may yield before it sleeps: less often if it then found no room. Relaxed: a guess.
  private let yields = Atomic(RoomWaiters.mostYields)

  /// How many more closures may be called for the room that the owner has made. Relaxed: it limits only.
  private let roomLeft = Atomic(0)

  private static var mostYields: Int { 512 }
  private static var fewestYields: Int { 8 }
  /// For how many waiters the owner makes system calls at a time; while the mailbox is empty, for how many threads.
  private static var mostAtOnce: Int { 8 }
  /// How many tasks it resumes then, before it goes on. It may be in the middle of a turn.
  private static var mostTasksAtOnce: Int { 64 }
  /// When the owner made room last while something waited, in nanoseconds. Relaxed: only the owner
  /// changes it, and it is a guess.
  private let lastRoom = Atomic<Int64>(0)

  /// How long a waiter waits for a quarter of the mailbox, in nanoseconds. Then any room will do; also if the owner takes as long from
  /// one release of slots to the next, since the next one may come late.
  private static var longestWaitForAmple: Int64 { 100_000 }

  @usableFromInline
  init() throws(CoreError) { flag = try EventCount() }

  // MARK: The owner

  /// Whether something may wait. The owner, after it has made room.
  @inlinable
  @inline(__always)
  var mayWait: Bool { flag.mustNotify }

  /// Resumes the waiters that came first. The owner.
  ///
  /// - Parameters:
  ///   - room: How much room there is.
  ///   - isAmple: Whether that is enough to wake waiters that came a moment ago.
  ///   - isEmpty: Whether the mailbox is empty.
  @usableFromInline
  func notify(of room: Int, isAmple: Bool, isEmpty: Bool) {
    var resumed: [RoomTicket] = []
    let now = MonotonicTime.now
    let isFast = now - lastRoom.exchange(now, ordering: .relaxed) < Self.longestWaitForAmple
    line.withLock { line in
      if let first = line.first, !isAmple, isFast, now - first.since < Self.longestWaitForAmple { return }
      // A thread that was resumed goes on, and resumes the next waiter itself.
      var threads = 0
      let most = min(room, isEmpty ? Self.mostTasksAtOnce : Self.mostAtOnce)
      while resumed.count < most, threads < Self.mostAtOnce, let ticket = line.removeFirst() {
        if ticket.isThread { threads += 1 }
        resumed.append(ticket)
      }
      if isEmpty, threads == 0, let thread = line.removeFirstThread() { resumed.append(thread) }
      if line.isEmpty { flag.notify() }
      roomLeft.store(room - resumed.count, ordering: .relaxed)
    }
    for ticket in resumed { ticket.resume() }
  }

  // MARK: Any thread

  /// Whether the owner has made no room for a while, so that a waiter should take any that is there: see `longestWaitForAmple`.
  var isOwnerSlow: Bool {
    MonotonicTime.now - lastRoom.load(ordering: .relaxed) >= Self.longestWaitForAmple
  }

  /// Takes a place of the room that the owner has made last. Returns false if there is none left.
  func tryTakeRoom() -> Bool { roomLeft.wrappingSubtract(1, ordering: .relaxed).oldValue > 0 }

  /// Resumes the waiter that came first; while the mailbox is empty, also the first thread.
  func resumeNext(whileEmpty isEmpty: Bool) {
    let (next, thread) = line.withLock { line in
      let next = line.removeFirst()
      return (next, isEmpty && next?.isThread == false ? line.removeFirstThread() : nil)
    }
    next?.resume()
    thread?.resume()
  }

  /// Resumes all waiters, whether there is room or not.
  func resumeAll() {
    var resumed: [RoomTicket] = []
    line.withLock { line in
      while let ticket = line.removeFirst() { resumed.append(ticket) }
      flag.notify()
    }
    for ticket in resumed { ticket.resume() }
  }

  /// How many wait.
  var count: Int { line.withLock { $0.count } }

  /// Puts the calling thread to sleep until it is resumed, or until the deadline.
  func sleep(_ ticket: RoomTicket, until deadline: ContinuousClock.Instant?, unless mayRetry: () -> Bool) {
    let (place, mustWait) = join(ticket, unless: mayRetry)
    if !mustWait { DedicatedThread.yield() }
    ticket.sleep(until: deadline)
    leave(ticket, place)
    // Relaxed: see its declaration.
    let limit = yields.load(ordering: .relaxed)
    yields.store(max(Self.fewestYields, limit / 2), ordering: .relaxed)
  }

  /// Suspends the task until it is resumed or cancelled, or until the deadline.
  nonisolated(nonsending)
    func suspend(
      _ ticket: RoomTicket, until deadline: ContinuousClock.Instant?, unless mayRetry: @Sendable () -> Bool
    ) async
  {
    let (place, mustWait) = join(ticket, unless: mayRetry)
    if !mustWait {
      DedicatedThread.yield()
      // The executor may be the loop that makes room, or wait for this task at its end.
      await SuspendedTask.yieldOnActor()
    }
    await waitOrGiveUp(at: deadline) {
      await ticket.suspend()
    } giveUp: { _ in
      ticket.resume()
    }
    leave(ticket, place)
  }

  /// Runs `call` once: when its turn has come, or at once if it may retry.
  ///
  /// - Returns: Whether it waits.
  func join(_ call: RoomCall, unless mayRetry: () -> Bool) -> Bool {
    let ticket = RoomTicket(of: call)
    let (place, mustWait) = join(ticket, unless: mayRetry)
    if mustWait { call.note(place, of: ticket, in: self) } else { leave(ticket, place) }
    return mustWait
  }

  /// - Returns: Where the ticket is, and false if the waiter may retry at once. Then it yields first: what it found may be up
  ///   to a thread in the middle of something, such as closing the ring.
  private func join(
    _ ticket: RoomTicket, unless mayRetry: () -> Bool
  ) -> (place: RoomLine.Place, mustWait: Bool) {
    let place = line.withLock { $0.append(ticket) }
    let mustWait = flag.arm(unless: mayRetry)
    if !mustWait { ticket.resume() }
    return (place, mustWait)
  }

  /// Leaves the line, if the waiter was resumed for another reason than room, or is withdrawn.
  ///
  /// - Returns: False if it had left before.
  @discardableResult
  func leave(_ ticket: RoomTicket, _ place: RoomLine.Place) -> Bool {
    // Destroyed after the lock.
    let removed = line.withLock { $0.remove(ticket, at: place) }
    return removed != nil
  }

  // MARK: Yielding before a sleep

  /// Whether a thread that has tried that often should sleep instead of yielding. Any thread.
  func shouldSleep(after attempts: Int) -> Bool { attempts > yields.load(ordering: .relaxed) }

  /// Notes that a thread found room after it had yielded that often, without a sleep. Any thread.
  func noteRoom(afterYields count: Int) {
    let limit = yields.load(ordering: .relaxed)
    if limit < Self.mostYields, count > limit / 2 { yields.store(limit * 2, ordering: .relaxed) }
  }
}

/// The tickets in the order in which they came. Those of threads are apart, so that the first of them is found in O(1).
struct RoomLine: Sendable {
  typealias Place = WaitingLine<RoomTicket>.Place

  private var threads = WaitingLine<RoomTicket>()
  private var others = WaitingLine<RoomTicket>()

  var count: Int { threads.count + others.count }
  var isEmpty: Bool { threads.isEmpty && others.isEmpty }
  /// How many tickets came, those that have left included.
  var total: UInt64 { threads.total + others.total }
  var first: RoomTicket? { isThreadFirst ? threads.first : others.first }

  private var isThreadFirst: Bool {
    guard let thread = threads.first else { return false }
    return others.first.map { thread.since < $0.since } ?? true
  }

  mutating func append(_ ticket: RoomTicket) -> Place {
    ticket.isThread ? threads.append(ticket) : others.append(ticket)
  }

  mutating func remove(_ ticket: RoomTicket, at place: Place) -> RoomTicket? {
    ticket.isThread ? threads.remove(at: place) : others.remove(at: place)
  }

  mutating func removeFirst() -> RoomTicket? {
    isThreadFirst ? threads.removeFirst() : others.removeFirst()
  }

  mutating func removeFirstThread() -> RoomTicket? { threads.removeFirst() }
}

/// A thread, task or closure that waits for room.
final class RoomTicket: Sendable {
  private enum Phase: Sendable {
    case new
    case suspended(SuspendedTask)
    case asleep(ThreadSignal)
    case calling(RoomCall)
    case over
  }

  private let phase: SystemMutex<Phase>
  /// On the clock of ``MonotonicTime``.
  let since = MonotonicTime.now
  /// Whether a thread sleeps, which can do nothing else meanwhile.
  let isThread: Bool

  /// - Parameter isThread: Whether a thread waits; otherwise a task.
  init(ofThread isThread: Bool) {
    phase = SystemMutex(.new)
    self.isThread = isThread
  }

  /// - Parameter call: What is run in place of resuming a thread or task.
  init(of call: RoomCall) {
    phase = SystemMutex(.calling(call))
    isThread = false
  }

  /// Suspends the task until some thread calls ``resume()``. The task, once.
  nonisolated(nonsending)
    func suspend() async
  {
    await SuspendedTask.suspend { tryBegin(.suspended($0)) }
  }

  /// Sleeps until some other thread calls ``resume()``, or until the deadline. The thread, once.
  func sleep(until deadline: ContinuousClock.Instant?) {
    let isResumed = ThreadSignal()
    guard tryBegin(.asleep(isResumed)) else { return }
    _ = isResumed.wait(until: deadline)
  }

  private func tryBegin(_ waiting: Phase) -> Bool {
    phase.withLock { phase in
      if case .over = phase { return false }
      phase = waiting
      return true
    }
  }

  /// Resumes the task or thread, now or as soon as it waits; or calls the closure, after the turn if the calling thread is
  /// inside of one. Any thread, any number of times.
  func resume() {
    let phase = phase.withLock { phase in
      defer { phase = .over }
      return phase
    }
    switch phase {
    case .suspended(let task): task.resume()
    case .asleep(let isResumed): isResumed.signal()
    case .calling(let call): call.runInSequence()
    case .new, .over: break
    }
  }
}
