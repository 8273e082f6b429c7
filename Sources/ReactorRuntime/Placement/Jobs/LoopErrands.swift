import ReactorCore
import Synchronization

/// The jobs and timers that a loop has taken in. Whoever runs its rounds.
@usableFromInline
struct LoopErrands: Sendable {
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
  mutating func accept(_ mail: LoopMail, _ monitor: LoopMonitor, _ cancelled: CancelledTimers) {
    jobs.append(contentsOf: mail.jobs)
    for timer in mail.timers { timers.insert(timer) }
    if cancelled.wasCount > 64 + timers.count / 2 {
      let swept = timers.remove { $0.wasTaken }
      // In this order: who asks in between how many wait must not find too many.
      LoopMonitor.add(swept, to: monitor.errandsDone)
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
      LoopMonitor.add(1, to: monitor.errandsDone)
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
      LoopMonitor.add(1, to: monitor.errandsDone)
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
    LoopMonitor.add(removed, to: monitor.errandsDone)
    cancelled.remove(removed)
    noteCount(monitor)
  }

  private mutating func noteCount(_ monitor: LoopMonitor) {
    isEmpty = !hasJobs && timers.count == 0
    monitor.errandsNow.store(count, ordering: .relaxed)
  }
}
