import FaultyPlatform
import Glibc
import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Loops and turns whose calls to the system fail.
@Suite(.disabled(if: Build.isPureSwift, "the pure-Swift core uses neither a futex nor membarrier"))
struct LoopFaultTests {
  /// Whatever its sleeps end with, a loop processes each action once.
  @Test(arguments: [0, EINTR, EAGAIN, ETIMEDOUT])
  func `a loop whose sleeps end for no reason processes each action once`(_ error: Int32) throws {
    let loop = try Loop(waiting: .parking(afterSpins: 1))
    let reactor = Script(on: .loop(loop), capacity: 1024)
    let isSet = Gate()
    try loop.execute {
      faulty_fail(FAULTY_FUTEX_WAIT, 200, error)
      isSet.open()
    }
    #expect(isSet.wait())
    // The loop cannot sleep for about half of the actions. Each is sent to a loop that has nothing else to do.
    for action in 0..<100 {
      reactor.send(action)
      #expect(Threads.yield { reactor.currentState.count == action + 1 })
    }
    #expect(reactor.currentState == Array(0..<100))
    let isLess = Gate()
    try loop.execute {
      #expect(faulty_calls(FAULTY_FUTEX_WAIT) > 0)
      faulty_reset()
      isLess.open()
    }
    #expect(isLess.wait())
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  /// A loop that is refused the fence polls instead of sleeping.
  @Test(arguments: [EPERM, ENOSYS])
  func `a loop that is refused the fence misses no action`(_ error: Int32) throws {
    let loop = try Loop(waiting: .parking(afterSpins: 1))
    let reactor = Script(on: .loop(loop), capacity: 1024)
    try loop.execute { faulty_fail(FAULTY_MEMBARRIER, -1, error) }
    for action in 0..<100 {
      reactor.send(action)
      #expect(Threads.yield { reactor.currentState.count == action + 1 })
    }
    #expect(reactor.currentState == Array(0..<100))
    try loop.execute {
      // The loop called membarrier, except where that is not used at all.
      let asked = faulty_calls(FAULTY_MEMBARRIER) > 0
      #expect(asked || CurrentCore.heavyFence())
      faulty_reset()
    }
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  /// An action that a turn sends to a full mailbox is kept beside it if the owner is sure to find it there. If the fence
  /// is refused the owner is not, and the action is reported as not delivered.
  @Test(arguments: [OverflowPolicy.block, .dropOldest])
  func `an action that cannot be kept beside a full mailbox is reported`(_ policy: OverflowPolicy) {
    let (isInside, mayGoOn) = (Gate(), Gate())
    let failures = Record<SendError>()
    let full = Script.held(
      on: .caller, capacity: 2, overflow: policy, failures: failures, isInside: isInside, mayGoOn: mayGoOn)
    let isDone = Threads.start { full.send(0) }
    #expect(isInside.wait())
    for action in 1...2 { full.send(action) }
    let wasRefused = Gate()
    let sender = Script(
      on: .caller,
      mutate: { _, action in
        faulty_fail(FAULTY_MEMBARRIER, -1, EPERM)
        if !CurrentCore.heavyFence() { wasRefused.open() }
        full.send(3)
        faulty_reset()
        full.send(4)
        return .just(action)
      })
    #expect(Threads.start { sender.send(0) }.wait())
    let isRefused = wasRefused.isOpen
    mayGoOn.open()
    #expect(isDone.wait())
    let pushedOut: [SendError] = policy == .block ? [] : Array(repeating: .dropped, count: isRefused ? 1 : 2)
    let lost: [SendError] = isRefused ? [.reentrantOverflow] : []
    #expect(failures.elements.sorted { "\($0)" < "\($1)" } == pushedOut + lost)
    let kept = (isRefused ? [1, 2, 4] : [1, 2, 3, 4]).dropFirst(pushedOut.count)
    #expect(full.currentState == [0] + kept)
  }
}
