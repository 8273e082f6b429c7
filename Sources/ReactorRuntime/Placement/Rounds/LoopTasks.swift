import ReactorCore
import Synchronization

/// The jobs and timers that a loop has taken in, and its watches. Only the thread that runs the rounds uses it.
@usableFromInline
struct LoopTasks: Sendable {
  /// The jobs before `next` have been run.
  private var jobs: [LoopJob] = []
  private var next = 0
  private var timers = TimerHeap()
  /// Timers that are due later are removed: the time at which the loop was found closed. `.max` until then.
  private var lastDeadline = Int64.max
  /// Nil if the loop has never watched a descriptor, or is closed.
  @usableFromInline private(set) var watches: LoopWatches?
  /// When the watches are polled.
  private var polling = PollingPace()
  /// Whether no job and no timer waits, and nothing is watched. Stored, so that a loop without any of these pays for one
  /// load.
  @usableFromInline private(set) var isEmpty = true

  @usableFromInline
  init() {}

  /// Whether a job waits.
  @usableFromInline var hasJobs: Bool { next < jobs.count }
  /// When the first timer is due.
  @usableFromInline var deadline: Int64? { timers.earliest }
  /// How many jobs and timers wait, including cancelled timers.
  var count: Int { jobs.count - next + timers.count }

  /// Takes in what came, and removes cancelled timers once they are many.
  mutating func accept(_ contents: InboxContents, _ monitor: LoopMonitor, _ cancelled: CancelledTimers) {
    jobs.append(contentsOf: contents.jobs)
    for timer in contents.timers { timers.insert(timer) }
    // They were taken in before the loop was closed, but come after it was found closed.
    if lastDeadline != .max, !contents.timers.isEmpty {
      removeTimers(after: lastDeadline, monitor, cancelled)
    }
    if let watches = contents.watches { self.watches = watches }
    if cancelled.wasCount > 64 + timers.count / 2 {
      let removed = timers.remove { $0.wasTaken }
      // In this order: a thread that counts what waits in between finds too few rather than too many.
      LoopMonitor.add(removed, to: monitor.tasksDone)
      cancelled.remove(removed)
    }
    noteCount(monitor)
  }

  /// Runs at most `limit` timers that are due, then the bodies of some descriptors that are ready, and then at most `limit`
  /// jobs; returns how many it ran.
  mutating func run(upTo limit: Int, _ monitor: LoopMonitor, _ cancelled: CancelledTimers) -> Int {
    var ran = runTimers(upTo: limit, monitor, cancelled)
    if let watches { ran += polling.run(watches, monitor) }
    // What these jobs submit is run in a later round.
    let end = min(jobs.count, next + limit)
    while next < end {
      let job = jobs[next]
      // What the job captures is released right after it, not after the whole batch.
      jobs[next] = .done
      next += 1
      job.run()
      ran += 1
      LoopMonitor.add(1, to: monitor.tasksDone)
      monitor.noteJob()
    }
    if next == jobs.count {
      jobs.removeAll(keepingCapacity: jobs.count <= 1024)
      next = 0
    } else if next > jobs.count / 2 {
      jobs.removeFirst(next)
      next = 0
    }
    noteCount(monitor)
    return ran
  }

  private mutating func runTimers(
    upTo limit: Int, _ monitor: LoopMonitor, _ cancelled: CancelledTimers
  ) -> Int {
    if timers.count == 0 { return 0 }
    let now = MonotonicTime.now
    var (ran, removed) = (0, 0)
    while removed < limit, let timer = timers.removeFirst(dueBy: now) {
      removed += 1
      let body = timer.take()
      LoopMonitor.add(1, to: monitor.tasksDone)
      if let body {
        body()
        ran += 1
        monitor.noteJob()
      } else {
        cancelled.remove(1)
      }
    }
    return ran
  }

  /// Cancels the timers that are not due: the loop was shut down. In each round from then on; it does something in the first
  /// one.
  mutating func removeTimersNotDue(_ monitor: LoopMonitor, _ cancelled: CancelledTimers) {
    if lastDeadline != .max { return }
    lastDeadline = MonotonicTime.now
    removeTimers(after: lastDeadline, monitor, cancelled)
  }

  private mutating func removeTimers(
    after deadline: Int64, _ monitor: LoopMonitor, _ cancelled: CancelledTimers
  ) {
    let removed = timers.remove { timer in
      if timer.deadline <= deadline { return false }
      // So that what it captures is released now, even if something still holds the timer.
      timer.dispose()
      return true
    }
    LoopMonitor.add(removed, to: monitor.tasksDone)
    cancelled.remove(removed)
    noteCount(monitor)
  }

  /// Ends all watches: the loop was shut down.
  mutating func endWatches(_ monitor: LoopMonitor) {
    guard let watches else { return }
    watches.close()
    self.watches = nil
    noteCount(monitor)
  }

  private mutating func noteCount(_ monitor: LoopMonitor) {
    isEmpty = !hasJobs && timers.count == 0 && watches == nil
    monitor.tasksNow.store(count, ordering: .relaxed)
  }
}

/// Decides in which rounds the watched descriptors are polled, since polling costs as much as several short turns: in each
/// round while the descriptors or nothing keeps the loop busy, and in every eighth while only the reactors do.
struct PollingPace: Sendable {
  private var turnsBefore = 0
  private var skipped = 0
  private var hasFound = false

  static var longest: Int { 7 }

  /// In each round; returns how many bodies were called.
  mutating func run(_ watches: LoopWatches, _ monitor: LoopMonitor) -> Int {
    let turns = monitor.turns.load(ordering: .relaxed)
    let hasTurned = turns != turnsBefore
    turnsBefore = turns
    if hasTurned, !hasFound, skipped < Self.longest {
      skipped += 1
      return 0
    }
    skipped = 0
    let ran = watches.run(monitor)
    hasFound = ran > 0
    return ran
  }
}

/// Something other than a reactor's turn that a loop runs once.
@usableFromInline
enum LoopJob: Sendable {
  case closure(@Sendable () -> Void)
  /// A piece of a task, with the executor that it was given to. The job does not retain that.
  case task(UnownedJob, any SerialExecutor)
  /// The job was run.
  case done

  func run() {
    switch self {
    case .closure(let body): body()
    case .task(let job, let executor): job.runSynchronously(on: executor.asUnownedSerialExecutor())
    case .done: break
    }
  }
}

/// Something that a loop runs once at a certain time, unless it is cancelled before.
final class LoopTimer: Disposable {
  /// In the time of ``MonotonicTime``.
  let deadline: Int64
  private let cancelled: CancelledTimers
  private let isTaken = Atomic(false)
  private let body: OwnerIsolated<(@Sendable () -> Void)?>

  init(at deadline: Int64, countedBy cancelled: CancelledTimers, _ body: @escaping @Sendable () -> Void) {
    self.deadline = deadline
    self.cancelled = cancelled
    self.body = OwnerIsolated(body)
  }

  /// Takes the body out, once: returns nil if the timer was cancelled or has run. Any thread; the one that sets the flag
  /// is the only one that touches the body.
  func take() -> (@Sendable () -> Void)? {
    // Acquire: what the thread that scheduled it wrote, of which the body is a part.
    if isTaken.exchange(true, ordering: .acquiring) { return nil }
    return body.value.take()
  }

  /// Cancels the timer, unless its body has begun, and releases what it captures. Any thread.
  func dispose() {
    if take() != nil { cancelled.add() }
  }

  /// Whether it was cancelled or has run. Relaxed: decides only about removing it early.
  var wasTaken: Bool { isTaken.load(ordering: .relaxed) }
}

/// How many cancelled timers a loop still has, so that it removes them once they are many.
final class CancelledTimers: Sendable {
  // Relaxed: estimates.
  private let count = Atomic(0)
  private let everCancelled = Atomic(0)

  var wasCount: Int { count.load(ordering: .relaxed) }
  /// How many were ever cancelled, those included that were removed since.
  var wasTotal: Int { everCancelled.load(ordering: .relaxed) }

  func add() {
    count.add(1, ordering: .relaxed)
    everCancelled.add(1, ordering: .relaxed)
  }

  func remove(_ removed: Int) { count.subtract(removed, ordering: .relaxed) }
}

/// A binary heap of timers, the earliest first. Of two with the same time, the one that came first is first.
struct TimerHeap: Sendable {
  private struct Entry: Sendable {
    let timer: LoopTimer
    let number: UInt64

    func isBefore(_ other: Entry) -> Bool {
      (timer.deadline, number) < (other.timer.deadline, other.number)
    }
  }

  private var entries: [Entry] = []
  private var inserted: UInt64 = 0

  var count: Int { entries.count }
  var earliest: Int64? { entries.first?.timer.deadline }

  /// - Complexity: O(log n).
  mutating func insert(_ timer: LoopTimer) {
    inserted += 1
    entries.append(Entry(timer: timer, number: inserted))
    rise(from: entries.count - 1)
  }

  /// Removes the earliest timer if its time has come.
  ///
  /// - Complexity: O(log n).
  mutating func removeFirst(dueBy now: Int64) -> LoopTimer? {
    guard let first = entries.first, first.timer.deadline <= now else { return nil }
    let last = entries.removeLast()
    if !entries.isEmpty {
      entries[0] = last
      sink(from: 0)
    }
    return first.timer
  }

  /// Removes every timer that fulfils the condition, and returns how many.
  ///
  /// - Complexity: O(n).
  mutating func remove(where condition: (LoopTimer) -> Bool) -> Int {
    let before = entries.count
    entries.removeAll { condition($0.timer) }
    for index in stride(from: entries.count / 2 - 1, through: 0, by: -1) { sink(from: index) }
    return before - entries.count
  }

  private mutating func rise(from start: Int) {
    var index = start
    while index > 0, case let parent = (index - 1) / 2, entries[index].isBefore(entries[parent]) {
      entries.swapAt(index, parent)
      index = parent
    }
  }

  private mutating func sink(from start: Int) {
    var index = start
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < entries.count && entries[child].isBefore(entries[least]) {
        least = child
      }
      if least == index { return }
      entries.swapAt(index, least)
      index = least
    }
  }
}
