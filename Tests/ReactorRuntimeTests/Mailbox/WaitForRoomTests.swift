import Glibc
import ReactorCore
import ReactorTesting
import TestSupport
import Testing

@testable import ReactorRuntime

/// How senders wait for room, and how they are woken.
@Suite struct WaitForRoomTests {
  @Test
  func `room that a turn makes is given to a thread before the turn ends`() throws {
    let stops = Stops(at: [0, 6], capacity: 8)
    let ownerIsDone = try stops.fill()
    let isSent = Threads.start { stops.reactor.send(100) }
    #expect(Threads.yield { stops.waiting == 1 })
    stops.goOn(from: 0)
    #expect(stops.wait(in: 6))
    #expect(isSent.wait(seconds: 60))
    stops.goOn(from: 6)
    #expect(ownerIsDone.wait())
    #expect(stops.reactor.currentState == Array(0...8) + [100])
  }

  @Test
  func `many threads that wait for a slow reactor sleep`() throws {
    let loop = try Loop()
    let reactor = Script(
      on: .loop(loop), capacity: 8,
      mutate: { _, _ in
        usleep(1_000)
        return .empty()
      })
    let (senders, each) = (64, 10)
    let used = Record<Duration>()
    let duration = ContinuousClock().measure {
      #expect(
        Threads.run(senders) { sender in
          // At first each of them yields for a while, since the reactor might be fast.
          for action in 0..<3 { reactor.send(action) }
          let before = processorTime
          for action in 3..<each { reactor.send(action) }
          used.append(processorTime - before)
        })
    }
    #expect(duration > .milliseconds(senders * each - 8))
    #expect(used.elements.reduce(.zero, +) < duration / 2)
    loop.shutdown()
  }

  @Test
  func `closures that wait for room are called once and in their order, after the turn that makes it`() throws
  {
    let stops = Stops(at: [0], capacity: 8)
    let ownerIsDone = try stops.fill()
    let log = Record<Int>()
    for number in 0..<60 {
      stops.reactor.whenRoom {
        log.append(number)
        #expect(stops.reactor.currentState.count >= 9)
        #expect(throws: Never.self) { try stops.reactor.trySend(100 + number) }
      }
    }
    #expect(stops.waiting == 60)
    #expect(log.elements == [])
    stops.goOn(from: 0)
    #expect(ownerIsDone.wait())
    #expect(log.elements == Array(0..<60))
    #expect(stops.reactor.currentState == Array(0...8) + (0..<60).map { 100 + $0 })
    #expect(stops.waiting == 0)
  }

  @Test
  func `closures that send nothing are called only as the owner makes room`() throws {
    let loop = try SteppedLoop(turnLimit: 1)
    let (reactor, log) = (Script(on: loop.placement, capacity: 4), Record<Int>())
    for action in 0..<4 { try reactor.trySend(action) }
    for _ in 0..<10 { reactor.whenRoom { log.append(reactor.currentState.count) } }
    #expect(log.elements == [])
    #expect(loop.run())
    // After the turns 1…3 as many as there is room for; after the last one, which empties the mailbox, all others.
    #expect(log.elements == [1, 2, 2, 3, 3, 3, 4, 4, 4, 4])
    loop.shutdown()
  }

  @Test
  func `a closure that needs no room to be made is called at once, and a chain of them does not nest`() {
    let (reactor, log) = (Script(on: .caller), Record<Int>())
    @Sendable func wait(_ number: Int) {
      reactor.whenRoom {
        if number < 100_000 { wait(number + 1) }
        if number % 50_000 == 0 { log.append(number) }
      }
    }
    wait(0)
    #expect(log.elements == [0, 50_000, 100_000])
  }

  @Test
  func `a closure that waits for room is called and released when the reactor is closed`() throws {
    let stops = Stops(at: [0], capacity: 8)
    let ownerIsDone = try stops.fill()
    let (log, lifetimes) = (Record<String>(), Lifetimes())
    do {
      let tracked = lifetimes.track()
      stops.reactor.whenRoom { [reactor = stops.reactor] in
        _ = tracked
        #expect(throws: SendError.closed) { try reactor.trySend(9) }
        log.append("closed")
      }
    }
    #expect(log.elements == [])
    stops.reactor.close()
    #expect(log.elements == ["closed"])
    #expect(lifetimes.alive == 0)
    stops.goOn(from: 0)
    #expect(ownerIsDone.wait())
  }

  @Test
  func `a closure waits for room that a loop makes`() throws {
    let loop = try SteppedLoop()
    let (reactor, log) = (Script(on: loop.placement, capacity: 2), Record<String>())
    for action in 0..<2 { try reactor.trySend(action) }
    #expect(throws: SendError.full) { try reactor.trySend(2) }
    reactor.whenRoom {
      log.append("room")
      try? reactor.trySend(2)
    }
    #expect(log.elements == [])
    #expect(loop.run())
    #expect(log.elements == ["room"])
    #expect(reactor.currentState == [0, 1, 2])
    loop.shutdown()
  }

  @Test
  func `room that a turn makes is given to a task before the turn ends`() async throws {
    let stops = Stops(at: [0, 6], capacity: 8)
    let ownerIsDone = try stops.fill()
    let task = Task { try await stops.reactor.sendSuspending(100) }
    #expect(await eventually { stops.waiting == 1 })
    stops.goOn(from: 0)
    #expect(stops.wait(in: 6))
    try await task.value
    #expect(!ownerIsDone.isOpen)
    stops.goOn(from: 6)
    #expect(ownerIsDone.wait())
    #expect(stops.reactor.currentState == Array(0...8) + [100])
  }

  /// A sender that came a moment ago waits for a quarter of the mailbox. One that has waited takes what there is.
  @Test
  func `a sender that has waited gets the first room of a large mailbox`() throws {
    // The owner releases 64 slots at a time.
    let stops = Stops(at: [0, 70], capacity: 1024)
    let ownerIsDone = try stops.fill()
    let isSent = Threads.start { stops.reactor.send(5000) }
    #expect(Threads.yield { stops.waiting == 1 })
    let began = ContinuousClock.now
    #expect(Threads.yield { .now - began > .milliseconds(1) })
    stops.goOn(from: 0)
    #expect(stops.wait(in: 70))
    #expect(isSent.wait(seconds: 60))
    stops.goOn(from: 70)
    #expect(ownerIsDone.wait())
    #expect(stops.reactor.currentState == Array(0...1024) + [5000])
  }

  /// Otherwise it sleeps beside the room until the next 64 actions are processed, however long they take.
  @Test
  func `a sender that came a moment ago gets the first room that a slow owner makes`() throws {
    for _ in 0..<20 {
      let waiters = try RoomWaiters()
      let sender = Threads.start { waiters.sleep(RoomTicket(ofThread: true), until: nil) { false } }
      // Without a pause, so that it has hardly waited.
      while waiters.count == 0 {}
      waiters.notify(of: 64, isAmple: false, isEmpty: false)
      #expect(waiters.count == 0)
      waiters.resumeAll()
      #expect(sender.wait())
    }
  }

  @Test
  func `a sender that finds the room that a slow owner has just made does not sleep`() throws {
    // The owner releases 64 slots at a time.
    let stops = Stops(at: [0, 70], capacity: 1024)
    let ownerIsDone = try stops.fill()
    stops.goOn(from: 0)
    #expect(stops.wait(in: 70))
    let overflow = stops.reactor.runtime.mailbox.ensureOverflow()
    #expect(stops.reactor.runtime.mailbox.hasAnyRoom && !stops.reactor.runtime.mailbox.hasRoom)
    let isBack = Threads.start {
      // As after an attempt that came before the release.
      var progress = RoomWait()
      progress.attempts = 1000
      progress.hasSlept = true
      #expect(stops.reactor.runtime.waitForRoom(&progress, .unlimited) == nil)
    }
    #expect(isBack.wait(seconds: 20))
    #expect(overflow?.waiters.count == 0)
    stops.goOn(from: 70)
    #expect(ownerIsDone.wait())
  }

  @Test
  func `room for one wakes one of many senders`() throws {
    let stops = Stops(at: [0, 2], capacity: 4)
    let ownerIsDone = try stops.fill()
    let senders = (0..<16).map { index in Threads.start { stops.reactor.send(100 + index) } }
    #expect(Threads.yield { stops.waiting == 16 })
    stops.goOn(from: 0)
    // Action 1 has made room for one.
    #expect(stops.wait(in: 2))
    #expect(Threads.yield { senders.count { $0.isOpen } == 1 })
    let overflow = try #require(stops.reactor.runtime.mailbox.overflow.use { $0 })
    #expect(Threads.yield { overflow.waiters.count == 15 })
    // Of those that were woken and found no room, each has joined the line once more. A few may: the first of all has looked for
    // more room before the owner's count was up to date, and threads may be stopped anywhere. If all were woken, 31 would have joined.
    #expect((16...20).contains(overflow.waiters.line.withLock { $0.total }))
    stops.goOn(from: 2)
    #expect(ownerIsDone.wait())
    for sender in senders { #expect(sender.wait()) }
    #expect(Threads.yield { stops.reactor.currentState.count == 21 })
    #expect(Set(stops.reactor.currentState) == Set(Array(0...4) + Array(100..<116)))
  }

  @Test
  func `the owner is asked to notify as long as somebody waits`() throws {
    let waiters = try RoomWaiters()
    #expect(!waiters.mayWait)
    let threads = (0..<2).map { _ in
      Threads.start { waiters.sleep(RoomTicket(ofThread: true), until: nil) { false } }
    }
    #expect(Threads.yield { waiters.count == 2 && waiters.mayWait })
    waiters.notify(of: 1, isAmple: true, isEmpty: false)
    #expect(waiters.count == 1)
    #expect(waiters.mayWait)
    waiters.notify(of: 1, isAmple: true, isEmpty: false)
    for thread in threads { #expect(thread.wait()) }
    waiters.notify(of: 1, isAmple: true, isEmpty: false)
    #expect(!waiters.mayWait)
  }

  @Test
  func `threads that yield without success yield less before they sleep`() throws {
    let waiters = try RoomWaiters()
    #expect(!waiters.shouldSleep(after: 500))
    for _ in 0..<6 { waiters.sleep(RoomTicket(ofThread: true), until: nil) { true } }
    #expect(waiters.shouldSleep(after: 9))
    for _ in 0..<6 { waiters.noteRoom(afterYields: 500) }
    #expect(!waiters.shouldSleep(after: 500))
    #expect(waiters.count == 0)
  }
}

/// A reactor that stops in some of its actions until the test goes on.
struct Stops: Sendable {
  let reactor: Script
  private let inside: [Int: Gate]
  private let goOn: [Int: Gate]

  init(at actions: [Int], capacity: Int) {
    let inside = Dictionary(uniqueKeysWithValues: actions.map { ($0, Gate()) })
    let goOn = Dictionary(uniqueKeysWithValues: actions.map { ($0, Gate()) })
    (self.inside, self.goOn) = (inside, goOn)
    reactor = Script(
      on: .caller, capacity: capacity,
      mutate: { _, action in
        inside[action]?.open()
        _ = goOn[action]?.wait()
        return .just(action)
      })
    _ = reactor.state
  }

  func wait(in action: Int) -> Bool { inside[action]!.wait() }
  func goOn(from action: Int) { goOn[action]!.open() }

  var waiting: Int { reactor.runtime.mailbox.overflow.use { $0.waiters.count } ?? 0 }

  /// Stops a thread in action 0, and fills the mailbox.
  func fill() throws -> Gate {
    let isDone = Threads.start { [reactor] in reactor.send(0) }
    #expect(wait(in: 0))
    for action in 1...reactor.runtime.mailbox.ring.capacity { try reactor.trySend(action) }
    return isDone
  }
}
