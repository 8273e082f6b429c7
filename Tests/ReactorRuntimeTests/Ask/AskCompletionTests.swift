import Dispatch
import ReactorCore
import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// What runs in the completion of a request: it never waits for room, and may ask again without an end, wherever it is called.
@Suite struct AskCompletionTests {
  /// Refuses every request: the only place in its mailbox is taken.
  private static func makeFull(_ loop: SteppedLoop, overflow: OverflowPolicy) throws -> Scripted {
    let reactor = Scripted(on: loop.placement, capacity: 1, overflow: overflow)
    try reactor.trySend(Scripted.Action())
    return reactor
  }

  @Test func `a completion may repeat a refused request any number of times`() throws {
    let loop = try SteppedLoop()
    let (reactor, refused) = (try Self.makeFull(loop, overflow: .fail), Counter())
    @Sendable func ask() {
      reactor.ask {
        Scripted.Action(reply: $0)
      } completion: { result in
        if case .failure(.refused(.full)) = result, refused.increase() < 100_000 { ask() }
      }
    }
    // On a thread of the usual size, whose stack would end after some thousand.
    #expect(Threads.start { ask() }.wait())
    #expect(refused.count == 100_000)
    // In a job of a loop, too.
    let jobs = try Loop()
    try jobs.execute { ask() }
    jobs.shutdown()
    #expect(refused.count == 100_001)
  }

  @Test(arguments: [OverflowPolicy.dropNewest, .dropOldest])
  func `a request that the policy drops is counted once`(_ overflow: OverflowPolicy) throws {
    let (loop, results) = (try SteppedLoop(), Record<String>())
    let reactor = try Self.makeFull(loop, overflow: overflow)
    reactor.ask {
      Scripted.Action(reply: $0)
    } completion: { result in
      if case .failure(let error) = result { results.append("\(error)") }
    }
    #expect(loop.run())
    #expect(reactor.counters.dropped == 1)
    #expect(reactor.counters.processed == 1)
    reactor.send(Scripted.Action())
    reactor.send(Scripted.Action())
    #expect(loop.run())
    #expect(reactor.counters.dropped == 2)
    loop.shutdown()
  }

  /// Where a completion is called.
  enum Call: CaseIterable, Sendable {
    case refused, timedOut, usedOutsideOfTurns, dropped
  }

  @Test(arguments: Call.allCases)
  func `a completion that sends to a full reactor does not wait`(_ call: Call) throws {
    let loop = try SteppedLoop()
    let full = try Self.makeFull(loop, overflow: .block)
    let (asked, kept, isOver) = (Scripted(), Shared(OwnerIsolated<Reply<Int>?>(nil)), Gate())
    // If it waits, this thread does, and nobody makes room.
    let caller = Threads.start {
      let deadline = call == .timedOut ? ContinuousClock.now + .milliseconds(20) : nil
      let reactor = call == .refused ? try? Self.makeFull(loop, overflow: .fail) : asked
      reactor?.ask(
        { reply in
          if call == .refused { return Scripted.Action(reply: reply) }
          return Scripted.Action(mutate: { kept.value.value = reply })
        }, before: deadline
      ) { _ in
        full.send(Scripted.Action())
        isOver.open()
      }
      switch call {
      case .refused, .timedOut: break
      case .usedOutsideOfTurns: _ = kept.value.value?(1)
      // The action is gone: this is the last reference.
      case .dropped: kept.value.value = nil
      }
    }
    #expect(isOver.wait(seconds: 60))
    // If it waits, it goes on.
    #expect(loop.run())
    #expect(caller.wait())
    #expect(full.currentState == 2)
    kept.value.value = nil
  }
}

/// Counts calls on one thread after the other.
private final class Counter: Sendable {
  private let value = SystemMutex(0)

  var count: Int { value.withLock { $0 } }

  func increase() -> Int {
    value.withLock { value in
      value += 1
      return value
    }
  }
}
