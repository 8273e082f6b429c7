import ReactorCore
import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// How a round takes in the reactors that have arrived, and lets go of those that have nothing to do.
@Suite struct LoopArrivalTests {
  /// Does what it is told, and notes that it was called.
  private final class Member: Reactor {
    let initialState = 0
    let runtime: Runtime<Int, Int, Int>
    private let number: Int
    private let order: Record<Int>
    private let whenCalled: @Sendable (Int) -> Void
    private let whenDestroyed: @Sendable () -> Void

    init(
      _ number: Int, on placement: Placement, _ order: Record<Int>,
      whenCalled: @escaping @Sendable (Int) -> Void = { _ in },
      whenDestroyed: @escaping @Sendable () -> Void = {}
    ) {
      self.number = number
      self.order = order
      self.whenCalled = whenCalled
      self.whenDestroyed = whenDestroyed
      runtime = Runtime(on: placement)
    }

    deinit { whenDestroyed() }

    func mutate(action: Int) -> Observable<Int> {
      order.append(number)
      whenCalled(action)
      return .just(action)
    }

    func reduce(into state: inout Int, mutation: Int) { state += mutation }
  }

  @Test(arguments: [1, 2, 3, 63, 64, 65, 300, 1024])
  func `a round runs one turn of each that has arrived, in the order of arrival`(_ count: Int) throws {
    let loop = try SteppedLoop()
    let order = Record<Int>()
    let members = (0..<count).map { Member($0, on: loop.placement, order) }
    for member in members { member.send(1) }
    #expect(loop.step() == count)
    #expect(order.elements == Array(0..<count))
    #expect(members.allSatisfy { $0.currentState == 1 })
    // Each was released, and is scheduled again.
    for member in members { member.send(1) }
    #expect(loop.step() == count)
    #expect(members.allSatisfy { $0.currentState == 2 })
  }

  @Test func `those that a turn sends to have their turns in the order in which it has sent`() throws {
    let loop = try SteppedLoop()
    let order = Record<Int>()
    let members = (1...5).map { Member($0, on: loop.placement, order) }
    let first = Member(0, on: loop.placement, order) { _ in for member in members { member.send(1) } }
    first.send(1)
    while loop.step() > 0 {}
    #expect(order.elements == Array(0...5))
  }

  @Test func `those that a loop owns have their turns before those that arrive`() throws {
    let loop = try SteppedLoop(turnLimit: 1)
    let order = Record<Int>()
    let (first, second) = (Member(1, on: loop.placement, order), Member(2, on: loop.placement, order))
    for _ in 0..<3 { first.send(1) }
    #expect(loop.step() == 1)
    second.send(1)
    #expect(loop.step() == 2)
    #expect(order.elements == [1, 1, 2])
  }

  @Test func `one that a round has released and that arrives again has its turn in the next round`() throws {
    let loop = try SteppedLoop()
    let order = Record<Int>()
    let early = Member(0, on: loop.placement, order)
    let late = Member(
      1, on: loop.placement, order,
      whenCalled: { action in
        // From another thread, so that it comes through the ring of the loop.
        if action == 1 { #expect(Threads.start { early.send(2) }.wait()) }
      })
    early.send(1)
    late.send(1)
    #expect(loop.step() == 2)
    #expect(order.elements == [0, 1])
    #expect(loop.step() == 1)
    #expect(order.elements == [0, 1, 0])
    #expect(early.currentState == 3)
    early.send(1)
    #expect(loop.step() == 1)
    #expect(early.currentState == 4)
  }

  @Test func `what is destroyed when a round lets go of it may send`() throws {
    let loop = try SteppedLoop()
    let order = Record<Int>()
    let heir = Member(-1, on: loop.placement, order)
    for number in 0..<100 {
      Member(number, on: loop.placement, order, whenDestroyed: { heir.send(1) }).send(1)
    }
    #expect(loop.run())
    #expect(heir.currentState == 100)
    #expect(order.elements.count == 200)
  }

  @Test func `a loop that is shut down runs what has arrived, however much`() throws {
    let loop = try Loop(name: "arrivals")
    let order = Record<Int>()
    let isInside = Gate()
    let mayGoOn = Gate()
    let blocker = Member(
      -1, on: .loop(loop), order,
      whenCalled: { _ in
        isInside.open()
        #expect(mayGoOn.wait())
      })
    blocker.send(0)
    #expect(isInside.wait())
    // More than the ring of the loop has room for.
    let members = (0..<3000).map { Member($0, on: .loop(loop), order) }
    for member in members { member.send(1) }
    let end = Threads.start { loop.shutdown() }
    mayGoOn.open()
    #expect(end.wait())
    #expect(members.allSatisfy { $0.currentState == 1 })
    #expect(loop.counters.reactors == 0)
  }
}
