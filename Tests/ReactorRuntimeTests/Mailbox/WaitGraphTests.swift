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
}
