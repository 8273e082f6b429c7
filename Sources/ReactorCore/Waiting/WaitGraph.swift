import Synchronization

/// Finds deadlocks before they happen: which sleeping thread waits for which other threads.
///
/// A thread enters this graph before it sleeps until another thread has made room, has finished a change, or has ended
/// its reads. If one of these threads waits, directly or through others, for the first one, the sleep would never end.
/// ``enter(_:)`` then says so, and the thread must do something else, such as exceed a limit or fail. A thread that
/// need not sleep does not come here, so the graph costs nothing on the usual path.
///
/// A wait that may be given up without a loss is elastic. If a thread that closes a cycle finds such a wait in it, that one ends, and the
/// thread sleeps.
///
/// Each cycle is found, and one of its waits ends. Threads enter in one order, and each searches what entered before it. A sleeping
/// thread keeps what it owns and what it reads, so an edge of the graph does not change until that thread wakes. The
/// thread that closes a cycle is the last of it to enter, so it finds the whole cycle. A thread whose wait is over by now
/// stays in the graph until it has woken; it waits for nobody, so the search ends there.
///
/// The lock of the graph is held only to enter, to leave and to find a thread. The closures of a ``Wait`` are called, and
/// waits are destroyed, outside of it. So a search may meet threads that have woken since, or that are about to be refused
/// themselves. Before a thread is refused, it checks under the lock that the whole cycle is still there, and asleep;
/// otherwise it searches again. Its own wait may be over as well: it decided to sleep before it entered, and those that made
/// it wait may have gone on and begun to wait for it since.
///
/// Any thread may call these functions.
public enum WaitGraph {
  /// The thread that another one waits for.
  public struct Emptier: Sendable {
    /// Its token; 0 if there is none.
    let thread: UInt64
    /// Whether it is outside of the rounds of a loop that it hosts, and need only run the next one.
    let isBetweenRounds: Bool
    /// If not nil, any thread that is inside of this queue.
    let queue: ObjectIdentifier?

    /// Describes a thread by its token; 0 if there is none.
    public init(_ thread: UInt64, isBetweenRounds: Bool = false) {
      self.thread = thread
      self.isBetweenRounds = isBetweenRounds
      queue = nil
    }

    /// Describes the thread that is inside of a queue, such as Dispatch's, which runs the rounds of a loop on any thread. If no
    /// thread that waits is inside of it, the queue can run the next round.
    public init(inside queue: ObjectIdentifier) {
      thread = 0
      isBetweenRounds = true
      self.queue = queue
    }

    /// Whether a wait of that thread keeps it from what is waited for.
    func isHeldUp(by wait: Wait) -> Bool {
      if let queue { return wait.queues.contains(queue) }
      return thread == wait.thread && !(isBetweenRounds && wait.runsRounds)
    }
  }

  /// What a thread does that has entered.
  public enum Entrance: Sendable {
    /// It sleeps, and calls ``WaitGraph/leave(_:)`` when it has woken.
    case sleeps
    /// It tries again: its wait was over before it entered. Nothing is noted.
    case triesAgain
    /// It must not sleep, since nobody would wake it. Nothing is noted.
    case wouldSleepForEver
  }

  /// A thread that is about to sleep.
  public final class Wait: Sendable {
    /// Whom it waits for.
    enum Target: Sendable {
      case thread(@Sendable () -> Emptier)
      /// The threads that read the state at this address. Only those that sleep are known.
      case readers(UInt)
    }

    /// The token (``Core/threadToken``) of the thread that sleeps.
    public let thread: UInt64
    let target: Target
    let isOver: @Sendable () -> Bool
    let wake: @Sendable () -> Void
    /// The addresses of the states that the thread reads.
    let reads: [UInt]
    /// Whether the thread wakes again and again, and runs rounds of loops that it hosts.
    let runsRounds: Bool
    /// The queues that the thread is inside of, and whose rounds it does not run.
    let queues: [ObjectIdentifier]
    /// Whether the thread can go on without what it waits for, and loses nothing.
    let isElastic: Bool
    /// Releasing and acquiring: what has made the other thread wait comes before the end of this wait.
    private let wasGivenUp = Atomic(false)
    /// Whether the thread has left the graph. While other threads call the closures they hold this lock, so that what
    /// the closures use still exists.
    private let hasLeft = SystemMutex(false)

    /// Describes a wait for another thread. The closures are called by threads that enter the graph later, until this one
    /// has left it. One of them is called at a time. They must not call this graph.
    ///
    /// - Parameters:
    ///   - thread: The token of the thread that sleeps.
    ///   - emptier: Returns the token of the thread that must make the room, or finish the change, at the moment of the
    ///     call; 0 if there is none.
    ///   - isOver: Returns whether there is room, or the change is finished.
    ///   - wake: Wakes the thread, so that it checks `isOver` again.
    ///   - reads: The addresses of the states with one place that the thread reads.
    ///   - isElastic: Whether the thread can go on without what it waits for: it looks at ``mustGiveUp``, too.
    public convenience init(
      thread: UInt64, emptier: @escaping @Sendable () -> UInt64, isOver: @escaping @Sendable () -> Bool,
      wake: @escaping @Sendable () -> Void, reads: [UnsafeRawPointer] = [], isElastic: Bool = false
    ) {
      self.init(thread, .thread { Emptier(emptier()) }, isOver, wake, reads, isElastic: isElastic)
    }

    /// Describes a wait of a thread that may be a host of loops, or for one; otherwise the same.
    ///
    /// - Parameters:
    ///   - thread: The token of the thread that sleeps.
    ///   - runsRounds: Whether the thread leaves the graph after a short time, runs rounds of the loops that it hosts, and enters
    ///     again. Then a thread that waits for such a round does not wait for it in a cycle.
    ///   - queues: The queues that the thread is inside of, and whose rounds it does not run: see ``Emptier/init(inside:)``.
    ///   - emptier: Returns the thread that must make the room, at the moment of the call.
    ///   - isOver: Returns whether there is room.
    ///   - wake: Wakes the thread, so that it checks `isOver` again.
    public convenience init(
      thread: UInt64, runsRounds: Bool, insideOf queues: [ObjectIdentifier],
      emptier: @escaping @Sendable () -> Emptier, isOver: @escaping @Sendable () -> Bool,
      wake: @escaping @Sendable () -> Void
    ) {
      self.init(thread, .thread(emptier), isOver, wake, [], runsRounds: runsRounds, queues: queues)
    }

    /// Describes a wait for all threads that read the state at an address; otherwise the same.
    public convenience init(
      thread: UInt64, readersOf state: UnsafeRawPointer, isOver: @escaping @Sendable () -> Bool,
      wake: @escaping @Sendable () -> Void, reads: [UnsafeRawPointer] = []
    ) {
      self.init(thread, .readers(UInt(bitPattern: state)), isOver, wake, reads)
    }

    private init(
      _ thread: UInt64, _ target: Target, _ isOver: @escaping @Sendable () -> Bool,
      _ wake: @escaping @Sendable () -> Void, _ reads: [UnsafeRawPointer], runsRounds: Bool = false,
      queues: [ObjectIdentifier] = WaitGraph.queuesHere, isElastic: Bool = false
    ) {
      self.thread = thread
      self.target = target
      self.isOver = isOver
      self.wake = wake
      self.reads = reads.map { UInt(bitPattern: $0) }
      self.runsRounds = runsRounds
      self.queues = queues
      self.isElastic = isElastic
    }

    /// Whether the thread must go on, since another one would otherwise wait for it in a cycle. Called by the waiting thread.
    public var mustGiveUp: Bool { wasGivenUp.load(ordering: .acquiring) }

    /// Ends an elastic wait. Any thread.
    fileprivate func giveUp() {
      wasGivenUp.store(true, ordering: .releasing)
      _ = wakeIfOver()
    }

    /// Wakes the thread if its wait is over, and returns whether it is. Any thread.
    fileprivate func wakeIfOver() -> Bool {
      hasLeft.withLock { hasLeft in
        if hasLeft { return true }
        if !mustGiveUp, !isOver() { return false }
        // The thread that makes the room may have told nobody yet, and the caller may be that thread.
        wake()
        return true
      }
    }

    /// The thread that it waits for. Any thread.
    fileprivate func emptier(_ find: () -> Emptier) -> Emptier {
      hasLeft.withLock { hasLeft in hasLeft ? Emptier(0) : find() }
    }

    fileprivate func leave() { hasLeft.withLock { $0 = true } }
  }

  private struct Entry: Sendable {
    let wait: Wait
    /// The place in the order in which threads entered.
    let number: UInt64
    /// Whether the search of the thread has found no cycle.
    var isAsleep = false
  }

  private struct Entries: Sendable {
    /// By the token of the thread.
    var all: [UInt64: Entry] = [:]
    var nextNumber: UInt64 = 0
  }

  private static let entries = SystemMutex(Entries())

  /// The addresses of the states with one place that the calling thread reads: for a ``Wait`` of code that knows no states.
  package static var readsHere: [UnsafeRawPointer] { ThreadRead.states }

  /// What finds the queues that a thread is inside of.
  private final class QueueFinder: Sendable {
    let find: @Sendable () -> [ObjectIdentifier]

    init(_ find: @escaping @Sendable () -> [ObjectIdentifier]) { self.find = find }
  }

  private static let queueFinder = SystemMutex<QueueFinder?>(nil)

  /// Sets what finds the queues that the calling thread is inside of, of those that run rounds of loops. The first call counts.
  package static func findQueues(by find: @escaping @Sendable () -> [ObjectIdentifier]) {
    queueFinder.withLock { finder in if finder == nil { finder = QueueFinder(find) } }
  }

  private static var queuesHere: [ObjectIdentifier] { queueFinder.withLock { $0 }?.find() ?? [] }

  /// Notes that a thread is about to sleep.
  ///
  /// - Complexity: O(n) in the number of threads that wait for each other in a row; O(n) in the number of all threads that
  ///   sleep, for each of these that waits for readers, or for a thread inside of a queue.
  public static func enter(_ wait: Wait) -> Entrance {
    let number = entries.withLock { entries in
      let number = entries.nextNumber
      entries.nextNumber += 1
      entries.all[wait.thread] = Entry(wait: wait, number: number)
      return number
    }
    var yields = 0
    while let cycle = findCycle(closedBy: wait, number) {
      if !isAsleep(cycle) {
        yields += 1
        // Sleeping lets a thread run that this one has preempted by its priority.
        if yields <= 8 { DedicatedThread.yield() } else { DedicatedThread.sleepMoment() }
      } else if !wait.isElastic, let elastic = cycle.first(where: \.isElastic) {
        // Perhaps this thread's own wait is over. Then the other one is given up for nothing, which does no harm.
        elastic.giveUp()
      } else {
        // All others of the cycle sleep, so if the wait of this one is over, it remains so until this thread goes on.
        leave(wait)
        return wait.isOver() ? .triesAgain : .wouldSleepForEver
      }
    }
    entries.withLock { $0.all[wait.thread]?.isAsleep = true }
    return .sleeps
  }

  /// Notes that a thread has woken.
  public static func leave(_ wait: Wait) {
    // Destroyed after the lock.
    let removed = entries.withLock { $0.all.removeValue(forKey: wait.thread) }
    removed?.wait.leave()
  }

  /// Follows the edges of the threads that have entered before.
  ///
  /// - Returns: The other threads of a cycle; nil if there is none.
  private static func findCycle(closedBy wait: Wait, _ number: UInt64) -> [Wait]? {
    // Each with the index of the one that waits for it.
    var path: [(wait: Wait, waiter: Int)] = [(wait, -1)]
    var visited: Set<UInt64> = [wait.thread]
    var next = [0]
    while let index = next.popLast() {
      let blocked = path[index].wait
      let isClosing: Bool
      let targets: [Wait]
      switch blocked.target {
      case .thread(let find):
        let emptier = blocked.emptier(find)
        isClosing = emptier.isHeldUp(by: wait)
        targets = isClosing ? [] : Self.find(emptier, before: number)
      case .readers(let state):
        isClosing = wait.reads.contains(state)
        targets = isClosing ? [] : find(readersOf: state, before: number)
      }
      if isClosing {
        var cycle: [Wait] = []
        var index = index
        while index > 0 {
          cycle.append(path[index].wait)
          index = path[index].waiter
        }
        return cycle
      }
      for target in targets where visited.insert(target.thread).inserted {
        if target.wakeIfOver() { continue }
        path.append((target, index))
        next.append(path.count - 1)
      }
    }
    return nil
  }

  private static func find(_ emptier: Emptier, before number: UInt64) -> [Wait] {
    entries.withLock { entries in
      if emptier.queue != nil {
        return entries.all.values.compactMap { entry in
          entry.number < number && emptier.isHeldUp(by: entry.wait) ? entry.wait : nil
        }
      }
      guard let entry = entries.all[emptier.thread], entry.number < number else { return [] }
      return emptier.isHeldUp(by: entry.wait) ? [entry.wait] : []
    }
  }

  private static func find(readersOf state: UInt, before number: UInt64) -> [Wait] {
    entries.withLock { entries in
      entries.all.values.compactMap { entry in
        entry.number < number && entry.wait.reads.contains(state) ? entry.wait : nil
      }
    }
  }

  /// Whether the cycle is still there. It is not if a thread of it has left. One that is not asleep yet may be refused itself.
  private static func isAsleep(_ cycle: [Wait]) -> Bool {
    entries.withLock { entries in
      cycle.allSatisfy { blocked in
        guard let entry = entries.all[blocked.thread] else { return false }
        return entry.wait === blocked && entry.isAsleep
      }
    }
  }
}
