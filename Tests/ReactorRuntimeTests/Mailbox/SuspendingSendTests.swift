import ReactorCore
import TestSupport
import Testing

@testable import ReactorRuntime

/// Sending by tasks.
@Suite struct SuspendingSendTests {
  /// Otherwise an idle reactor on the caller would process the actions on a thread of the pool.
  @Test
  func `a send of an actor stays on its thread`() async throws {
    let (loop, isHere) = (try Loop(), Record<Bool>())
    let reactor = Script(
      on: .caller,
      mutate: { _, action in
        isHere.append(loop.isCurrent)
        return .just(action)
      })
    let sender = LoopSender(on: loop)
    try await sender.send(1, to: reactor)
    try await sender.send(2, to: reactor, before: .now + .seconds(patience))
    #expect(isHere.elements == [true, true])
    #expect(reactor.currentState == [1, 2])
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  /// A send does not wait for room there, so the task must let the loop run the turns.
  @Test
  func `an actor on the loop of a reactor does not send more than it has room for`() async throws {
    let loop = try Loop()
    let reactor = Script(on: .loop(loop), capacity: 4, reentrantCapacity: 16)
    #expect(try await LoopSender(on: loop).send(0..<100, to: reactor) <= 4)
    #expect(Threads.yield { reactor.currentState == Array(0..<100) })
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  /// What such an actor sends waits beside the mailbox.
  @Test(arguments: [(4, 16), (16, 4)])
  func `an actor on the loop of a reactor may ask more than it has room for`(
    capacity: Int, reentrantCapacity: Int
  ) async throws {
    let loop = try Loop()
    let reactor = Scripted(on: .loop(loop), capacity: capacity, reentrantCapacity: reentrantCapacity)
    let sender = LoopSender(on: loop)
    let mayGoOn = try loop.hold()
    let replies = (0..<100).map { number in
      Task { try await sender.ask(reactor, number) }
    }
    mayGoOn.open()
    for (number, reply) in replies.enumerated() { #expect(try await reply.value == number) }
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  private func full(_ isInside: Gate, _ mayGoOn: Gate) throws -> (Script, Gate) {
    let reactor = Script.held(on: .caller, capacity: 2, isInside: isInside, mayGoOn: mayGoOn)
    let isDone = Threads.start { reactor.send(0) }
    #expect(isInside.wait())
    for action in 1...2 { try reactor.trySend(action) }
    return (reactor, isDone)
  }

  @Test
  func `a task is suspended until there is room`() async throws {
    let (isInside, mayGoOn) = (Gate(), Gate())
    let (reactor, isDone) = try full(isInside, mayGoOn)
    // There are more tasks than threads in the pool, so a task that blocked its thread would block the test.
    let tasks = (10..<74).map { action in
      Task { try await reactor.sendSuspending(action) }
    }
    for _ in 0..<100 { await Task.yield() }
    mayGoOn.open()
    for task in tasks { try await task.value }
    #expect(isDone.wait())
    #expect(Threads.yield { reactor.currentState.count == 67 })
    #expect(reactor.currentState.sorted() == [0, 1, 2] + Array(10..<74))
  }

  @Test
  func `cancelling ends the wait and sends nothing`() async throws {
    let (isInside, mayGoOn) = (Gate(), Gate())
    let (reactor, isDone) = try full(isInside, mayGoOn)
    let cancelled = Task { try await reactor.sendSuspending(9) }
    let other = Task { try await reactor.sendSuspending(10) }
    for _ in 0..<100 { await Task.yield() }
    cancelled.cancel()
    await #expect(throws: SendError.cancelled) { try await cancelled.value }
    mayGoOn.open()
    try await other.value
    #expect(isDone.wait())
    #expect(Threads.yield { reactor.currentState == [0, 1, 2, 10] })
  }

  @Test
  func `cancelling very many tasks takes a time that grows with their number only`() async throws {
    func duration(of count: Int) async throws -> Duration {
      let (isInside, mayGoOn) = (Gate(), Gate())
      let (reactor, isDone) = try full(isInside, mayGoOn)
      let tasks = (0..<count).map { action in Task { try await reactor.sendSuspending(action) } }
      #expect(await eventually { reactor.runtime.mailbox.overflow.use { $0.waiters.count } == count })
      let begin = ContinuousClock.now
      // The last ones first: a search from the front would pass all others.
      for task in tasks.reversed() { task.cancel() }
      for task in tasks { await #expect(throws: SendError.cancelled) { try await task.value } }
      let duration = ContinuousClock.now - begin
      mayGoOn.open()
      #expect(isDone.wait())
      #expect(reactor.currentState == [0, 1, 2])
      return duration
    }
    let few = try await duration(of: 1000)
    let many = try await duration(of: 16_000)
    #expect(many < few * 64 + .milliseconds(500), "1,000: \(few), 16,000: \(many)")
  }

  @Test
  func `a deadline ends the wait of a task`() async throws {
    let (isInside, mayGoOn) = (Gate(), Gate())
    let (reactor, isDone) = try full(isInside, mayGoOn)
    await #expect(throws: SendError.timedOut) {
      try await reactor.sendSuspending(9, before: .now + .milliseconds(20))
    }
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(reactor.currentState == [0, 1, 2])
  }

  /// The only task that is resumed finds the room taken again, and gives up. Then the next task must be resumed.
  @Test
  func `a task that gives up leaves the room to the next one`() async throws {
    for _ in 0..<20 {
      let reactor = Script(on: .caller, capacity: 1)
      let tasks = (0..<64).map { action in
        Task {
          let deadline = action % 2 == 0 ? nil : ContinuousClock.now + .microseconds(20 * action)
          try? await reactor.sendSuspending(action, before: deadline)
        }
      }
      #expect(Threads.run(2) { thread in for index in 0..<500 { reactor.send(100 + index * 2 + thread) } })
      for task in tasks { await task.value }
      #expect(Threads.yield { reactor.currentState.count { $0 < 100 && $0 % 2 == 0 } == 32 })
    }
  }

  @Test
  func `closing ends the wait`() async throws {
    let (isInside, mayGoOn) = (Gate(), Gate())
    let (reactor, isDone) = try full(isInside, mayGoOn)
    let task = Task { try await reactor.sendSuspending(9) }
    for _ in 0..<100 { await Task.yield() }
    reactor.close()
    await #expect(throws: SendError.closed) { try await task.value }
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(reactor.currentState == [0, 1, 2])
  }
}
