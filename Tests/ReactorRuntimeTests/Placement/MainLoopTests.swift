import Dispatch
import Foundation
import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// The main loop. Each way to run the main thread is a program of its own, since a process has one main thread: see
/// Tests/MainLoop. The process of the tests has an asynchronous main.
@Suite struct MainLoopTests {
  @Test(arguments: ["main-run-loop", "main-dispatch", "main-async", "main-run"])
  func `the main loop works however the main thread is run`(_ program: String) async throws {
    let process = Process()
    // It is built into the same folder as the tests.
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent(program)
    let output = Pipe()
    process.standardError = output
    try process.run()
    let errors = Record<String>()
    // This would block the thread of a task.
    let isOver = Threads.start {
      errors.append(String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self))
      process.waitUntilExit()
    }
    #expect(isOver.wait(seconds: 130))
    #expect(errors.elements == [""])
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 0)
  }

  @Test func `a reactor in the process of the tests runs on the main loop`() async {
    let wrong = Record<Int>()
    let reactor = Script(
      on: .main,
      mutate: { _, action in
        if !MainLoop.isCurrent { wrong.append(action) }
        return .just(action)
      })
    #expect(!MainLoop.isCurrent)
    for index in 0..<100 { reactor.send(index) }
    #expect(await eventually { reactor.currentState.count == 100 })
    #expect(reactor.currentState == Array(0..<100))
    #expect(wrong.elements == [])
  }

  @Test func `running the main loop on another thread is an error`() {
    #expect(throws: MainLoopError.notTheMainThread) { _ = try MainLoop.run() }
  }
}
