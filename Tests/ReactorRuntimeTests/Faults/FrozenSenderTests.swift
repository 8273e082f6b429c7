import FaultyPlatform
import Glibc
import TestSupport
import Testing

@testable import ReactorCore
@testable import ReactorRuntime

/// A sender stops for a while, at each point between its claim in the mailbox and its check for an owner.
@Suite struct FrozenSenderTests {
  static let points = SendPoint.allCases.filter { $0 != .sent }

  /// Stops a send of action 2 at `point`, after action 1 was processed.
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

  /// The stopped sender delays actions that are sent later, and only until it publishes. Where there is no fence it also
  /// delays the owner: an owner that finds an unpublished claim must not leave, since its last check may have been too
  /// early.
  @Test(arguments: PlacementUnderTest.allCases)
  func `a stopped sender delays later actions only`(_ placement: PlacementUnderTest) throws {
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
        // Senders do not wait, and the mailbox accepts as much as its capacity allows.
        #expect(isDone.wait())
        while (try? reactor.trySend(last + 1)) != nil { last += 1 }
        #expect(throws: SendError.full) { try reactor.trySend(-1) }
        // On the caller the thread that came as the owner keeps what was sent first beside the ring.
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

  /// If no other thread comes, the stopped sender itself becomes the owner when it goes on.
  @Test(arguments: PlacementUnderTest.allCases)
  func `a stopped sender processes its own action in the end`(_ placement: PlacementUnderTest) throws {
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

  /// Its action was accepted with the claim. So closing waits for the publication, and then processes or reports the
  /// action like every other one.
  @Test(arguments: PlacementUnderTest.allCases)
  func `closing waits for a stopped sender`(_ placement: PlacementUnderTest) throws {
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
      // Without fences a sender on the caller would become the owner, and wait.
      if frozen.isVisible || CurrentCore.hasFences || placement != .caller {
        #expect(throws: SendError.closed) { try reactor.trySend(3) }
      }
      frozen.go(to: .sent)
      #expect(isDone.wait())
      #expect(reactor.waitUntilClosed(before: .now + .seconds(patience)))
      // A loop may already have been processing it when it was told to discard.
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

  /// Other reactors on the same loop have their turns, however long the sender stops.
  @Test(arguments: points)
  func `other reactors on the loop go on beside a stopped sender`(_ point: SendPoint) throws {
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

  /// If the kernel refuses the fence, an owner cannot know whether the sender sees it leave. So it stays until the claim
  /// is published.
  @Test(arguments: points)
  func `an owner that is refused the fence stays until the claim is published`(_ point: SendPoint) throws {
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

  /// Whether the heavy fence fails when the kernel refuses membarrier. It does not where membarrier is not used at all.
  private var isRefused: Bool {
    faulty_fail(FAULTY_MEMBARRIER, -1, EPERM)
    defer { faulty_reset() }
    return !CurrentCore.heavyFence()
  }
}
