import Glibc
import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

/// A loop whose rounds run in a foreign loop.
@Suite struct HostedLoopTests {
  /// Whether the foreign loop finds something to do.
  private static func isReadable(_ hosted: HostedLoop, milliseconds: Int32 = 0) -> Bool {
    var watched = pollfd(fd: hosted.descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&watched, 1, milliseconds) == 1
  }

  private static func runUntil(_ hosted: HostedLoop, _ condition: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + .seconds(patience)
    while !condition() {
      if ContinuousClock.now > deadline { return false }
      if isReadable(hosted, milliseconds: 1000) { hosted.run() }
    }
    return true
  }

  @Test
  func `turns run on the thread that calls run`() throws {
    let hosted = try HostedLoop()
    let reactor = Script(
      on: hosted.placement,
      mutate: { [loop = hosted.loop] _, action in
        #expect(loop.isCurrent)
        return .just(action)
      })
    #expect(!Self.isReadable(hosted))
    reactor.send(1)
    reactor.send(2)
    #expect(reactor.currentState == [])
    #expect(Self.isReadable(hosted))
    #expect(hosted.run() == 2)
    #expect(reactor.currentState == [1, 2])
    #expect(!Self.isReadable(hosted))
    #expect(hosted.run() == 0)
    #expect(!hosted.loop.isCurrent)
  }

  @Test
  func `the thread that makes a hosted loop may fill a mailbox before the first run`() throws {
    let isDone = Threads.start {
      guard let hosted = try? HostedLoop() else { return }
      let failures = Record<SendError>()
      let reactor = Script(on: hosted.placement, capacity: 8, failures: failures)
      for index in 0..<100 { reactor.send(index) }
      #expect(failures.elements.isEmpty)
      hosted.run()
      #expect(reactor.currentState == Array(0..<100))
    }
    #expect(isDone.wait(seconds: 60))
  }

  @Test(arguments: [2, 3])
  func `threads that host loops send to each other beyond capacity`(_ count: Int) throws {
    let sends = 2000
    let failures = Record<SendError>()
    let hosts = try (0..<count).map { _ in try HostedLoop() }
    let reactors = hosts.map { Script(on: $0.placement, capacity: 8, failures: failures) }
    let finished = Atomic(0)
    let isDone = Threads.run(count) { thread in
      let (hosted, mine) = (hosts[thread], reactors[thread])
      // This thread becomes the host.
      hosted.run()
      for index in 0..<sends {
        for other in reactors where other !== mine { other.send(index) }
      }
      finished.add(1, ordering: .sequentiallyConsistent)
      // Others may still be sending to this one.
      while finished.load(ordering: .sequentiallyConsistent) < count
        || mine.withCurrentState({ $0.count }) < sends * (count - 1)
      {
        if Self.isReadable(hosted, milliseconds: 1) { hosted.run() }
        if !failures.elements.isEmpty { break }
      }
    }
    #expect(isDone)
    #expect(failures.elements.isEmpty)
    for reactor in reactors { #expect(reactor.currentState.count == sends * (count - 1)) }
  }

  @Test
  func `a hosted loop is closed together with other parts`() throws {
    let (hosted, loop) = (try HostedLoop(), try Loop())
    let reactors = [Script(on: hosted.placement), Script(on: .loop(loop))]
    for reactor in reactors { for index in 0..<10 { reactor.send(index) } }
    try Shutdown.close([hosted, loop], before: .now + .seconds(patience))
    for reactor in reactors {
      #expect(reactor.currentState == Array(0..<10))
      #expect(throws: SendError.closed) { try reactor.trySend(10) }
    }
  }

  @Test
  func `closing a hosted loop in the middle of a turn keeps its deadline`() throws {
    let hosted = try HostedLoop()
    let (entered, mayLeave) = (Gate(), Gate())
    let reactor = Script(
      on: hosted.placement,
      mutate: { _, action in
        entered.open()
        #expect(mayLeave.wait())
        return .just(action)
      })
    reactor.send(1)
    let isRun = Threads.start { hosted.run() }
    #expect(entered.wait())
    #expect(throws: ShutdownError.self) { try Shutdown.close([hosted], before: .now + .milliseconds(20)) }
    mayLeave.open()
    #expect(isRun.wait())
    try Shutdown.close([hosted], before: .now + .seconds(patience))
    #expect(reactor.currentState == [1])
  }

  @Test
  func `however many threads send to an idle hosted loop it is woken once`() throws {
    let hosted = try HostedLoop()
    let reactors = (0..<4).map { _ in Script(on: hosted.placement, capacity: 4096) }
    for round in 1...10 {
      #expect(
        Threads.run(4) { thread in
          for index in 0..<100 { reactors[(thread + index) % 4].send(round) }
        })
      #expect(Self.isReadable(hosted))
      while Self.isReadable(hosted) { hosted.run() }
      #expect(hosted.loop.counters.wakes == round)
      #expect(hosted.loop.counters.parks == round)
      #expect(reactors.reduce(0) { $0 + $1.currentState.count } == 400 * round)
    }
  }

  @Test
  func `the descriptor stays readable while work is left`() throws {
    let hosted = try HostedLoop(turnLimit: 2)
    let reactor = Script(on: hosted.placement)
    for index in 0..<7 { reactor.send(index) }
    #expect(hosted.run(rounds: 1) == 2)
    #expect(Self.isReadable(hosted, milliseconds: 1000))
    #expect(hosted.run(rounds: 2) == 4)
    #expect(Self.isReadable(hosted, milliseconds: 1000))
    #expect(hosted.run() == 1)
    #expect(!Self.isReadable(hosted))
  }

  @Test
  func `timers and jobs make the descriptor readable`() throws {
    let hosted = try HostedLoop()
    let ran = Record<String>()
    try hosted.loop.execute { ran.append("job") }
    #expect(Self.isReadable(hosted))
    hosted.run()
    #expect(ran.elements == ["job"])
    #expect(!Self.isReadable(hosted))
    try hosted.loop.schedule(after: .milliseconds(20)) { ran.append("timer") }
    let cancelled = try hosted.loop.schedule(after: .milliseconds(10)) { ran.append("cancelled") }
    cancelled.dispose()
    #expect(Self.runUntil(hosted) { ran.elements.count == 2 })
    #expect(ran.elements == ["job", "timer"])
    #expect(!Self.isReadable(hosted))
  }

  @Test
  func `a hosted loop that runs while other threads send forgets nothing`() throws {
    let hosted = try HostedLoop()
    let reactor = Script(on: hosted.placement, capacity: 64)
    let count = 3000
    let hasSent = Threads.start {
      _ = Threads.run(3) { _ in
        for index in 0..<count { reactor.send(index) }
      }
    }
    #expect(Self.runUntil(hosted) { hasSent.isOpen && !Self.isReadable(hosted) })
    #expect(reactor.currentState.count == 3 * count)
    #expect(hosted.loop.counters.wakes <= hosted.loop.counters.parks + 1)
  }

  /// It sends more than fits, between rounds.
  @Test
  func `the host thread never waits for itself`() throws {
    let hosted = try HostedLoop()
    let reactor = Script(on: hosted.placement, capacity: 4)
    #expect(
      Threads.start {
        hosted.run()
        for index in 0..<100 { reactor.send(index) }
        hosted.run()
      }.wait())
    #expect(reactor.currentState == Array(0..<100))
  }

  @Test
  func `a shutdown runs what was accepted on the calling thread`() throws {
    let hosted = try HostedLoop(name: "mine")
    let reactor = Script(on: hosted.placement, failures: Record())
    reactor.send(1)
    // Nothing runs its rounds meanwhile: that thread is not its host.
    let errors = Record<String>()
    let ended = Threads.start {
      do throws(ShutdownError) {
        try hosted.loop.shutdown(before: .now + .milliseconds(10))
      } catch {
        errors.append("\(error)")
      }
    }
    #expect(ended.wait())
    #expect(errors.elements.first?.contains("nobody runs its rounds") == true)
    hosted.shutdown()
    #expect(reactor.currentState == [1])
    #expect(throws: SendError.closed) { try reactor.trySend(2) }
    try hosted.loop.shutdown(before: .now)
    hosted.shutdown()
    #expect(hosted.run() == 0)
  }

  @Test
  func `the foreign loop runs a closed loop to its end`() throws {
    let hosted = try HostedLoop()
    let reactor = Script(on: hosted.placement)
    reactor.send(1)
    let isClosed = Threads.start {
      #expect(throws: Never.self) { try hosted.loop.shutdown(before: .now + .seconds(patience)) }
    }
    #expect(Self.runUntil(hosted) { isClosed.isOpen })
    #expect(reactor.currentState == [1])
  }

  @Test func `a hosted loop that is run from inside itself stops the program`() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let hosted = try HostedLoop()
      try hosted.loop.execute { hosted.run() }
      hosted.run()
    }
    #expect(stop?.standardErrorContent.says("were to be run by itself") == true)
  }

  /// The host thread waits between two rounds for another loop, whose job waits for the hosted one.
  @Test
  func `a job does not wait for a host thread that waits for it`() throws {
    let hosted = try HostedLoop()
    let loop = try Loop()
    let failures = Record<SendError>()
    let here = Script(on: hosted.placement, capacity: 2, failures: failures)
    let there = Script(on: .loop(loop), capacity: 2, failures: failures)
    hosted.run()
    let (isInJob, mayGoOn, hasEnded) = (Gate(), Gate(), Gate())
    try loop.execute {
      isInJob.open()
      _ = mayGoOn.wait()
      for action in 0..<3 { here.send(action) }
      hasEnded.open()
    }
    #expect(isInJob.wait())
    let hasSent = Threads.start {
      // This is the host thread from now on.
      hosted.run()
      mayGoOn.open()
      for action in 0..<3 { there.send(action) }
      while !hasEnded.isOpen { hosted.run() }
    }
    #expect(hasSent.wait())
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(failures.elements == [])
    hosted.shutdown()
    #expect(here.currentState == [0, 1, 2])
    #expect(there.currentState == [0, 1, 2])
  }

  @Test
  func `a hosted loop that is out of time to end has only to run its last round`() throws {
    let hosted = try HostedLoop(name: "hosted")
    hosted.beginClosing()
    let unfinished = hosted.finishClosing(before: .now)
    #expect(unfinished == [Unfinished(name: "loop", loop: "hosted", occupation: .waiting(actions: 0))])
    // Without the host, nothing is known to run its rounds.
    #expect(hosted.loop.finishClosing(before: .now).map(\.occupation) == [.notRun])
    #expect(hosted.finishClosing(before: .now + .seconds(patience)).isEmpty)
  }
}
