// The main thread runs an asynchronous main.
import Glibc
import MainLoopSupport
import ReactorRuntime
import TestSupport

@main
struct AsyncMain {
  static func main() async {
    let findings = Findings(isOnTheMainThread: false)
    findings.expect(refusesToRun(), "an asynchronous main cannot also run the main loop")
    await withCheckedContinuation { continuation in
      _ = Threads.start {
        MainLoopChecks(findings).runAll()
        continuation.resume()
      }
    }
    await onTheMainActor(findings)
    await AsyncRunChecks(findings).runAll()
    exit(findings.status)
  }

  /// What holds for code of an asynchronous main itself.
  @MainActor
  private static func onTheMainActor(_ findings: Findings) async {
    let reactor = Arrivals(capacity: 64, findings)
    for index in 0..<10 { reactor.send(Arrivals.Arrival(thread: 0, index: index)) }
    findings.expect(reactor.currentState == [], "turns do not run in the middle of the main actor")
    while reactor.currentState.count < 10 { await Task.yield() }
  }

  private static func refusesToRun() -> Bool {
    do {
      _ = try MainLoop.run()
    } catch {
      return error == .insideATask || error == .notTheMainThread
    }
    return false
  }
}
