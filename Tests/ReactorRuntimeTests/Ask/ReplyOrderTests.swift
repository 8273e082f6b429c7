import ReactorCore
import ReactorRuntime
import ReactorTesting
import Synchronization
import TestSupport
import Testing

/// When a reply reaches its asker: after the turn in which it was used, when the state can be read.
@Suite struct ReplyOrderTests {
  @Test(arguments: askedPlaces)
  func `a completion is called when another thread reads the new state`(
    _ placement: PlacementUnderTest, _ snapshots: SnapshotPolicy
  ) throws {
    let stage = try Stage(placement)
    let reactor = Scripted(on: stage.placement, snapshots: snapshots)
    let (read, isDone) = (Record<Int>(), Gate(count: 3))
    for _ in 0..<3 {
      reactor.ask { reply in
        Scripted.Action(mutate: { reply(0) })
      } completion: { _ in
        #expect(Threads.run(1) { _ in read.append(reactor.currentState) })
        isDone.open()
      }
    }
    #expect(isDone.wait())
    // Several actions may be one turn. Never is it the state before the action.
    #expect(zip(read.elements, 1...3).allSatisfy { $0 >= $1 }, "\(read.elements)")
    #expect(stage.finish())
  }

  /// Between two turns, since the first one was full: what the completion makes a stream emit is of the next turn, with its reply.
  @Test func `a completion between two turns does not let a later reply leave before its state is shown`() {
    let reactor = Answering()
    let read = Record<Int>()
    reactor.send(.listen)
    reactor.ask(
      { .keep($0) },
      completion: { _ in
        #expect(Threads.run(1) { _ in read.append(reactor.currentState) })
      })
    reactor.ask({ .flood($0) }, completion: { _ in reactor.source.onNext(()) })
    #expect(read.elements == [1])
  }

  /// Replies to the request that it has kept when its source emits, and counts that.
  private final class Answering: Reactor {
    enum Action: Sendable {
      case listen
      case keep(Reply<Int>)
      /// Replies, and sends more than a turn takes.
      case flood(Reply<Int>)
      case tick
    }
    enum Mutation: Sendable { case answer }

    let initialState = 0
    let runtime = Runtime<Action, Mutation, Int>(reentrantCapacity: 4096)
    let source = PublishSubject<Void>()
    private let kept = Record<Reply<Int>>()

    func mutate(action: Action) -> Observable<Mutation> {
      switch action {
      case .listen: return source.map { .answer }
      case .keep(let reply): kept.append(reply)
      case .flood(let reply):
        reply(0)
        for _ in 0..<3000 { send(.tick) }
      case .tick: break
      }
      return .empty()
    }

    func reduce(into state: inout Int, mutation: Mutation) {
      state += 1
      kept.elements[0](0)
    }
  }

  @Test func `a completion after a turn from the mailbox finds the reactor without an owner`() {
    let reactor = Scripted()
    let reduced = Record<Int>()
    // The request comes from inside of a turn, so it waits in the mailbox.
    reactor.send(
      Scripted.Action(mutate: {
        reactor.ask { reply in
          Scripted.Action(mutate: { reply(0) })
        } completion: { _ in
          let before = reactor.currentState
          reactor.send(Scripted.Action())
          reduced.append(reactor.currentState - before)
        }
      }))
    // Reduced before that send returned.
    #expect(reduced.elements == [1])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a completion is called outside of the turn, and in the order of the replies`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let reactor = Scripted(on: stage.placement)
    let (log, isDone) = (Record<String>(), Gate(count: 2))
    let kept = Record<Reply<Int>>()
    let first = Gate()
    reactor.ask { reply in
      Scripted.Action(mutate: {
        kept.append(reply)
        first.open()
      })
    } completion: { _ in
      log.append("first")
      isDone.open()
    }
    #expect(first.wait())
    reactor.ask { reply in
      Scripted.Action(
        mutate: {
          reply(0)
          kept.elements[0](0)
          log.append("mutate")
        }, reduce: { log.append("reduce") })
    } completion: { _ in
      log.append("second")
      isDone.open()
    }
    #expect(isDone.wait())
    #expect(log.elements == ["mutate", "reduce", "second", "first"])
    #expect(stage.finish())
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a completion can send to its reactor and ask it again, which is not recursive`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let reactor = Scripted(on: stage.placement)
    let (depth, depths, isDone) = (Shared(Depth()), Record<Int>(), Gate())
    @Sendable func ask(_ left: Int) {
      reactor.ask { reply in
        Scripted.Action(reduce: { reply(left) })
      } completion: { _ in
        depths.append(depth.value.enter())
        reactor.send(Scripted.Action())
        if left > 0 { ask(left - 1) } else { isDone.open() }
        depth.value.leave()
      }
    }
    ask(999)
    #expect(isDone.wait())
    #expect(depths.elements == Array(repeating: 1, count: 1000))
    #expect(Threads.yield { reactor.currentState == 2000 })
    #expect(stage.finish())
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a reply that another reactor uses waits for that one's turn`(_ placement: PlacementUnderTest) throws {
    let (stage, other) = (try Stage(placement), try Stage(placement))
    let front = Scripted(on: stage.placement)
    let back = Scripted(on: other.placement, snapshots: .copied)
    let (read, isDone) = (Record<Int>(), Gate())
    front.ask { (reply: Reply<Int>) in
      Scripted.Action(mutate: { back.send(Scripted.Action(mutate: { reply(0) })) })
    } completion: { _ in
      #expect(Threads.run(1) { _ in read.append(back.currentState) })
      isDone.open()
    }
    #expect(isDone.wait())
    #expect(read.elements == [1])
    #expect(stage.finish())
    #expect(other.finish())
  }

  @Test func `a completion of a turn inside of a turn is called when both have ended`() {
    let (outer, inner, log) = (Scripted(), Scripted(), Record<String>())
    outer.send(
      Scripted.Action(
        mutate: {
          inner.ask { (reply: Reply<Int>) in
            Scripted.Action(mutate: { reply(0) })
          } completion: { _ in
            log.append("reply, \(outer.currentState), \(inner.currentState)")
          }
          log.append("mutate")
        }))
    #expect(log.elements == ["mutate", "reply, 1, 1"])
  }

  @Test func `each turn of a loop delivers the replies that were used in it`() throws {
    let loop = try SteppedLoop(turnLimit: 2)
    let (reactor, replies) = (Scripted(on: loop.placement), Record<Int>())
    for index in 0..<5 {
      reactor.ask { reply in
        Scripted.Action(reduce: { reply(index) })
      } completion: { _ in
        replies.append(index)
      }
    }
    for expected in [2, 4, 5] {
      _ = loop.step()
      #expect(replies.elements == Array(0..<expected))
    }
    loop.shutdown()
  }

  @Test func `an owner that sends to itself without end delivers replies at the turn limit`() {
    let (reactor, replies, count) = (Scripted(), Record<Int>(), Record<Bool>())
    @Sendable func again() {
      count.append(true)
      // It ends when the reply was delivered, or after many turns.
      if replies.elements.isEmpty, count.elements.count < 10_000 {
        reactor.send(Scripted.Action(mutate: { again() }))
      }
    }
    reactor.ask { reply in
      Scripted.Action(mutate: {
        reply(0)
        again()
      })
    } completion: { _ in
      replies.append(reactor.currentState)
    }
    #expect(replies.elements.count == 1)
    #expect(count.elements.count < 5000)
  }

  @Test func `a reply that is used inside of a job or a read outside of turns is delivered at once`() throws {
    let loop = try Loop()
    let (reactor, kept, log, isDone) = (Scripted(), Record<Reply<Int>>(), Record<String>(), Gate())
    for _ in 0..<2 {
      reactor.ask { reply in
        Scripted.Action(mutate: { kept.append(reply) })
      } completion: { _ in
        log.append("reply")
      }
    }
    try loop.execute {
      kept.elements[0](0)
      log.append("job")
      isDone.open()
    }
    #expect(isDone.wait())
    Scripted(snapshots: .onDemand).withCurrentState { _ in
      kept.elements[1](0)
      log.append("read")
    }
    #expect(log.elements == ["reply", "job", "reply", "read"])
    loop.shutdown()
  }
}

/// How many calls are inside of each other.
private struct Depth: ~Copyable, Sendable {
  private let count = Atomic(0)
  func enter() -> Int { count.add(1, ordering: .relaxed).newValue }
  func leave() { count.subtract(1, ordering: .relaxed) }
}
