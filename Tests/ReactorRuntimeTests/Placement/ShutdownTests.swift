import Foundation
import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// The end of a loop: everything that was sent before is reduced, everything that comes later is refused, and nothing is
/// lost silently.
@Suite struct ShutdownTests {
  @Test
  func `a shutdown reduces what was sent before and refuses what comes later`() throws {
    let loop = try Loop()
    let failures = Record<SendError>()
    let isInside = Gate()
    let mayGoOn = Gate()
    let reactor = Script(
      on: .loop(loop), capacity: 256, failures: failures,
      mutate: { _, action in
        if action == 0 {
          isInside.open()
          _ = mayGoOn.wait()
        }
        return .just(action)
      })
    reactor.send(0)
    #expect(isInside.wait())
    for index in 1...100 { reactor.send(index) }
    let isDown = Threads.start { loop.shutdown() }
    mayGoOn.open()
    #expect(isDown.wait())
    #expect(reactor.currentState == Array(0...100))
    reactor.send(1000)
    #expect(failures.elements == [.closed])
    #expect(throws: SendError.closed) { try reactor.trySend(1001) }
    reactor.send(1002)
    #expect(failures.elements == [.closed, .closed])
    #expect(reactor.currentState == Array(0...100))
  }

  @Test
  func `a shutdown of several parts before a time in the far past waits for none of them`() throws {
    let loops = [try Loop(), try Loop()]
    let keyed = KeyedReactors<Int, Script> { _ in Script(on: .loop(loops[0])) }
    // Each may have ended by then.
    try? Shutdown.close([keyed, loops[0], loops[1]], before: .now + Duration(attoseconds: .min))
    for loop in loops { #expect(Threads.start { loop.shutdown() }.wait()) }
  }

  @Test
  func `the first trySend after a shutdown throws`() throws {
    for hasRun in [false, true] {
      let loop = try Loop()
      let failures = Record<SendError>()
      let reactor = Script(on: .loop(loop), failures: failures)
      if hasRun { reactor.send(1) }
      #expect(Threads.start { loop.shutdown() }.wait())
      #expect(throws: SendError.closed) { try reactor.trySend(2) }
      // It is refused once: either thrown or reported, not both.
      #expect(failures.elements == [])
      #expect(reactor.currentState == (hasRun ? [1] : []))
    }
  }

  @Test
  func `several threads may shut a loop down and more than once`() throws {
    for _ in 0..<20 {
      let loop = try Loop()
      let reactor = Script(on: .loop(loop))
      for index in 0..<10 { reactor.send(index) }
      let states = Record<[Int]>()
      // When one of them returns, everything is reduced.
      #expect(
        Threads.run(2) { _ in
          loop.shutdown()
          states.append(reactor.currentState)
        })
      #expect(Threads.start { loop.shutdown() }.wait())
      #expect(states.elements == [Array(0..<10), Array(0..<10)])
    }
  }

  @Test
  func `a loop that is released without shutdown reduces what was sent before`() throws {
    let lifetimes = Lifetimes()
    let reduced = Record<Int>()
    for _ in 0..<10 {
      let tracked = lifetimes.track()
      let reactor = Script(
        on: .loop(try Loop()),
        mutate: { _, action in
          _ = tracked.value
          reduced.append(action)
          return .just(action)
        })
      for index in 0..<10 { reactor.send(index) }
    }
    // Each reactor went first, and then its loop.
    #expect(Threads.yield { lifetimes.alive == 0 })
    #expect(reduced.elements.count == 100)
  }

  @Test
  func `a loop without reactors may go away, and its thread ends`() throws {
    let name = "goes-away"
    for _ in 0..<20 {
      let loop = try Loop(name: name)
      let hasBegun = Gate()
      try loop.execute { hasBegun.open() }
      #expect(hasBegun.wait())
    }
    #expect(Threads.yield { Self.threadNames.allSatisfy { $0 != name } })
  }

  /// The names of the threads of this process.
  private static var threadNames: [String] {
    let tasks = "/proc/self/task"
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
    return numbers.compactMap { number in
      // Nil for a thread that has ended meanwhile.
      (try? String(contentsOfFile: "\(tasks)/\(number)/comm", encoding: .utf8))?
        .trimmingCharacters(in: .newlines)
    }
  }

  @Test
  func `every send around a shutdown is reduced or reported`() throws {
    for round in 0..<20 {
      let loop = try Loop(waiting: round % 2 == 0 ? .parking : .spinning)
      let failures = Record<SendError>()
      let reactor = Script(on: .loop(loop), failures: failures)
      let started = Gate(count: 3)
      let each = 500
      let isDone = Threads.start {
        _ = Threads.run(3) { _ in
          for index in 0..<each {
            if index == 100 { started.open() }
            reactor.send(index)
          }
        }
      }
      #expect(started.wait())
      loop.shutdown()
      #expect(isDone.wait())
      #expect(reactor.currentState.count + failures.elements.count == 3 * each)
      #expect(failures.elements.allSatisfy { $0 == .closed })
    }
  }

  @Test
  func `what a turn sends during a shutdown is reduced or reported`() throws {
    let loop = try Loop()
    let failures = Record<SendError>()
    let isInside = Gate()
    let mayGoOn = Gate()
    let other = Script(on: .loop(loop), failures: failures)
    let reactor = Script(
      on: .loop(loop),
      mutate: { _, action in
        isInside.open()
        _ = mayGoOn.wait()
        for next in 1...5 { other.send(next) }
        return .just(action)
      })
    reactor.send(0)
    #expect(isInside.wait())
    let isDown = Threads.start { loop.shutdown() }
    // The shutdown has begun once the loop refuses. Its thread is held inside the turn meanwhile.
    let probe = Script(on: .loop(loop), failures: Record())
    #expect(
      Threads.yield {
        do { try probe.trySend(0) } catch { return true }
        return false
      })
    mayGoOn.open()
    #expect(isDown.wait())
    #expect(reactor.currentState == [0])
    #expect(other.currentState.count + failures.elements.count == 5)
  }

  @Test
  func `no thread is inside of a loop that has ended`() throws {
    let loop = try Loop()
    #expect(Threads.start { loop.shutdown() }.wait())
    // A new thread may get the memory of one that has ended, and with it its token.
    let mistaken = Record<Bool>()
    for _ in 0..<50 {
      #expect(Threads.run(2) { _ in if loop.isCurrent { mistaken.append(true) } })
    }
    #expect(mistaken.elements == [])
  }

  /// Only the thread that closes the parts runs the rounds of the hosted loop, and it waits for the reactor's end at first.
  @Test(arguments: [false, true])
  func `parts end in any order although one runs the rounds for another`(_ isLoopFirst: Bool) throws {
    let parts = Shared(OwnerIsolated<(hosted: HostedLoop, reactor: Script)?>(nil))
    // The thread that hosts it has ended.
    let host = Threads.start {
      guard let hosted = try? HostedLoop() else { return }
      parts.value.value = (hosted, Script(on: hosted.placement))
      _ = hosted.run()
    }
    #expect(host.wait())
    let made = parts.value.value
    let (hosted, reactor) = try #require(made)
    reactor.send(1)
    let closing: [any Closeable] = isLoopFirst ? [hosted, reactor.closer()] : [reactor.closer(), hosted]
    try Shutdown.close(closing, before: .now + .seconds(patience))
    #expect(reactor.currentState == [1])
    parts.value.value = nil
  }

  /// Ends never, and says so at once.
  private struct Endless: Closeable {
    func beginClosing() {}
    func finishClosing(before deadline: ContinuousClock.Instant) -> [Unfinished] {
      [Unfinished(name: "endless", loop: nil, occupation: .closesItself)]
    }
  }

  @Test func `a shutdown does not wait for parts that do not wait themselves`() {
    let begin = ContinuousClock.now
    #expect(throws: ShutdownError.self) {
      try Shutdown.close([Endless(), Endless()], before: .now + .seconds(patience))
    }
    #expect(.now - begin < .seconds(patience / 2))
  }

  @Test func `a shutdown that a part begins itself closes what is behind that part`() throws {
    let (loop, sessions) = (try Loop(), SessionStore().makeSessions())
    sessions.send(
      .run { [unowned sessions] in
        #expect(throws: ShutdownError.self) {
          try Shutdown.close([sessions, loop], before: .now + .seconds(patience))
        }
        #expect(throws: LoopError.closed) { try loop.execute {} }
      }, to: 1)
    #expect(Threads.start { loop.shutdown() }.wait())
  }
}
