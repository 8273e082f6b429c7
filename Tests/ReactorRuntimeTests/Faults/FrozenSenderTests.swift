import FaultyPlatform
import Glibc
import ReactorTesting
import TestSupport
import Testing

@testable import ReactorCore
@testable import ReactorRuntime

/// How far a send has come.
enum SendPoint: Int, CaseIterable, Sendable {
  case claimed
  case written
  case published
  /// After the light fence, before the check whether there is an owner.
  case fenced
  case sent
}

/// A send that a test makes step by step, as `Runtime.enqueue` does it in one go.
struct FrozenSend {
  private let reactor: Script
  // Keeps the ring alive.
  private let segment: GrowingRing<Work<Int>>.Segment
  private let cursor: UInt64
  private let action: Int
  private var point = SendPoint.claimed

  /// Claims a slot. Returns nil if there is no room.
  init?(_ action: Int, to reactor: Script) {
    let newest = reactor.runtime.mailbox.ring.newest.use { $0 }
    guard let segment = newest ?? reactor.runtime.mailbox.ring.makeFirst(),
      case .claimed(let cursor) = segment.ring.raw.tryClaim(1)
    else { return nil }
    (self.reactor, self.segment, self.cursor, self.action) = (reactor, segment, cursor, action)
  }

  /// Makes the steps up to `end`.
  mutating func go(to end: SendPoint) {
    while point.rawValue < end.rawValue {
      switch point {
      case .claimed:
        segment.ring.raw.slots.payload(cursor, as: Work<Int>.self).initialize(to: .action(action))
      case .written: segment.ring.raw.publish(cursor, count: 1)
      case .published: CurrentCore.lightFence()
      case .fenced: if !reactor.runtime.state.isBusy { reactor.runtime.acquireAndRunOrSchedule(reactor) }
      case .sent: return
      }
      point = SendPoint(rawValue: point.rawValue + 1)!
    }
  }

  /// Whether the owner can process this action and those that were sent later.
  var isVisible: Bool { point.rawValue >= SendPoint.published.rawValue }
}

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
        #expect(reactor.waitUntilEnded(before: .now + .seconds(patience)))
      } else {
        #expect(!reactor.waitUntilEnded(before: .now + .milliseconds(5)))
      }
      // Without fences a sender on the caller would become the owner, and wait.
      if frozen.isVisible || CurrentCore.hasFences || placement != .caller {
        #expect(throws: SendError.closed) { try reactor.trySend(3) }
      }
      frozen.go(to: .sent)
      #expect(isDone.wait())
      #expect(reactor.waitUntilEnded(before: .now + .seconds(patience)))
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
  @Test(
    .disabled(if: Build.isPureSwift, "without a fence the loop waits for the publication"), arguments: points)
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

/// A sender stops between claim and publication while newer actions push older ones out.
@Suite struct FrozenOverflowTests {
  /// The owner takes over the actions that are kept beside the ring, and cannot process them yet. So they must give way
  /// to newer ones, too, or else their number would grow without bound.
  @Test(
    .disabled(if: Build.isPureSwift, "without a fence the owner waits for the publication"),
    arguments: [1, 8])
  func `memory stays bounded while the oldest give way behind an unpublished claim`(_ capacity: Int) throws {
    let loop = try SteppedLoop()
    let failures = Record<SendError>()
    let reactor = Script(
      on: loop.placement, capacity: capacity, overflow: .dropOldest, failures: failures)
    reactor.send(0)
    loop.step()
    var frozen = try #require(FrozenSend(1, to: reactor))
    for action in 2...1000 {
      reactor.send(action)
      loop.step()
    }
    #expect(failures.elements.count >= 1000 - 4 * capacity)
    frozen.go(to: .sent)
    loop.run()
    #expect(reactor.currentState.last == 1000)
    #expect(reactor.currentState.count <= 1 + 4 * capacity)
    #expect(reactor.currentState.count + failures.elements.count == 1001)
  }
}

/// A thread that closes a reactor stops for a while in the middle of closing it.
@Suite struct FrozenCloseTests {
  /// At that point the reactor is already marked as closed, but its ring still accepts actions.
  @Test(arguments: PlacementUnderTest.allCases)
  func `a reactor does not end before it refuses actions`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let reactor = Script(on: stage.placement)
    reactor.send(1)
    #expect(Threads.yield { reactor.currentState == [1] })
    let next = reactor.runtime.mailbox.ring.lifecycle.openToClosing(by: .reactor(.drain))
    #expect(next == .seal)
    // Twice a turn after which nothing is left.
    for action in 2...3 {
      reactor.send(action)
      #expect(Threads.yield { reactor.currentState.count == action })
      #expect(Threads.yield { !reactor.runtime.state.isBusy })
      let phase = reactor.runtime.mailbox.ring.lifecycle.current.phase
      #expect(phase == .closing)
    }
    reactor.close()
    #expect(reactor.waitUntilEnded(before: .now + .seconds(patience)))
    #expect(stage.finish())
    #expect(reactor.currentState == [1, 2, 3])
  }
}
