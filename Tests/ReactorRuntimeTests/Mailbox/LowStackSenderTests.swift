import ReactorCore
import Synchronization
import TestSupport
import Testing

@testable import ReactorRuntime

/// Threads that are made for senders whose stack is nearly used up.
@Suite struct LowStackSenderTests {
  /// Calls `body` where more than half of the thread's stack is used.
  private static func onLowStack(_ body: () -> Void) {
    if ThreadStack.isLow { return body() }
    withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { memory in
      memory[0] = 1
      onLowStack(body)
      memory[1] = 1
    }
  }

  private static func threadsMade(for reactor: Script) -> UInt32 {
    reactor.runtime.newThreads.load(ordering: .sequentiallyConsistent) / 2
  }

  @Test
  func `a sender with a low stack makes no thread while another one runs the turns`() throws {
    let stops = Stops(at: [0], capacity: 4)
    let ownerIsDone = try stops.fill()
    let isDone = Threads.start {
      Self.onLowStack {
        #expect(throws: SendError.timedOut) {
          try stops.reactor.send(100, before: .now + .milliseconds(50))
        }
      }
    }
    #expect(isDone.wait())
    #expect(Self.threadsMade(for: stops.reactor) == 0)
    stops.goOn(from: 0)
    #expect(ownerIsDone.wait())
  }

  /// Senders have filled the mailbox and stopped before they check for an owner.
  @Test
  func `a sender with a low stack makes one thread for a wait`() throws {
    let stops = Stops(at: [1], capacity: 4)
    let frozen = try (1...4).map { action in
      var send = try #require(FrozenSend(action, to: stops.reactor))
      send.go(to: .published)
      return send
    }
    let isDone = Threads.start { Self.onLowStack { stops.reactor.send(100) } }
    #expect(stops.wait(in: 1))
    #expect(Threads.yield { stops.waiting == 1 })
    #expect(Self.threadsMade(for: stops.reactor) == 1)
    stops.goOn(from: 1)
    #expect(isDone.wait())
    for var send in frozen { send.go(to: .sent) }
    #expect(Threads.yield { stops.reactor.currentState == [1, 2, 3, 4, 100] })
    // A second one if the first had ended before action 100 came.
    #expect(Self.threadsMade(for: stops.reactor) <= 2)
  }

  @Test
  func `each time that a low stack needs a thread, one is made`() {
    let reactor = Script(on: .caller)
    reactor.send(0)
    for action in 1...3 {
      #expect(Threads.start { Self.onLowStack { reactor.send(action) } }.wait())
      #expect(Threads.yield { reactor.currentState.count == action + 1 && !reactor.runtime.state.isBusy })
    }
    #expect(reactor.currentState == [0, 1, 2, 3])
    #expect(Self.threadsMade(for: reactor) == 3)
  }

  @Test
  func `a sender with a low stack can send the first action of all`() {
    let reactor = Script(on: .caller)
    #expect(Threads.start { Self.onLowStack { reactor.send(1) } }.wait())
    #expect(Threads.yield(seconds: 20) { reactor.currentState == [1] })
  }
}
