import Foundation
import MainLoopSupport
import ReactorRuntime
import TestSupport

/// What `MainLoop.run()` calls runs a run loop itself, as `Process.waitUntilExit()` does. Then that runs the main queue.
struct NestedRunLoopChecks {
  let findings: Findings

  init(_ findings: Findings) { self.findings = findings }

  func runAll() {
    check("a job") { body in try MainLoop.execute(body) }
    check("a timer") { body in _ = try MainLoop.schedule(after: .milliseconds(1), body) }
    let pipe = Pipe()
    pipe.fileHandleForWriting.write(Data([1]))
    let reading = pipe.fileHandleForReading.fileDescriptor
    let watch = SerialDisposable()
    check("the body of a watch") { body in
      watch.disposable = try MainLoop.watch(reading, for: .readable) {
        var byte: UInt8 = 0
        if read(reading, &byte, 1) == 1 { body() }
      }
    }
    watch.dispose()
    withExtendedLifetime(pipe) {}
  }

  private func check(_ what: String, _ start: (@escaping @Sendable () -> Void) throws -> Void) {
    let reactor = Arrivals(capacity: 64, findings)
    let hasRun = Record<Bool>()
    do {
      try start {
        let isSent = Threads.start {
          // While the run loop waits.
          usleep(20_000)
          reactor.send(Arrivals.Arrival(thread: 1, index: 1))
          DispatchQueue.main.async { hasRun.append(true) }
          MainLoop.stop()
        }
        let timer = Timer(timeInterval: 0.2, repeats: false) { _ in }
        RunLoop.current.add(timer, forMode: .default)
        _ = RunLoop.current.run(mode: .default, before: Date() + 0.2)
        while timer.isValid { _ = RunLoop.current.run(mode: .default, before: Date() + 0.2) }
        _ = isSent.wait()
      }
      let ending = try MainLoop.run(handling: [])
      findings.expect(ending == .stopped, "\(what) that runs a run loop ends nothing")
    } catch {
      findings.expect(false, "\(what): \(error)")
    }
    findings.expect(reactor.currentState.count == 1, "what comes while \(what) runs a run loop is reduced")
    findings.expect(hasRun.elements == [true], "the run loop of \(what) runs the main queue")
  }
}
