import Dispatch
import ReactorCore

/// Pieces of tasks that a loop gets when it is over. Nobody may refuse them: a task would never end. So they
/// are run one at a time, in order, on a thread of Dispatch's in the place of the loop's.
final class LateJobs: Sendable {
  private struct Waiting: Sendable {
    var jobs: [LoopJob] = []
    var isRunning = false
  }

  private let waiting = SystemMutex(Waiting())

  /// Once the loop is over. Any thread.
  func submit(_ job: LoopJob, to loop: LoopState) {
    let isFirst = waiting.withLock { waiting in
      waiting.jobs.append(job)
      defer { waiting.isRunning = true }
      return !waiting.isRunning
    }
    if isFirst { DispatchQueue.global().async { self.run(in: loop) } }
  }

  private func run(in loop: LoopState) {
    while true {
      let jobs = waiting.withLock { waiting in
        defer { waiting.jobs = [] }
        waiting.isRunning = !waiting.jobs.isEmpty
        return waiting.jobs
      }
      if jobs.isEmpty { return }
      loop.asCurrent { for job in jobs { job.run() } }
    }
  }
}
