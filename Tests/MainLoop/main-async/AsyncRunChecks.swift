import Glibc
import MainLoopSupport
import ReactorRuntime
import Synchronization
import TestSupport

/// What holds for `await MainLoop.run()`.
struct AsyncRunChecks: Sendable {
  private let findings: Findings

  init(_ findings: Findings) { self.findings = findings }

  func runAll() async {
    await stoppedByAnotherThread()
    await stoppedBefore()
    await stoppedByCancellation()
    await returnsAfterWhatWasAccepted()
    for signal in [SIGTERM, SIGINT] { await ended(by: signal) }
    await refused()
    signalsAreAsBefore()
    await signalDuringTheEnd()
    signalsAreAsBefore()
    await stopDuringTheEnd()
  }

  private func expectEnding(_ expected: MainLoop.Ending, handling signals: [Int32] = [SIGTERM, SIGINT]) async
  {
    do {
      let ending = try await MainLoop.run(handling: signals)
      findings.expect(ending == expected, "run ends with \(expected), and not with \(ending)")
    } catch {
      findings.expect(false, "\(error)")
    }
  }

  private func stoppedByAnotherThread() async {
    let isDone = Threads.start {
      usleep(20_000)
      MainLoop.stop()
    }
    await expectEnding(.stopped)
    findings.expect(isDone.wait(), "it waits until it is stopped")
  }

  private func stoppedBefore() async {
    MainLoop.stop()
    await expectEnding(.stopped, handling: [])
  }

  private func stoppedByCancellation() async {
    let task = Task { try await MainLoop.run() }
    task.cancel()
    let ending = try? await task.value
    findings.expect(ending == .stopped, "a task that is cancelled does not wait")
  }

  private func returnsAfterWhatWasAccepted() async {
    let reactor = Arrivals(capacity: 64, findings)
    try? MainLoop.execute {
      MainLoop.stop()
      for index in 0..<40 { reactor.send(Arrivals.Arrival(thread: 0, index: index)) }
    }
    await expectEnding(.stopped)
    findings.expect(
      reactor.currentState.map(\.index) == Array(0..<40), "it returns after what was accepted is reduced")
  }

  private func ended(by signal: Int32) async {
    let isDone = Threads.start {
      usleep(20_000)
      kill(getpid(), signal)
    }
    await expectEnding(.signal(signal))
    _ = isDone.wait()
  }

  private func refused() async {
    do {
      _ = try await MainLoop.run(handling: [SIGTERM, SIGKILL])
      findings.expect(false, "SIGKILL cannot be handled")
    } catch {
      findings.expect(error == .signalRefused, "SIGKILL is refused, and not: \(error)")
    }
    var shortage = DescriptorShortage()
    do {
      _ = try await MainLoop.run()
      findings.expect(false, "a run without a descriptor is refused")
    } catch {
      findings.expect(error == .descriptorRefused(EMFILE), "without a descriptor it is \(error)")
    }
    shortage.end()
    let first = Task {
      var ending: MainLoop.Ending?
      // It is refused while a call below is inside.
      while ending == nil {
        ending = try? await MainLoop.run()
        await Task.yield()
      }
      return ending
    }
    var refusal: MainLoopError?
    while refusal != .runsAlready {
      do { _ = try await MainLoop.run(handling: [SIGKILL]) } catch { refusal = error }
      // A refused call does not suspend, and with one processor the pool has one thread.
      await Task.yield()
    }
    MainLoop.stop()
    let ending = await first.value
    findings.expect(
      ending == .stopped, "a second run is refused, and the first one goes on until it is stopped")
  }

  /// A second signal ends nothing, so it must have its usual effect; but not before what was accepted has run.
  private func signalDuringTheEnd() async {
    for number in [SIGTERM, SIGINT] {
      signal(number) { _ in AsyncRunChecks.received.add(1, ordering: .relaxed) }
    }
    let reactor = Arrivals(capacity: 64, findings)
    executeDuringRun { [findings] in
      Self.raiseHere(SIGTERM)
      // Until the thread of the run has it. If that takes longer, the run ends with the other one.
      usleep(20_000)
      Self.raiseHere(SIGINT)
      findings.expect(
        Self.received.load(ordering: .relaxed) == 0, "a signal has no other effect before the end of a run")
      for index in 0..<40 { reactor.send(Arrivals.Arrival(thread: 0, index: index)) }
    }
    let ending = try? await MainLoop.run()
    findings.expect(
      ending == .signal(SIGTERM) || ending == .signal(SIGINT),
      "a signal ends the run, and not: \(ending as Any)")
    findings.expect(reactor.currentState.count == 40, "it returns after what was accepted is reduced")
    findings.expect(
      Threads.yield(seconds: 60) { Self.received.load(ordering: .relaxed) == 1 },
      "the other signal has its usual effect afterwards, once")
    for number in [SIGTERM, SIGINT] { signal(number, SIG_DFL) }
  }

  /// A stop that comes when the run is being stopped belongs to that run.
  private func stopDuringTheEnd() async {
    executeDuringRun {
      MainLoop.stop()
      usleep(20_000)
      MainLoop.stop()
    }
    await expectEnding(.stopped)
    let isStopping = Gate()
    let isDone = Threads.start {
      usleep(20_000)
      isStopping.open()
      MainLoop.stop()
    }
    await expectEnding(.stopped)
    findings.expect(isStopping.isOpen, "a stop during the end of a run does not end the next one")
    _ = isDone.wait()
  }

  /// Runs `job` on the main loop once the next run, which catches signals, has begun.
  private func executeDuringRun(_ job: @escaping @Sendable () -> Void) {
    let before = [SIGTERM, SIGINT].map(Self.handler(of:))
    _ = Threads.start { [findings] in
      let hasBegun = Threads.yield {
        zip([SIGTERM, SIGINT].map(Self.handler(of:)), before).allSatisfy { $0 != $1 }
      }
      findings.expect(hasBegun && (try? MainLoop.execute(job)) != nil, "a job is accepted during the run")
    }
  }

  private static func handler(of number: Int32) -> UInt {
    var now = sigaction()
    sigaction(number, nil, &now)
    return unsafeBitCast(now.__sigaction_handler.sa_handler, to: UInt.self)
  }

  /// Returns when the handler has run, on this thread, which may be one of Dispatch's, that block signals.
  private static func raiseHere(_ number: Int32) {
    var (unblocked, before) = (sigset_t(), sigset_t())
    sigaddset(&unblocked, number)
    pthread_sigmask(SIG_UNBLOCK, &unblocked, &before)
    raise(number)
    pthread_sigmask(SIG_SETMASK, &before, nil)
  }

  private static let received = Atomic(0)

  private func signalsAreAsBefore() {
    for number in [SIGTERM, SIGINT] {
      var now = sigaction()
      sigaction(number, nil, &now)
      findings.expect(
        now.__sigaction_handler.sa_handler == nil, "signal \(number) has its usual effect again")
    }
  }
}
