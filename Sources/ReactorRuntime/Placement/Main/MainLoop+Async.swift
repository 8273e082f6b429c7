import Dispatch
import Glibc
import ReactorCore

extension MainLoop {
  /// Waits for the end of the service in an asynchronous `main`, which runs the main loop itself.
  ///
  /// ```swift
  /// @main
  /// struct Service {
  ///   static func main() async throws {
  ///     let orders = Orders(on: .main)
  ///     let ending = try await MainLoop.run()  // .stopped, or .signal(SIGTERM)
  ///   }
  /// }
  /// ```
  ///
  /// It returns after ``stop()``, when the task is cancelled, or when one of the signals comes; and not before what was
  /// accepted has been run. It does not end the main loop, and can be called again. Meanwhile the signals have no other
  /// effect; afterwards they have the one that they had before, also a second one that came meanwhile.
  ///
  /// Any task, one at a time, outside of turns, jobs and timers of the main loop. A thread of its own receives the signals.
  ///
  /// - Parameter signals: The signals that end it; may be empty.
  /// - Returns: Why it ended.
  /// - Throws: ``MainLoopError/runsAlready``, ``MainLoopError/signalRefused``, or ``MainLoopError/descriptorRefused(_:)``.
  public static func run(handling signals: [Int32] = [SIGTERM, SIGINT]) async throws(MainLoopError) -> Ending
  {
    let runner = MainLoopRunner.shared
    if runner.isInUse.exchange(true, ordering: .acquiringAndReleasing) { throw .runsAlready }
    defer { runner.isInUse.store(false, ordering: .releasing) }
    let outcome: Result<Ending, MainLoopError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isStarted = DedicatedThread.tryDetach(named: "main-signals") {
          continuation.resume(returning: runner.catchSignalsUntilTheEnd(signals))
        }
        if !isStarted { continuation.resume(returning: .failure(.descriptorRefused(EAGAIN))) }
      }
    } onCancel: {
      stop()
    }
    // A stop that was requested during this run must not end the next one.
    runner.stopping.acknowledge()
    return try outcome.get()
  }
}

extension MainLoopRunner {
  /// Sleeps until a signal or a stop comes, and then until what was accepted has been run. A thread of its own: meanwhile
  /// it catches the signals.
  fileprivate func catchSignalsUntilTheEnd(_ numbers: [Int32]) -> Result<MainLoop.Ending, MainLoopError> {
    let signals: CaughtSignals
    do { signals = try CaughtSignals(numbers) } catch { return .failure(MainLoopError(error)) }
    let outcome = waitForEnding(signals)
    if case .success = outcome {
      let isDone = DispatchSemaphore(value: 0)
      runWhatWasAccepted { isDone.signal() }
      isDone.wait()
    }
    signals.restore()
    return outcome
  }

  /// Sleeps until a signal or a stop comes.
  private func waitForEnding(_ signals: borrowing CaughtSignals) -> Result<MainLoop.Ending, MainLoopError> {
    do {
      let poller = try Poller()
      if let descriptor = signals.descriptor { try poller.add(descriptor, for: .readable, tag: 0) }
      try poller.add(stopping.descriptor, for: .readable, tag: 1)
      while true {
        var isStopped = false
        poller.wait(timeoutMilliseconds: -1) { tag, _ in isStopped = isStopped || tag == 1 }
        if let signal = signals.take() { return .success(.signal(signal)) }
        if isStopped { return .success(.stopped) }
      }
    } catch let refusal as Poller.Refusal {
      return .failure(.descriptorRefused(refusal.code))
    } catch {
      return .failure(.descriptorRefused(EMFILE))
    }
  }

  /// Calls `body` when nothing is left of what was accepted. In blocks of the main queue, so that what else waits there has
  /// its turn.
  private func runWhatWasAccepted(then body: @escaping @Sendable () -> Void) {
    MainScheduler.noteUse(by: MainLoop.self)
    DispatchQueue.main.async { self.runRounds(upTo: 16) ? body() : self.runWhatWasAccepted(then: body) }
  }
}
