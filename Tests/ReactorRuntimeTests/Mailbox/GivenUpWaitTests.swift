import ReactorCore
import TestSupport
import Testing

@testable import ReactorRuntime

/// What is left of a wait for room, for the reactor of a key, or for an end, that is over or was given up: nothing.
@Suite struct GivenUpWaitTests {
  @Test
  func `the timer of a task that was resumed is released before the deadline`() async throws {
    let waiters = try RoomWaiters()
    func wait() async -> () -> RoomTicket? {
      let ticket = RoomTicket(ofThread: true)
      async let isOver: Void = waiters.suspend(ticket, until: .now + .seconds(3600)) { false }
      #expect(await eventually { waiters.count > 0 })
      waiters.resumeNext(whileEmpty: false)
      await isOver
      return { [weak ticket] in ticket }
    }
    let tickets = [await wait(), await wait(), await wait()]
    #expect(waiters.count == 0)
    // Dispatch releases it on a thread of its own.
    #expect(Threads.yield(seconds: 60) { tickets.allSatisfy { $0() == nil } })
  }

  @Test
  func `the timer of a task that has its reactor does not keep the collection until the deadline`() async {
    func waitInVain() async -> () -> KeyedReactors<Int, KeyedSession>? {
      let sessions = SessionStore().makeSessions()
      let over = KeyedWait<KeyedSession>()
      over.end(.failure(.closed))
      _ = await sessions.outcome(of: over, for: 1, before: .now + .seconds(3600))
      return { [weak sessions] in sessions }
    }
    let collection = await waitInVain()
    // Dispatch releases it on a thread of its own.
    #expect(Threads.yield(seconds: 60) { collection() == nil })
  }

  @Test
  func `the timer of a task that waits for an end is released before the deadline`() async {
    func waitInVain() async -> () -> RoomTicket? {
      let ticket = RoomTicket(ofThread: false)
      ticket.resume()
      _ = await Termination().suspend(ticket, until: .now + .seconds(3600))
      return { [weak ticket] in ticket }
    }
    let ticket = await waitInVain()
    // Dispatch releases it on a thread of its own.
    #expect(Threads.yield(seconds: 60) { ticket() == nil })
  }

  @Test
  func `tasks that are cancelled leave the line`() async throws {
    let stops = Stops(at: [0], capacity: 2)
    let ownerIsDone = try stops.fill()
    let tasks = (0..<200).map { action in
      Task { try await stops.reactor.sendSuspending(100 + action) }
    }
    #expect(await eventually { stops.waiting == 200 })
    for task in tasks.reversed() { task.cancel() }
    for task in tasks { await #expect(throws: SendError.cancelled) { try await task.value } }
    #expect(stops.waiting == 0)
    stops.goOn(from: 0)
    #expect(ownerIsDone.wait())
    #expect(stops.reactor.currentState == [0, 1, 2])
  }

  @Test
  func `a task that is cancelled after it was resumed leaves its room to the next one`() async throws {
    let stops = Stops(at: [0], capacity: 1)
    let ownerIsDone = try stops.fill()
    let loop = try Loop()
    let sender = LoopSender(on: loop)
    let first = Task { try await sender.send(10, to: stops.reactor) }
    #expect(await eventually { stops.waiting == 1 })
    let second = Task { try await stops.reactor.sendSuspending(20) }
    #expect(await eventually { stops.waiting == 2 })
    // While the loop is busy, the first one is resumed and cannot run.
    let mayRun = try loop.hold()
    stops.goOn(from: 0)
    #expect(ownerIsDone.wait())
    #expect(stops.waiting == 1)
    first.cancel()
    mayRun.open()
    await #expect(throws: SendError.cancelled) { try await first.value }
    #expect(await eventually(seconds: 20) { stops.reactor.currentState == [0, 1, 20] })
    second.cancel()
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test
  func `threads that give up waiting for the end are forgotten`() throws {
    let stops = Stops(at: [0], capacity: 2)
    let ownerIsDone = try stops.fill()
    stops.reactor.close()
    for _ in 0..<100 { #expect(!stops.reactor.waitUntilEnded(before: .now)) }
    #expect(stops.reactor.runtime.ensureTermination().isEmpty)
    stops.goOn(from: 0)
    #expect(stops.reactor.waitUntilEnded(before: .now + .seconds(patience)))
    #expect(ownerIsDone.wait())
  }

  @Test
  func `shutdowns that give up are forgotten`() throws {
    let (isInside, mayGoOn) = (Gate(), Gate())
    let loop = try Loop()
    let reactor = Script.held(on: .loop(loop), capacity: 2, isInside: isInside, mayGoOn: mayGoOn)
    reactor.send(0)
    #expect(isInside.wait())
    for _ in 0..<100 { #expect(throws: ShutdownError.self) { try loop.shutdown(before: .now) } }
    #expect(loop.state.lifecycle.completion.isEmpty)
    mayGoOn.open()
    try loop.shutdown(before: .now + .seconds(patience))
    #expect(reactor.currentState == [0])
  }
}

extension Termination {
  fileprivate var isEmpty: Bool { actions.withLock { $0?.isEmpty ?? true } }
}
