import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// The counters of a loop, and its limits.
@Suite struct LoopCounterTests {
  @Test
  func `the counters of a loop count its turns and jobs and what waits`() throws {
    let loop = try Loop(name: "orders")
    let isInside = Gate()
    let mayGoOn = Gate()
    let reactor = Script(
      on: .loop(loop),
      mutate: { _, action in
        if action == 0 {
          isInside.open()
          _ = mayGoOn.wait()
        }
        return .just(action)
      })
    let other = Script(on: .loop(loop))
    reactor.send(0)
    #expect(isInside.wait())
    // In the middle of a turn.
    #expect(loop.counters.reactors == 1)
    #expect(loop.counters.inbox == 0)
    other.send(1)
    try loop.execute {}
    #expect(loop.counters.inbox == 2)
    for index in 1...9 { reactor.send(index) }
    let slept = ContinuousClock.now
    while ContinuousClock.now - slept < .milliseconds(5) {}
    mayGoOn.open()
    #expect(Threads.start { loop.shutdown() }.wait())
    let counters = loop.counters
    #expect(counters.actions == 11)
    #expect(counters.jobs == 1)
    // At least one of each reactor, and not more than actions.
    #expect((2...11).contains(counters.turns))
    #expect(counters.longestTurn >= .milliseconds(5))
    #expect((counters.reactors, counters.inbox, counters.waitingJobs) == (0, 0, 0))
    #expect(counters.description.hasPrefix("orders: turns \(counters.turns), actions 11, jobs 1, longest "))
    #expect(!counters.description.contains("\n"))
  }

  @Test
  func `a job counts as a turn where the longest one is measured`() throws {
    let loop = try Loop()
    try loop.execute {
      let begin = ContinuousClock.now
      while ContinuousClock.now - begin < .milliseconds(5) {}
    }
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(loop.counters.turns == 0)
    #expect(loop.counters.longestTurn >= .milliseconds(5))
  }

  /// And a loop that is awake is not woken.
  @Test
  func `a loop that sleeps is woken once however much is sent`() throws {
    let loop = try Loop()
    let isInside = Shared(Record<Int>())
    let mayGoOn = Shared(Record<Int>())
    let reactor = Script(
      on: .loop(loop), capacity: 1024,
      mutate: { _, action in
        // The first of a burst holds the loop until the whole burst is there.
        if action > 0 {
          isInside.value.append(action)
          _ = Threads.yield { mayGoOn.value.elements.contains(action) }
        }
        return .just(action)
      })
    let others = (0..<3).map { _ in Script(on: .loop(loop), capacity: 1024) }
    for round in 1...20 {
      // It sleeps: it got ready for that, and nothing has woken it since.
      #expect(Threads.yield { loop.counters.parks == round })
      #expect(loop.counters.wakes == round - 1)
      reactor.send(round)
      #expect(Threads.yield { isInside.value.elements.count == round })
      #expect(
        Threads.run(3) { thread in
          for _ in 0..<50 {
            reactor.send(0)
            others[thread].send(0)
            try? loop.execute {}
          }
        })
      mayGoOn.value.append(round)
    }
    #expect(Threads.yield { loop.counters.parks == 21 })
    #expect(loop.counters.wakes == 20)
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(loop.counters.actions == 20 * (1 + 3 * 50 * 2))
    #expect(loop.counters.jobs == 20 * 3 * 50)
  }

  @Test
  func `a loop works with each limit of its wait strategy`() throws {
    let strategies: [WaitStrategy] = [
      .spinning(beforeYield: 1), .spinning(beforeYield: .max), .parking(after: .zero),
      .parking(after: .milliseconds(2)),
    ]
    for waiting in strategies {
      let loop = try Loop(waiting: waiting, turnLimit: 1)
      let reactor = Script(on: .loop(loop))
      for index in 1...20 {
        reactor.send(index)
        #expect(Threads.yield { reactor.currentState.count == index })
      }
      #expect(Threads.start { loop.shutdown() }.wait())
    }
  }

  @Test(arguments: [1, 40])
  func `a loop sleeps when its patience is over, however many reactors it has`(_ count: Int) throws {
    let patience = Duration.milliseconds(100)
    let loop = try Loop(waiting: .parking(after: patience))
    let reactors = (0..<count).map { _ in Script(on: .loop(loop)) }
    let start = ContinuousClock.now
    for reactor in reactors { reactor.send(1) }
    #expect(Threads.yield { reactors.allSatisfy { $0.withCurrentState { $0.count } == 1 } })
    // Still awake: it is quiet for less than that.
    if ContinuousClock.now - start < patience / 2 { #expect(loop.counters.parks <= 1) }
    let parks = loop.counters.parks
    #expect(Threads.yield { loop.counters.parks > parks })
    #expect(ContinuousClock.now - start >= patience)
    #expect(loop.counters.reactors == 0)
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test func `wait strategies are values with a description`() {
    #expect(WaitStrategy.parking == .parking(after: .microseconds(5)))
    #expect(WaitStrategy.spinning != .spinning(beforeYield: 255))
    #expect("\(WaitStrategy.busy)" == "busy")
    #expect("\(WaitStrategy.parking(after: .seconds(7)))" == "parking(after: 7.0 seconds)")
  }

  @Test func `an impossible limit stops the program`() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = WaitStrategy.spinning(beforeYield: 0)
    }
    #expect(stop?.standardErrorContent.says("the limit of WaitStrategy.spinning") == true)
    let stop2 = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = WaitStrategy.parking(after: .seconds(-1))
    }
    #expect(stop2?.standardErrorContent.says("the patience of WaitStrategy.parking") == true)
    let stop3 = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = try Loop(turnLimit: 0)
    }
    #expect(stop3?.standardErrorContent.says("the turnLimit of the loop") == true)
    let stop4 = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = try Loop(jobCapacity: 0)
    }
    #expect(stop4?.standardErrorContent.says("the jobCapacity of the loop") == true)
    let stop5 = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = try HostedLoop(turnLimit: -1)
    }
    #expect(stop5?.standardErrorContent.says("the turnLimit of the loop") == true)
  }
}
