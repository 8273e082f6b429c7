import ReactorCore
import TestSupport
import Testing

@testable import ReactorRuntime

/// The graph of reactors that wait for one another.
@Suite struct WaitGraphTests {
  private final class Reactors: @unchecked Sendable {
    // Unchecked: it is set before the first action, and unset after the last.
    var caller: Script?
    var looped: Script?
  }

  /// A sender sleeps until there is room, which comes up in the middle of a turn that has not announced it yet. Then
  /// the same turn waits for the sender.
  @Test
  func `a sender is woken when a turn waits for it`() throws {
    let reactors = Reactors()
    let failures = Record<SendError>()
    let isInside = Gate()
    let mayGoOn = Gate()
    let isInCaller = Gate()
    let mayFill = Gate()
    let loop = try Loop()
    let looped = Script(
      on: .loop(loop), capacity: 2, failures: failures,
      mutate: { _, action in
        if action == 1 {
          isInside.open()
          _ = mayGoOn.wait()
        }
        if action == 2 { reactors.caller?.send(20) }
        return .just(action)
      })
    let caller = Script(
      on: .caller, capacity: 1, failures: failures,
      mutate: { _, action in
        if action == 10 {
          isInCaller.open()
          _ = mayFill.wait()
          reactors.looped?.send(3)
        }
        return .just(action)
      })
    reactors.caller = caller
    reactors.looped = looped
    caller.send(0)
    // The loop is held in its first action, with the second one behind it, so there is no room.
    looped.send(1)
    #expect(isInside.wait())
    looped.send(2)
    let isDone = Threads.start { caller.send(10) }
    #expect(isInCaller.wait())
    // The sender is inside `caller`, whose mailbox is full as well.
    try caller.trySend(11)
    mayFill.open()
    // It was in a turn, so it did not wait.
    #expect(isDone.wait())
    mayGoOn.open()
    #expect(Threads.yield { looped.currentState == [1, 2, 3] })
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(failures.elements == [])
    #expect(caller.currentState == [0, 10, 11, 20])
    reactors.caller = nil
    reactors.looped = nil
  }

  /// A thread that keeps a reactor busy in `reduce` of its first action, until somebody searches the graph and comes to it. By
  /// then it waits for the searching thread, and what that one waits for is over.
  private final class Busy: Sendable {
    let reactor: Script
    private let mayGoOn: Gate
    private let isSent: Gate
    private let thread: UInt64

    init(capacity: Int = 64, snapshots: SnapshotPolicy, failures: Record<SendError>) {
      let (isInside, mayGoOn, token) = (Gate(), Gate(), Record<UInt64>())
      let reactor = Script(
        on: .caller, snapshots: snapshots, capacity: capacity, failures: failures,
        reduce: { _, state, mutation in
          state.append(mutation)
          if mutation != 1 { return }
          token.append(CurrentCore.threadToken)
          isInside.open()
          _ = mayGoOn.wait()
        })
      isSent = Threads.start { reactor.send(1) }
      #expect(isInside.wait())
      thread = token.elements[0]
      (self.reactor, self.mayGoOn) = (reactor, mayGoOn)
    }

    /// What the thread enters the graph with, waiting for the calling thread. In truth it reduces the rest while this says that
    /// the wait is not over.
    func wait() -> WaitGraph.Wait {
      let caller = CurrentCore.threadToken
      return WaitGraph.Wait(
        thread: thread, emptier: { caller },
        isOver: { [mayGoOn, isSent] in
          mayGoOn.open()
          _ = isSent.wait()
          return false
        }, wake: {})
    }
  }

  /// Otherwise the program would stop: the reader decided to sleep while the state was being changed, and entered the graph when
  /// the owner had begun to wait for the reader.
  @Test
  func `a reader whose wait ended before it entered reads`() {
    let busy = Busy(snapshots: .onDemand, failures: Record())
    let seen = Record<[Int]>()
    let other = Script(
      on: .caller,
      mutate: { _, action in
        seen.append(busy.reactor.currentState)
        return .just(action)
      })
    let wait = busy.wait()
    #expect(WaitGraph.enter(wait) == .sleeps)
    other.send(1)
    #expect(seen.elements == [[1]])
    WaitGraph.leave(wait)
  }

  @Test
  func `a sender whose wait ended before it entered sends`() throws {
    let failures = Record<SendError>()
    let busy = Busy(capacity: 2, snapshots: .copied, failures: failures)
    try busy.reactor.trySend(2)
    try busy.reactor.trySend(3)
    let wait = busy.wait()
    #expect(WaitGraph.enter(wait) == .sleeps)
    busy.reactor.send(4)
    WaitGraph.leave(wait)
    #expect(failures.elements == [])
    #expect(busy.reactor.currentState == [1, 2, 3, 4])
  }
}
