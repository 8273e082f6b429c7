import ReactorCore
import Synchronization

/// The jobs and timers that a loop has taken in. Whoever runs its rounds.
@usableFromInline
struct LoopTasks: Sendable {
  /// Those before `next` have been run.
  private var jobs: [LoopJob] = []
  private var next = 0
  private var timers = TimerHeap()
  /// Whether there is anything to look at; beside the rest, so that a loop of reactors pays one look.
  @usableFromInline private(set) var isEmpty = true

  @usableFromInline
  init() {}

  /// Whether a job waits.
  @usableFromInline var hasJobs: Bool { next < jobs.count }
  /// When the first timer is due.
  @usableFromInline var deadline: Int64? { timers.earliest }
  /// How many jobs and timers wait, cancelled ones included.
  var count: Int { jobs.count - next + timers.count }

  /// Takes in what came, and sweeps cancelled timers before they are many.
  mutating func accept(_ mail: InboxContents, _ monitor: LoopMonitor, _ cancelled: CancelledTimers) {
    jobs.append(contentsOf: mail.jobs)
    for timer in mail.timers { timers.insert(timer) }
    if cancelled.wasCount > 64 + timers.count / 2 {
      let swept = timers.remove { $0.wasTaken }
      // In this order: who asks in between how many wait must not find too many.
      LoopMonitor.add(swept, to: monitor.tasksDone)
      cancelled.remove(swept)
    }
    noteCount(monitor)
  }

  /// Runs what is due: at most `limit` jobs and as many timers. Answers how many that were.
  mutating func run(upTo limit: Int, _ monitor: LoopMonitor, _ cancelled: CancelledTimers) -> Int {
    var ran = runTimers(upTo: limit, monitor, cancelled)
    // What a job submits comes in the next round.
    let end = min(jobs.count, next + limit)
    while next < end {
      let job = jobs[next]
      // Goes with its last reference, not with the whole batch.
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
    var (ran, looked) = (0, 0)
    while looked < limit, let timer = timers.removeFirst(dueBy: now) {
      looked += 1
      let body = timer.take()
      LoopMonitor.add(1, to: monitor.tasksDone)
      if let body {
        // As in a job.
        TurnMark.enter()
        body()
        TurnMark.leave()
        ran += 1
        monitor.noteJob()
      } else {
        cancelled.remove(1)
      }
    }
    return ran
  }

  /// Drops the timers: the loop was shut down.
  mutating func removeTimers(_ monitor: LoopMonitor, _ cancelled: CancelledTimers) {
    // Each is cancelled, so that what it captures goes now, whoever holds it.
    let removed = timers.remove { timer in
      timer.dispose()
      return true
    }
    LoopMonitor.add(removed, to: monitor.tasksDone)
    cancelled.remove(removed)
    noteCount(monitor)
  }

  private mutating func noteCount(_ monitor: LoopMonitor) {
    isEmpty = !hasJobs && timers.count == 0
    monitor.tasksNow.store(count, ordering: .relaxed)
  }
}

/// Something other than a reactor's turn that a loop runs once.
@usableFromInline
enum LoopJob: Sendable {
  case closure(@Sendable () -> Void)
  /// A piece of a task, with the executor that it was given to: retained, since a job does not retain it.
  case task(UnownedJob, any SerialExecutor)
  /// It was run.
  case done

  func run() {
    // A loop must not wait for room in the mailbox of another's reactor, which may wait for this one.
    TurnMark.enter()
    defer { TurnMark.leave() }
    switch self {
    case .closure(let body): body()
    case .task(let job, let executor): job.runSynchronously(on: executor.asUnownedSerialExecutor())
    case .done: break
    }
  }
}

/// Why a loop did not take a job or a timer.
public enum LoopError: Error, Hashable, Sendable {
  /// The loop was shut down.
  case closed
  /// As many wait as the loop's `jobCapacity` allows.
  case full
}

extension LoopError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .closed: "the loop was shut down"
    case .full: "too many jobs and timers wait for the loop"
    }
  }
}

/// Something that a loop runs once at a certain time, unless it is cancelled before.
final class LoopTimer: Disposable {
  /// Of ``MonotonicTime``.
  let deadline: Int64
  private let cancelled: CancelledTimers
  private let isTaken = Atomic(false)
  private let body: OwnerIsolated<(@Sendable () -> Void)?>

  init(at deadline: Int64, countedBy cancelled: CancelledTimers, _ body: @escaping @Sendable () -> Void) {
    self.deadline = deadline
    self.cancelled = cancelled
    self.body = OwnerIsolated(body)
  }

  /// Takes out what is to be run, once: nil if it was cancelled. The body belongs to whoever won.
  func take() -> (@Sendable () -> Void)? {
    // Acquire: what the thread that scheduled it wrote.
    if isTaken.exchange(true, ordering: .acquiring) { return nil }
    return body.value.take()
  }

  /// Prevents it, unless it has begun, and lets go of what it captures.
  func dispose() {
    if take() != nil { cancelled.add() }
  }

  /// Relaxed: it is only swept.
  var wasTaken: Bool { isTaken.load(ordering: .relaxed) }
}

/// How many cancelled timers are still in the heap of a loop, so that it sweeps them before they are many.
final class CancelledTimers: Sendable {
  // Relaxed: an estimate.
  private let count = Atomic(0)

  var wasCount: Int { count.load(ordering: .relaxed) }
  func add() { count.add(1, ordering: .relaxed) }
  func remove(_ removed: Int) { count.subtract(removed, ordering: .relaxed) }
}

/// Timers, the earliest first, and of two with the same time the one that came first: a binary heap.
struct TimerHeap: Sendable {
  private struct Entry: Sendable {
    let timer: LoopTimer
    let number: UInt64

    func isBefore(_ other: Entry) -> Bool {
      (timer.deadline, number) < (other.timer.deadline, other.number)
    }
  }

  private var entries: [Entry] = []
  private var made: UInt64 = 0

  var count: Int { entries.count }
  var earliest: Int64? { entries.first?.timer.deadline }

  /// - Complexity: O(log n).
  mutating func insert(_ timer: LoopTimer) {
    made += 1
    entries.append(Entry(timer: timer, number: made))
    rise(from: entries.count - 1)
  }

  /// Takes the earliest out if its time has come. O(log n).
  mutating func removeFirst(dueBy now: Int64) -> LoopTimer? {
    guard let first = entries.first, first.timer.deadline <= now else { return nil }
    let last = entries.removeLast()
    if !entries.isEmpty {
      entries[0] = last
      sink(from: 0)
    }
    return first.timer
  }

  /// Takes all out that fulfil the condition; answers how many. O(n).
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
