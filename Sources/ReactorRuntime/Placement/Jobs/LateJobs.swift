import Dispatch
import ReactorCore

/// Runs the pieces of tasks that a loop receives after it has ended. They cannot be refused, because a task
/// that is refused a piece never ends. So a thread of Dispatch runs them in the place of the loop's thread:
/// one at a time, in order.
///
/// A ``SerialDrain`` whose drainer is not named: nobody waits for it, and what is queued is not bounded.
final class LateJobs: Sendable {
  private let jobs = SystemMutex(SerialDrain<LoopJob>())

  /// Runs a job soon. Call it once the loop has ended. Any thread.
  func submit(_ job: LoopJob, to loop: LoopState) {
    let submission = jobs.withLock { $0.enqueue(job, on: 0) }
    guard case .becameDrainer = submission else { return }
    DispatchQueue.global().async { self.run(in: loop) }
  }

  private func run(in loop: LoopState) {
    // The thread stands for the loop's only while it runs a job: when there is none left, another thread may
    // be the drainer before this one returns.
    SerialDrain.drain(
      takeBatch: { jobs.withLock { $0.takeBatch() } }, handle: { job in loop.asCurrent { job.run() } })
  }
}
