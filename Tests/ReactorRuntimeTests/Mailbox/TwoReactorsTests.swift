import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Reactors that send to each other, from inside their turns.
@Suite struct TwoReactorsTests {
  /// Sends each action minus one to its peer.
  private final class Peer: Sendable {
    let reactor: Script
    let failures = Record<SendError>()
    private let peer: Slot

    private final class Slot: @unchecked Sendable {
      // Unchecked: it is set before the first action, and unset after the last.
      var peer: Script?
    }

    init(on placement: Placement, capacity: Int) {
      let slot = Slot()
      peer = slot
      reactor = Script(
        on: placement, capacity: capacity, failures: failures,
        mutate: { _, action in
          if action > 0 { slot.peer?.send(action - 1) }
          return .just(action)
        })
    }

    func set(_ other: Peer?) { peer.peer = other?.reactor }
  }

  /// Two threads start chains of `length` actions in both directions. Returns how many actions failed and how many
  /// were reduced, or nil if it took too long.
  private func run(
    _ first: Peer, _ second: Peer, chains: Int, length: Int, finish: () -> Bool
  ) -> (failed: Int, reduced: Int)? {
    first.set(second)
    second.set(first)
    let trySend = Threads.run(2) { index in
      for _ in 0..<chains { (index == 0 ? first : second).reactor.send(length) }
    }
    guard trySend, finish() else { return nil }
    first.set(nil)
    second.set(nil)
    return (
      first.failures.elements.count + second.failures.elements.count,
      first.reactor.currentState.count + second.reactor.currentState.count
    )
  }

  @Test
  func `two reactors on the caller never deadlock`() throws {
    let first = Peer(on: .caller, capacity: 4096)
    let second = Peer(on: .caller, capacity: 4096)
    let result = try #require(run(first, second, chains: 200, length: 9) { true })
    #expect(result.failed == 0)
    #expect(result.reduced == 2 * 200 * 10)
  }

  @Test
  func `two reactors on one loop process everything`() throws {
    let loop = try Loop()
    let first = Peer(on: .loop(loop), capacity: 2)
    let second = Peer(on: .loop(loop), capacity: 2)
    let result = run(first, second, chains: 100, length: 9) {
      // The chains end on the loop; wait for them, then end it.
      Threads.yield {
        first.reactor.currentState.count + second.reactor.currentState.count == 2 * 100 * 10
      } && Threads.start { loop.shutdown() }.wait()
    }
    #expect(try #require(result).failed == 0)
  }

  @Test
  func `a send is refused when both mailboxes are full`() throws {
    // Each thread is inside one reactor, the mailboxes of both are full, and each sends to the other one.
    let inside = Gate(count: 2)
    let isFull = Gate()
    let failures = Record<SendError>()
    let peers = Slots()
    let reactors = (0..<2).map { index in
      Script(
        on: .caller, capacity: 1, failures: failures,
        mutate: { _, action in
          if action == 0 {
            inside.open()
            _ = isFull.wait()
            peers.reactors[1 - index].send(7)
          }
          return .just(action)
        })
    }
    peers.reactors = reactors
    // Starts the reactors before, so that action 0 runs at once, and takes no slot of the mailbox.
    for reactor in reactors { reactor.send(5) }
    let isDone = Threads.start {
      _ = Threads.run(2) { index in reactors[index].send(0) }
    }
    #expect(inside.wait())
    for reactor in reactors { try reactor.trySend(1) }
    for reactor in reactors { #expect(throws: SendError.full) { try reactor.trySend(2) } }
    isFull.open()
    #expect(isDone.wait())
    #expect(failures.elements == [])
    #expect(Threads.yield { reactors.allSatisfy { $0.currentState == [5, 0, 1, 7] } })
    peers.reactors = []
  }

  private final class Slots: @unchecked Sendable {
    // Unchecked: it is set before the first action, and unset after the last.
    var reactors: [Script] = []
  }

  @Test
  func `two reactors with tiny mailboxes neither hang nor lose actions`() throws {
    for _ in 0..<5 {
      let first = Peer(on: .caller, capacity: 1)
      let second = Peer(on: .caller, capacity: 1)
      let result = try #require(run(first, second, chains: 100, length: 3) { true })
      #expect(result.reduced == 2 * 100 * 4)
      #expect(result.failed == 0)
    }
  }

  @Test
  func `a reactor on the caller and one on a loop neither hang nor lose actions`() throws {
    let loop = try Loop()
    let first = Peer(on: .caller, capacity: 1)
    let second = Peer(on: .loop(loop), capacity: 1)
    let result = run(first, second, chains: 100, length: 3) {
      // Each chain ends at 0, or where it was refused.
      Threads.yield {
        let ends = [first, second].map { peer in
          peer.reactor.currentState.count { $0 == 0 } + peer.failures.elements.count
        }
        return ends.reduce(0, +) == 2 * 100
      } && Threads.start { loop.shutdown() }.wait()
    }
    // Sends from turns never wait, and the two threads own no reactor while they wait. So nothing is refused as a deadlock.
    let (failed, reduced) = try #require(result)
    #expect(failed == 0)
    #expect(reduced == 2 * 100 * 4)
  }
}
