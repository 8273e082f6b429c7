import ReactorCore
import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// Tests of a loop that the test steps.
@Suite struct SteppedLoopTests {
  private final class Adder: Reactor {
    typealias Action = Int
    typealias State = Int
    let initialState = 0
    let runtime: Runtime<Int, Int, Int>

    init(on placement: Placement) { runtime = Runtime(on: placement, capacity: 16) }

    func mutate(action: Int) -> Observable<Int> {
      if action >= 100 { send(action - 100) }
      return .just(action)
    }

    func reduce(into state: inout Int, mutation: Int) { state += mutation }
  }

  @Test
  func `nothing runs between steps`() throws {
    let loop = try SteppedLoop()
    let reactor = Adder(on: loop.placement)
    #expect(loop.step() == 0)
    reactor.send(1)
    reactor.send(2)
    #expect(reactor.currentState == 0)
    #expect(loop.step() == 2)
    #expect(reactor.currentState == 3)
    #expect(loop.step() == 0)
  }

  @Test
  func `a step runs one turn of each reactor`() throws {
    let loop = try SteppedLoop(turnLimit: 2)
    let (first, second) = (Adder(on: loop.placement), Adder(on: loop.placement))
    for _ in 0..<5 { first.send(1) }
    second.send(1)
    #expect(loop.step() == 3)
    #expect((first.currentState, second.currentState) == (2, 1))
    #expect(loop.run())
    #expect((first.currentState, second.currentState) == (5, 1))
  }

  /// It tells another one when it ends.
  private final class Child: Reactor, EndObserving {
    typealias Action = Never
    typealias State = Int
    let initialState = 0
    let runtime: Runtime<Never, Never, Int>
    private let parent: Adder

    init(of parent: Adder, on placement: Placement) {
      self.parent = parent
      runtime = Runtime(on: placement)
    }

    func mutate(action: Never) -> Observable<Never> {}
    func reduce(into state: inout Int, mutation: Never) {}
    func willEnd(_ state: borrowing Int) { parent.send(1) }
  }

  @Test
  func `it runs until nothing is left also if a step had no items`() throws {
    let loop = try SteppedLoop()
    let parent = Adder(on: loop.placement)
    let child = Child(of: parent, on: loop.placement)
    child.close()
    #expect(loop.run())
    #expect(parent.currentState == 1)
    #expect(loop.step() == 0)
  }

  @Test
  func `another thread may send and step`() throws {
    let loop = try SteppedLoop(turnLimit: 1)
    let reactor = Adder(on: loop.placement)
    // This thread steps first, so that the other thread continues with a reactor that this one has run.
    for _ in 0..<3 { reactor.send(1) }
    #expect(loop.step() == 1)
    #expect(
      Threads.start {
        reactor.send(10)
        loop.run()
      }.wait())
    #expect(reactor.currentState == 13)
    reactor.send(100)
    #expect(loop.run())
    #expect(reactor.currentState == 113)
  }

  @Test
  func `trySend fails on a full mailbox without waiting`() throws {
    let loop = try SteppedLoop()
    let reactor = Adder(on: loop.placement)
    for _ in 0..<16 { try reactor.trySend(1) }
    #expect(throws: SendError.full) { try reactor.trySend(1) }
    loop.step()
    #expect(reactor.currentState == 16)
  }

  @Test
  func `shutdown processes what was sent and refuses later sends`() throws {
    let loop = try SteppedLoop()
    let reactor = Adder(on: loop.placement)
    reactor.send(200)
    loop.shutdown()
    #expect(reactor.currentState == 300)
    #expect(reactor.isClosed)
    #expect(throws: SendError.closed) { try reactor.trySend(1) }
  }

  @Test func `run returns true if the last step that it may take leaves no work`() throws {
    let loop = try SteppedLoop()
    let reactor = Adder(on: loop.placement)
    reactor.send(1)
    #expect(loop.run(limit: 1))
    #expect(reactor.currentState == 1)
    #expect(loop.run(limit: 0))
    reactor.send(1)
    #expect(!loop.run(limit: 0))
    #expect(loop.run())
  }

  @Test func `a step counts jobs, and they are work`() throws {
    let stepped = try SteppedLoop(turnLimit: 1)
    guard case .loop(let loop) = stepped.placement else {
      Issue.record("a stepped loop has a loop")
      return
    }
    for _ in 0..<3 { try loop.execute {} }
    #expect(stepped.step() == 1)
    #expect(!stepped.run(limit: 1))
    #expect(stepped.run(limit: 1))
    #expect(stepped.step() == 0)
  }

  @Test func `run returns false for a reactor that always has work`() throws {
    let loop = try SteppedLoop(turnLimit: 4)
    let reactor = Adder(on: loop.placement)
    reactor.send(100_000)
    #expect(!loop.run(limit: 10))
    #expect(loop.run())
    #expect(reactor.currentState > 0)
  }
}
