import FaultyPlatform
import Glibc
import TestSupport
import Testing

@testable import ReactorCore
@testable import ReactorRuntime

/// A sender that stops for a while, at each point between its claim in the mailbox and its look at the owner.
@Suite struct FrozenSenderTests {
  static let points = SendPoint.allCases.filter { $0 != .sent }

  /// Freezes a send of 2 behind one of 1 that was processed.
  private func freeze(
    at point: SendPoint, on placement: Placement, failures: Record<SendError> = Record()
  ) throws -> (Script, FrozenSend) {
    let reactor = Script(on: placement, capacity: 8, failures: failures)
    reactor.send(1)
    #expect(Threads.yield { reactor.currentState == [1] })
    var frozen = try #require(FrozenSend(2, to: reactor))
    frozen.go(to: point)
    return (reactor, frozen)
  }

  /// What it delays is what is sent later, and only until it publishes; and where there is no fence, the
  /// owner that would otherwise go away on the strength of a look that may have been too early.
  @Test(arguments: PlacementUnderTest.allCases)
  func `delays later sends only`(_ placement: PlacementUnderTest) throws {
    func body(_ point: SendPoint) throws {
      let stage = try Stage(placement)
      var (reactor, frozen) = try freeze(at: point, on: stage.placement)
      let isDone = Threads.start { [reactor] in
        for action in 3...5 { reactor.send(action) }
      }
      var last = 5
      if frozen.isVisible {
        #expect(isDone.wait())
        #expect(Threads.yield { reactor.currentState == [1, 2, 3, 4, 5] })
      } else if CurrentCore.hasFences || placement != .caller {
        // Who sends goes on, and the mailbox holds what it holds.
        #expect(isDone.wait())
        while (try? reactor.trySend(last + 1)) != nil { last += 1 }
        #expect(throws: SendError.full) { try reactor.trySend(-1) }
        // On the caller what was sent first is kept beside the ring, by who came as its owner.
        #expect(last == (placement == .caller ? 12 : 9))
        #expect(reactor.currentState == [1])
      } else {
        #expect(reactor.currentState == [1])
        #expect(!isDone.isOpen)
      }
      frozen.go(to: .sent)
      #expect(isDone.wait())
      #expect(Threads.yield { reactor.currentState.count == last })
      #expect(reactor.currentState == Array(1...last))
      reactor.send(last + 1)
      #expect(stage.finish { reactor.currentState.count == last + 1 })
      #expect(reactor.currentState == Array(1...last + 1))
    }
    for point in Self.points { try body(point) }
  }

  /// Nobody else comes: then what it sent waits for its look, and for nothing else.
  @Test(arguments: PlacementUnderTest.allCases)
  func `is its own owner in the end`(_ placement: PlacementUnderTest) throws {
    func body(_ point: SendPoint) throws {
      let stage = try Stage(placement)
      var (reactor, frozen) = try freeze(at: point, on: stage.placement)
      #expect(reactor.currentState.first == 1)
      frozen.go(to: .sent)
      #expect(stage.finish { reactor.currentState == [1, 2] })
      #expect(reactor.currentState == [1, 2])
    }
    for point in Self.points { try body(point) }
  }

  /// It has its place, so closing waits for it, and does with it what is done with all that was accepted.
  @Test(arguments: PlacementUnderTest.allCases)
  func `closing waits for it`(_ placement: PlacementUnderTest) throws {
    func body(_ point: SendPoint, _ closing: Closing) throws {
      let stage = try Stage(placement)
      let failures = Record<SendError>()
      var (reactor, frozen) = try freeze(at: point, on: stage.placement, failures: failures)
      let isDone = Threads.start { [reactor] in reactor.close(closing) }
      #expect(Threads.yield { reactor.isClosed })
      if frozen.isVisible {
        #expect(reactor.waitUntilClosed(before: .now + .seconds(patience)))
      } else {
        #expect(!reactor.waitUntilClosed(before: .now + .milliseconds(5)))
      }
      // Without fences, on the caller, it would become the owner, and wait.
      if frozen.isVisible || CurrentCore.hasFences || placement != .caller {
        #expect(throws: SendError.closed) { try reactor.trySend(3) }
      }
      frozen.go(to: .sent)
      #expect(isDone.wait())
      #expect(reactor.waitUntilClosed(before: .now + .seconds(patience)))
      // A loop may already have been at it when it was told to discard.
      if closing == .drain || reactor.currentState == [1, 2] {
        #expect(reactor.currentState == [1, 2])
        #expect(failures.elements == [])
      } else {
        #expect(reactor.currentState == [1])
        #expect(failures.elements == [.closed])
      }
      #expect(stage.finish())
    }
    for point in Self.points {
      for closing in [Closing.drain, .discard] { try body(point, closing) }
    }
  }

  /// Others on the same loop have their turns, however long it stops.
  @Test(arguments: points)
  func `others on the loop go on`(_ point: SendPoint) throws {
    let loop = try Loop()
    var (reactor, frozen) = try freeze(at: point, on: .loop(loop))
    reactor.send(3)
    let other = Script(on: .loop(loop))
    for round in 1...20 {
      other.send(round)
      #expect(Threads.yield { other.currentState.count == round })
    }
    #expect(reactor.currentState == (frozen.isVisible ? [1, 2, 3] : [1]))
    frozen.go(to: .sent)
    #expect(Threads.yield { reactor.currentState == [1, 2, 3] })
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  /// Refused the fence, an owner cannot know whether it was seen leaving; so it stays until the claim is
  /// published.
  @Test(arguments: points)
  func `without a fence the owner stays`(_ point: SendPoint) throws {
    var (reactor, frozen) = try freeze(at: point, on: Placement.caller)
    let isDone = Threads.start { [reactor] in
      faulty_fail(FAULTY_MEMBARRIER, -1, EPERM)
      reactor.send(3)
      faulty_reset()
    }
    if !frozen.isVisible, isRefused {
      for _ in 0..<1000 { DedicatedThread.yield() }
      #expect(!isDone.isOpen)
      #expect(reactor.currentState == [1])
    }
    frozen.go(to: .sent)
    #expect(isDone.wait())
    #expect(reactor.currentState == [1, 2, 3])
  }

  /// Not where no membarrier is used at all.
  private var isRefused: Bool {
    faulty_fail(FAULTY_MEMBARRIER, -1, EPERM)
    defer { faulty_reset() }
    return !CurrentCore.heavyFence()
  }
}
