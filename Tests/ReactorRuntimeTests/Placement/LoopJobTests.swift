import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// The jobs of a loop.
@Suite struct LoopJobTests {
  @Test
  func `jobs of one thread run on the loop in their order`() throws {
    let loop = try Loop()
    let ran = Record<Int>()
    #expect(
      Threads.run(3) { thread in
        for index in 0..<2000 {
          do {
            try loop.execute { if loop.isCurrent { ran.append(thread * 10_000 + index) } }
          } catch { Issue.record(error) }
        }
      })
    #expect(Threads.start { loop.shutdown() }.wait())
    for thread in 0..<3 {
      #expect(ran.elements.filter { $0 / 10_000 == thread } == (0..<2000).map { thread * 10_000 + $0 })
    }
    #expect(loop.counters.jobs == 6000)
    #expect(loop.counters.waitingJobs == 0)
  }

  @Test
  func `a job from inside a turn runs after the turn`() throws {
    let loop = try Loop()
    let steps = Record<String>()
    let isDone = Gate()
    let reactor = Script(
      on: .loop(loop),
      mutate: { _, action in
        try? loop.execute {
          steps.append("job")
          isDone.open()
        }
        steps.append("turn")
        return .just(action)
      })
    reactor.send(1)
    #expect(isDone.wait())
    #expect(steps.elements == ["turn", "job"])
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test
  func `jobs and reactors take turns`() throws {
    let loop = try Loop(turnLimit: 4)
    let hasTurn = Gate()
    let hasJob = Gate()
    @Sendable func again() {
      // Jobs and actions both go on until the other kind had its turn.
      if !hasTurn.isOpen { try? loop.execute { again() } }
    }
    let busy = Script(
      on: .loop(loop),
      mutate: { reactor, action in
        if !hasJob.isOpen { reactor.send(action) } else { hasTurn.open() }
        return .empty()
      })
    for _ in 0..<8 { try loop.execute { again() } }
    busy.send(0)
    for _ in 0..<8 { busy.send(0) }
    try loop.execute { hasJob.open() }
    #expect(hasJob.wait())
    #expect(hasTurn.wait())
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  @Test
  func `jobs that were accepted run before the end and later ones are refused`() throws {
    let loop = try Loop()
    let isInside = Gate()
    let mayGoOn = Gate()
    let ran = Record<Int>()
    try loop.execute {
      isInside.open()
      _ = mayGoOn.wait()
      // A job of the loop itself is accepted although the loop is closed by now.
      try? loop.execute { ran.append(100) }
    }
    #expect(isInside.wait())
    for index in 0..<50 { try loop.execute { ran.append(index) } }
    let isDown = Threads.start { loop.shutdown() }
    #expect(
      Threads.yield {
        do { try loop.schedule(after: .seconds(3600)) {} } catch { return true }
        return false
      })
    #expect(throws: LoopError.closed) { try loop.execute { ran.append(1000) } }
    mayGoOn.open()
    #expect(isDown.wait())
    #expect(ran.elements == Array(0..<50) + [100])
    #expect(throws: LoopError.closed) { try loop.execute { ran.append(1000) } }
  }

  @Test
  func `every job around a shutdown is run or refused`() throws {
    for _ in 0..<30 {
      let loop = try Loop()
      let (ran, refused) = (Record<Int>(), Record<Int>())
      let started = Gate(count: 2)
      let isDone = Threads.start {
        _ = Threads.run(2) { _ in
          for index in 0..<500 {
            if index == 50 { started.open() }
            do { try loop.execute { ran.append(index) } } catch { refused.append(index) }
          }
        }
      }
      #expect(started.wait())
      loop.shutdown()
      let countAtTheEnd = ran.elements.count
      #expect(isDone.wait())
      #expect(ran.elements.count == countAtTheEnd)
      #expect(countAtTheEnd + refused.elements.count == 1000)
    }
  }

  @Test
  func `a job for which there is no room is refused`() throws {
    let loop = try Loop(jobCapacity: 3)
    let mayGoOn = try loop.hold()
    try loop.execute {}
    let timer = try loop.schedule(after: .seconds(3600)) {}
    #expect(throws: LoopError.full) { try loop.execute {} }
    // A timer that is cancelled makes room.
    timer.dispose()
    try loop.execute {}
    #expect(throws: LoopError.full) { try loop.schedule(after: .zero) {} }
    mayGoOn.open()
    #expect(Threads.yield { loop.counters.jobs == 3 })
    try loop.execute {}
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(loop.counters.jobs == 4)
  }

  @Test
  func `timers that end with their loop take no room from the jobs that it still submits`() throws {
    let loop = try Loop(jobCapacity: 8)
    let ran = Record<Int>()
    let mayGoOn = try loop.hold()
    for _ in 0..<6 { try loop.schedule(after: .seconds(3600)) {} }
    try loop.execute { for job in 0..<5 { try? loop.execute { ran.append(job) } } }
    loop.beginClosing()
    mayGoOn.open()
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(ran.elements == Array(0..<5))
  }

  @Test
  func `what a job captures is released right after it has run`() throws {
    let loop = try Loop()
    let lifetimes = Lifetimes()
    let mayGoOn = Gate()
    let isHeld = try loop.hold()
    try loop.execute { [tracked = lifetimes.track()] in _ = tracked.value }
    let aliveThen = Record<Int>()
    // It is taken in together with the one before it.
    try loop.execute {
      aliveThen.append(lifetimes.alive)
      mayGoOn.open()
    }
    isHeld.open()
    #expect(mayGoOn.wait())
    #expect(aliveThen.elements == [0])
    #expect(Threads.start { loop.shutdown() }.wait())
  }
}
