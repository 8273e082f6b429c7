import Glibc
import MainLoopSupport
import ReactorRuntime
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

  private func signalsAreAsBefore() {
    for number in [SIGTERM, SIGINT] {
      var now = sigaction()
      sigaction(number, nil, &now)
      findings.expect(
        now.__sigaction_handler.sa_handler == nil, "signal \(number) has its usual effect again")
    }
  }
}
