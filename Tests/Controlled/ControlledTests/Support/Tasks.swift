import ReactorCore
import ReactorRuntime
import Synchronization

/// Runs tasks on a controlled thread, which it has while it lives. Tasks run nowhere else, so that their pieces are a part of
/// the schedule.
final class Tasks: TaskExecutor {
  private let loop: Loop

  init() {
    // There is memory.
    loop = try! Loop(name: "tasks", waiting: .parking(after: .zero))
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // The loop is open until `finish()`, when all tasks have ended.
    try! loop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }

  /// Starts a task.
  func start(_ body: @escaping @Sendable () async -> Void) -> RunningTask {
    let latch = Latch()
    let task = Task(executorPreference: self) {
      await body()
      latch.open()
    }
    return RunningTask(task: task, latch: latch)
  }

  /// Releases what the tasks held. All of them have ended.
  func finish() { loop.shutdown() }
}

/// A task of a body.
struct RunningTask: Sendable {
  fileprivate let task: Task<Void, Never>
  fileprivate let latch: Latch

  var isOver: Bool { latch.hasHappened }

  func cancel() { task.cancel() }

  /// Waits until the task has ended. A controlled thread that runs no tasks.
  func join() { latch.wait() }
}

/// Something that happens once, and that threads wait for.
final class Latch: Sendable {
  // There is memory.
  private let event = try! EventCount()
  private let flag = Atomic(false)

  var hasHappened: Bool { flag.load(ordering: .acquiring) }

  func open() {
    flag.store(true, ordering: .releasing)
    event.notify()
  }

  func wait() {
    while !hasHappened {
      _ = event.wait { hasHappened }
    }
  }
}
