import Dispatch
import Foundation
import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// The main loop, however the main thread is run. Each arrangement is a program of its own, since a process
/// has one main thread: see Tests/MainLoop. The tests' own is an asynchronous main.
@Suite struct MainLoopTests {
  @Test(arguments: ["main-run-loop", "main-dispatch", "main-async", "main-run"])
  func `works however the main thread is run`(_ program: String) async throws {
    let process = Process()
    // Built into the same folder as the tests.
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent(program)
    let output = Pipe()
    process.standardError = output
    try process.run()
    let said = Record<String>()
    // Not on the thread of a task, which this would block.
    let isOver = Threads.start {
      said.append(String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self))
      process.waitUntilExit()
    }
    #expect(isOver.wait(seconds: 130))
    #expect(said.elements == [""])
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 0)
  }

  @Test func `reactor in the tests own process`() async {
    let wrong = Record<Int>()
    let reactor = Script(
      on: .main,
      mutate: { _, action in
        if !MainLoop.isCurrent { wrong.append(action) }
        return .just(action)
      })
    #expect(!MainLoop.isCurrent)
    for index in 0..<100 { reactor.send(index) }
    while reactor.currentState.count < 100 { await Task.yield() }
    #expect(reactor.currentState == Array(0..<100))
    #expect(wrong.elements == [])
  }

  @Test func `run elsewhere is an error`() {
    #expect(throws: MainLoopError.notTheMainThread) { _ = try MainLoop.run() }
  }
}
