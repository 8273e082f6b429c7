import ReactorCore

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
