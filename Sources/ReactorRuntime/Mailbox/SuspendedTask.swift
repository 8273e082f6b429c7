import Dispatch
import ReactorCore

/// A task that is suspended, and that any thread may resume, once.
///
/// Swift resumes a continuation on a thread of its pool, from which the task then goes to its actor. An actor on a loop, and the main
/// actor, would wait for that while all threads of the pool are busy; for ever, if these wait for what the task does next. So a task of
/// an actor waits for a ``TaskGate``. Any other task needs the pool in any case.
package enum SuspendedTask: Sendable {
  case ofPool(CheckedContinuation<Void, Never>)
  case ofActor(TaskGate)

  /// Suspends the calling task until it is resumed, unless `begin` returns false. It stays on the executor of its caller. The task.
  ///
  /// - Parameter begin: Gives the task to what resumes it. Called once; returns false if the task need not wait.
  nonisolated(nonsending)
    package static func suspend(_ begin: (SuspendedTask) -> Bool) async
  {
    let isolation: (any Actor)? = #isolation
    if isolation == nil {
      return await withCheckedContinuation { continuation in
        if !begin(.ofPool(continuation)) { continuation.resume() }
      }
    }
    let gate = TaskGate()
    if begin(.ofActor(gate)) { await gate.pass() }
  }

  /// Lets the executor of the calling task's actor run other tasks first. Does nothing if the task is of no actor.
  nonisolated(nonsending)
    static func yieldOnActor() async
  {
    // A variable, since Swift 6.3.1 fails to compile the comparison with the macro itself.
    let isolation: (any Actor)? = #isolation
    if isolation == nil { return }
    await suspend {
      $0.resume()
      return true
    }
  }

  /// Resumes the task, now or as soon as it waits. Any thread, once.
  package func resume() {
    switch self {
    case .ofPool(let continuation): continuation.resume()
    case .ofActor(let gate): gate.open()
    }
  }
}

/// Holds one task back until it is opened.
///
/// It is an actor whose executor keeps what is to run until then. The thread that opens the gate runs that: ``pass()``, after which the
/// task leaves for the executor that it came from. So nothing else of the task runs on that thread, unless that executor runs what it
/// gets at once.
package actor TaskGate: SerialExecutor {
  private enum Phase: Sendable {
    case closed
    case holds(UnownedJob)
    case open
  }

  private let phase = SystemMutex(Phase.closed)
  private var isPassed = false

  package nonisolated var unownedExecutor: UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Returns when the gate is open. One task, once.
  // Not inlined, and it changes something: otherwise the compiler might find that the task need not come here.
  @inline(never)
  func pass() { isPassed = true }

  /// Opens the gate. Any thread, once.
  nonisolated func open() {
    let before = phase.withLock { phase in
      defer { phase = .open }
      return phase
    }
    if case .holds(let job) = before { job.runSynchronously(on: unownedExecutor) }
  }

  /// Takes the task in that passes. The Swift runtime calls it.
  package nonisolated func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isOpen = phase.withLock { phase in
      if case .open = phase { return true }
      phase = .holds(job)
      return false
    }
    if isOpen { job.runSynchronously(on: unownedExecutor) }
  }
}

/// Why a task waits no longer, if not for what it has waited for.
@usableFromInline
enum GivenUp: Sendable { case timedOut, cancelled }

/// Calls `wait`, and `giveUp` at the deadline, and if the task is cancelled before or meanwhile; perhaps also when `wait` has returned.
/// Unlike with `withTaskCancellationHandler` alone, `wait` stays on the executor of the caller: a closure that is given to that itself
/// goes to the pool of threads first.
///
/// - Parameters:
///   - instant: The deadline; nil for none.
///   - isolation: That of the caller.
///   - wait: What the task waits for.
///   - giveUp: Ends the wait, if that is not over. Any thread.
/// - Returns: What `wait` returns.
@usableFromInline
func waitOrGiveUp<Outcome: Sendable>(
  at instant: ContinuousClock.Instant?, isolation: isolated (any Actor)? = #isolation,
  _ wait: nonisolated(nonsending) () async -> Outcome, giveUp: @escaping @Sendable (GivenUp) -> Void
) async -> Outcome {
  let deadline = instant.map { Deadline(at: $0) { giveUp(.timedOut) } }
  // It retains what `giveUp` captures.
  defer { deadline?.cancel() }
  let isOfActor = isolation != nil
  return await withTaskCancellationHandler(
    operation: {
      // A closure belongs to the actor that it captures.
      _ = isolation
      return await wait()
    },
    onCancel: {
      // The cancelling thread holds a lock of the task while it calls all handlers, which the executor's thread takes before it runs
      // the task: a handler that waits for that thread would wait for ever.
      if isOfActor { DispatchQueue.global().async { giveUp(.cancelled) } } else { giveUp(.cancelled) }
    })
}
