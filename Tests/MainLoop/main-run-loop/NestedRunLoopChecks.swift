import Foundation
import MainLoopSupport
import ReactorRuntime
import TestSupport

/// What `MainLoop.run()` calls runs a run loop itself, as `Process.waitUntilExit()` does. Then that runs the main queue.
struct NestedRunLoopChecks {
  let findings: Findings

  init(_ findings: Findings) { self.findings = findings }

  func runAll() {
    beforeTheRun()
    check("a timer") { body in body() }
    let pipe = Pipe()
    pipe.fileHandleForWriting.write(Data([1]))
    let reading = pipe.fileHandleForReading.fileDescriptor
    let watch = SerialDisposable()
    check("the body of a watch") { body in
      watch.disposable = try? MainLoop.watch(reading, for: .readable) {
        var byte: UInt8 = 0
        if read(reading, &byte, 1) == 1 { body() }
      }
    }
    watch.dispose()
    withExtendedLifetime(pipe) {}
  }

  /// A send that finds the mailbox full runs a round, before the main thread runs the main queue. A turn of that round runs the queue.
  private func beforeTheRun() {
    let reactor = Nesting()
    for action in 0..<20 { reactor.send(action) }
    // As after this check: the program runs the main queue without MainLoop.run().
    let limit = Date() + 60
    while reactor.currentState < 20, Date() < limit { runLoop(for: 0.01) }
    findings.expect(
      reactor.currentState == 20, "what comes while a sender's round runs a run loop is reduced")
  }

  private final class Nesting: Reactor {
    typealias Action = Int

    let initialState = 0
    let runtime = Runtime<Int, Int, Int>(on: .main, capacity: 8)

    func mutate(action: Int) -> Observable<Int> {
      if action == 0 { runLoop(for: 0.05) }
      return .just(1)
    }

    func reduce(into state: inout Int, mutation: Int) { state += mutation }
  }

  /// - Parameter start: Called during the run: what begins before it runs inside of the main queue, which is not run again there.
  private func check(_ what: String, _ start: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void) {
    let reactor = Arrivals(capacity: 64, findings)
    let hasRun = Record<Bool>()
    let hasRunMeanwhile = Record<Bool>()
    do {
      let body: @Sendable () -> Void = {
        let isSent = Threads.start {
          // While the run loop waits.
          usleep(20_000)
          reactor.send(Arrivals.Arrival(thread: 1, index: 1))
          DispatchQueue.main.async { hasRun.append(true) }
          MainLoop.stop()
        }
        runLoop(for: 0.2)
        _ = isSent.wait()
        hasRunMeanwhile.append(!hasRun.elements.isEmpty)
      }
      try MainLoop.schedule(after: .milliseconds(1)) { start(body) }
      let ending = try MainLoop.run(handling: [])
      findings.expect(ending == .stopped, "\(what) that runs a run loop ends nothing")
    } catch {
      findings.expect(false, "\(what): \(error)")
    }
    findings.expect(reactor.currentState.count == 1, "what comes while \(what) runs a run loop is reduced")
    findings.expect(hasRunMeanwhile.elements == [true], "the run loop of \(what) runs the main queue")
  }
}

/// Runs the run loop of the calling thread for that many seconds.
private func runLoop(for seconds: Double) {
  let timer = Timer(timeInterval: seconds, repeats: false) { _ in }
  RunLoop.current.add(timer, forMode: .default)
  while timer.isValid { _ = RunLoop.current.run(mode: .default, before: Date() + seconds) }
}
