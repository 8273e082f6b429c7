import ReactorCore
import TestSupport

@testable import ReactorRuntime

/// An actor on a loop, whose tasks send, ask and wait.
actor LoopSender {
  let loop: Loop

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  init(on loop: Loop) { self.loop = loop }

  /// Returns the most that has waited after a send.
  func send(_ actions: Range<Int>, to reactor: Script) async throws -> Int {
    var most = 0
    for action in actions {
      try await reactor.sendSuspending(action)
      most = max(most, reactor.counters.waiting)
    }
    return most
  }

  func send(_ action: Int, to reactor: Script, before deadline: ContinuousClock.Instant? = nil) async throws {
    try await reactor.sendSuspending(action, before: deadline)
  }

  func ask(_ reactor: Scripted, _ number: Int) async throws -> Int {
    try await reactor.ask { reply in Scripted.Action(reduce: { reply(number) }) }
  }

  /// Waits `count` times for a gate that another thread opens, and returns whether the task always came back.
  func pass(_ count: Int) async -> Bool {
    for number in 0..<count {
      await SuspendedTask.suspend { task in
        _ = Threads.start { task.resume() }
        return true
      }
      await SuspendedTask.suspend { task in
        // Before the task waits.
        if number % 2 == 0 { task.resume() }
        return number % 2 == 0
      }
      if !loop.isCurrent { return false }
    }
    return true
  }
}
