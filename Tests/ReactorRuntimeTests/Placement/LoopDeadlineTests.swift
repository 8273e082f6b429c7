import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// The end of loops under a deadline, and the report of what has not ended.
@Suite struct LoopDeadlineTests {
  @Test
  func `a loop that ends in time reports nothing`() throws {
    let loop = try Loop()
    let reactor = Script(on: .loop(loop))
    for index in 0..<50 { reactor.send(index) }
    try loop.shutdown(before: .now + .seconds(patience))
    #expect(reactor.currentState == Array(0..<50))
    // It has ended already, so it needs no time.
    try loop.shutdown(before: .now)
    loop.shutdown()
  }

  @Test
  func `an error tells which reactor is in a turn and which one waits`() throws {
    let loop = try Loop(name: "orders")
    let isInside = Gate()
    let mayGoOn = Gate()
    let stuck = Script(
      on: .loop(loop),
      mutate: { _, action in
        isInside.open()
        _ = mayGoOn.wait()
        return .just(action)
      })
    let waiting = Script(on: .loop(loop), failures: Record())
    // The loop owns both before one of them is stuck.
    let isHeld = try loop.hold()
    stuck.send(0)
    waiting.send(1)
    waiting.send(2)
    isHeld.open()
    #expect(isInside.wait())
    let begin = ContinuousClock.now
    let error = #expect(throws: ShutdownError.self) {
      try loop.shutdown(before: begin + .milliseconds(50))
    }
    let unfinished = try #require(error?.unfinishedParts)
    #expect(ContinuousClock.now - begin < .seconds(patience / 2))
    let name = String(reflecting: Script.self)
    #expect(Set(unfinished.map(\.name)) == [name])
    #expect(unfinished.allSatisfy { $0.loop == "orders" })
    let busy = unfinished.compactMap { if case .busy(let time) = $0.occupation { time } else { nil } }
    #expect(busy.count == 1)
    #expect(busy.allSatisfy { $0 >= .milliseconds(50) })
    #expect(unfinished.contains { $0.occupation == .waiting(actions: 2) })
    #expect("\(error!)".contains("2 actions waiting"))
    // Nothing is lost: the loop ends when it can.
    mayGoOn.open()
    try loop.shutdown(before: .now + .seconds(patience))
    #expect(stuck.currentState == [0])
    #expect(waiting.currentState == [1, 2])
  }

  @Test
  func `an error tells that jobs and reactors wait for the loop`() throws {
    let loop = try Loop(name: "orders")
    let mayGoOn = try loop.hold()
    try loop.execute {}
    let reactor = Script(on: .loop(loop))
    reactor.send(1)
    let unfinished = Threads.unfinished(loop, milliseconds: 20)
    #expect(unfinished.contains { $0.name == "reactors" && $0.occupation == .waiting(actions: 1) })
    #expect(
      unfinished.contains {
        if case .busy = $0.occupation { $0.name == "jobs" } else { false }
      })
    #expect(unfinished.contains { "\($0)" == "reactors on the loop \"orders\": 1 waiting" })
    #expect(unfinished.contains { "\($0)".hasPrefix("jobs on the loop \"orders\": busy for ") })
    mayGoOn.open()
    try loop.shutdown(before: .now + .seconds(patience))
    #expect(reactor.currentState == [1])
    #expect(loop.counters.jobs == 2)
  }

  @Test(arguments: [false, true])
  func `a shutdown from inside the loop does not wait and loses nothing`(_ hasDeadline: Bool) throws {
    let loop = try Loop(name: "orders")
    let errors = Record<ShutdownError>()
    let reactor = Script(
      on: .loop(loop),
      mutate: { reactor, action in
        if action == 0 {
          if hasDeadline {
            do throws(ShutdownError) {
              try loop.shutdown(before: .now + .seconds(3600))
            } catch { errors.append(error) }
          } else {
            loop.shutdown()
          }
          reactor.send(100)
        }
        return .just(action)
      })
    let isHeld = try loop.hold()
    for index in 0..<20 { reactor.send(index) }
    isHeld.open()
    #expect(Threads.yield { loop.counters.actions >= 1 })
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(reactor.currentState == Array(0..<20) + [100])
    #expect(errors.elements == (hasDeadline ? [.insideItself(loop: "orders")] : []))
  }

  @Test
  func `several threads may wait for the end of one loop`() throws {
    let loop = try Loop()
    let mayGoOn = try loop.hold()
    // One waits without a deadline, which does not hold up the others.
    let isDown = Threads.start { loop.shutdown() }
    let counts = Record<Int>()
    #expect(Threads.run(3) { _ in counts.append(Threads.unfinished(loop, milliseconds: 20).count) })
    #expect(counts.elements == [1, 1, 1])
    mayGoOn.open()
    #expect(Threads.run(3) { _ in counts.append(Threads.unfinished(loop, milliseconds: 60_000).count) })
    #expect(counts.elements.dropFirst(3) == [0, 0, 0])
    #expect(isDown.wait())
  }

  @Test
  func `several parts end under one deadline`() throws {
    let group = try LoopGroup(name: "group", count: 2)
    let (first, second) = (try Loop(name: "first"), try Loop(name: "second"))
    let isInside = Gate(count: 2)
    let mayGoOn = Gate()
    for loop in [first, group.loops[1]] {
      try loop.execute {
        isInside.open()
        _ = mayGoOn.wait()
      }
    }
    #expect(isInside.wait())
    let isDown = Threads.start {
      #expect(throws: Never.self) {
        try Shutdown.close([first, group, second], before: .now + .seconds(patience))
      }
    }
    // The second one is closed although the first one does not end, and so is the group.
    #expect(Threads.yield { [second, group.loops[0]].allSatisfy { $0.finishClosing(before: .now).isEmpty } })
    #expect(throws: LoopError.closed) { try group.loops[0].execute {} }
    #expect(!isDown.isOpen)
    let error = #expect(throws: ShutdownError.self) {
      try Shutdown.close([first, group, second], before: .now + .milliseconds(50))
    }
    let unfinished = try #require(error?.unfinishedParts)
    #expect(unfinished.map(\.loop) == ["first", "group-1"])
    mayGoOn.open()
    #expect(isDown.wait())
  }

  @Test
  func `a group reports which of its loops has not ended`() throws {
    let group = try LoopGroup(name: "group", count: 2)
    let (isInside, mayGoOn) = (Gate(), Gate())
    try group.loops[1].execute {
      isInside.open()
      _ = mayGoOn.wait()
    }
    #expect(isInside.wait())
    group.beginClosing()
    #expect(Threads.yield { group.loops[0].finishClosing(before: .now).isEmpty })
    let error = #expect(throws: ShutdownError.self) {
      try group.shutdown(before: .now + .milliseconds(20))
    }
    let unfinished = try #require(error?.unfinishedParts)
    #expect(unfinished.map(\.loop) == ["group-1"])
    mayGoOn.open()
    try group.shutdown(before: .now + .seconds(patience))
  }

  @Test
  func `a loop that is closed as one of several parts from inside itself does not wait`() throws {
    let loop = try Loop(name: "inside")
    let errors = Record<ShutdownError>()
    let isDone = Gate()
    try loop.execute {
      do throws(ShutdownError) {
        try Shutdown.close([loop], before: .now + .seconds(3600))
      } catch { errors.append(error) }
      isDone.open()
    }
    #expect(isDone.wait())
    #expect(
      errors.elements == [.unfinished([Unfinished(name: "loop", loop: "inside", occupation: .closesItself)])])
    try loop.shutdown(before: .now + .seconds(patience))
  }

  @Test
  func `two loops that shut each other down both end`() throws {
    let (first, second) = (try Loop(), try Loop())
    let (areInside, haveReturned) = (Gate(count: 2), Gate(count: 2))
    for (loop, other) in [(first, second), (second, first)] {
      try loop.execute {
        areInside.open()
        _ = areInside.wait()
        other.shutdown()
        haveReturned.open()
      }
    }
    #expect(haveReturned.wait(seconds: 20))
    #expect(
      Threads.start {
        first.shutdown()
        second.shutdown()
      }.wait(seconds: 20))
  }

  @Test
  func `a job that shuts another loop down waits for its end`() throws {
    let (loop, other) = (try Loop(), try Loop())
    let mayGoOn = try other.hold()
    let hasReturned = Gate()
    try loop.execute {
      other.shutdown()
      hasReturned.open()
    }
    // Closed by now.
    #expect(Threads.yield { (try? other.execute {}) == nil })
    #expect(!hasReturned.isOpen)
    mayGoOn.open()
    #expect(hasReturned.wait())
    #expect(other.finishClosing(before: .now).isEmpty)
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test
  func `a task that closes several parts gets what has not ended`() async throws {
    let (loop, idle) = (try Loop(name: "orders"), try Loop())
    let mayGoOn = try loop.hold()
    defer { mayGoOn.open() }
    let error = await #expect(throws: ShutdownError.self) {
      try await Shutdown.closeSuspending([idle, loop], before: .now + .milliseconds(20))
    }
    let unfinished = try #require(error?.unfinishedParts)
    #expect(unfinished.contains { $0.loop == "orders" && $0.name == "jobs" })
    mayGoOn.open()
    try await Shutdown.closeSuspending([idle, loop], before: .now + .seconds(patience))
    #expect(throws: LoopError.closed) { try idle.execute {} }
  }

  @Test
  func `a group that is shut down from inside one of its loops does not wait`() throws {
    let group = try LoopGroup(name: "group", count: 3)
    let errors = Record<ShutdownError>()
    let isDone = Gate()
    try group.loops[1].execute {
      do throws(ShutdownError) {
        try group.shutdown(before: .now + .seconds(3600))
      } catch { errors.append(error) }
      group.shutdown()
      isDone.open()
    }
    #expect(isDone.wait())
    #expect(errors.elements == [.insideItself(loop: "group-1")])
    try group.shutdown(before: .now + .seconds(patience))
  }
}

extension ShutdownError {
  /// What has not ended; nil if the error says something else.
  fileprivate var unfinishedParts: [Unfinished]? {
    if case .unfinished(let unfinished) = self { unfinished } else { nil }
  }
}

extension Threads {
  /// Shuts a loop down, and returns what it reports as unfinished.
  static func unfinished(_ loop: Loop, milliseconds: Int) -> [Unfinished] {
    do throws(ShutdownError) {
      try loop.shutdown(before: .now + .milliseconds(milliseconds))
    } catch .unfinished(let unfinished) {
      return unfinished
    } catch {
      Issue.record(error)
    }
    return []
  }
}
