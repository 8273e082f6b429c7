import FaultyPlatform
import Glibc
import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Loops and turns whose calls to the system fail.
@Suite(.disabled(if: Build.isPureSwift, "the pure-Swift core uses neither a futex nor membarrier"))
struct LoopFaultTests {
  /// Opens a gate when the calling thread makes its next call of that kind.
  private static func open(_ gate: Gate, before call: faulty_call) {
    faulty_before(
      call, { gate in gate.map { Unmanaged<Gate>.fromOpaque($0).takeUnretainedValue().open() } },
      Unmanaged.passUnretained(gate).toOpaque())
  }

  /// Whatever its sleeps end with, a loop processes each action once.
  @Test(arguments: [0, EINTR, EAGAIN, ETIMEDOUT])
  func `a loop whose sleeps end for no reason processes each action once`(_ error: Int32) throws {
    let loop = try Loop(waiting: .parking(after: .zero))
    let reactor = Script(on: .loop(loop), capacity: 1024)
    let (hasSlept, isReset) = (Gate(), Gate())
    try loop.execute {
      faulty_fail(FAULTY_FUTEX_WAIT, -1, error)
      Self.open(hasSlept, before: FAULTY_FUTEX_WAIT)
    }
    #expect(hasSlept.wait())
    for action in 0..<100 {
      let parks = loop.counters.parks
      reactor.send(action)
      // The next one is sent to a loop that has nothing else to do.
      #expect(Threads.yield { reactor.currentState.count == action + 1 && loop.counters.parks > parks })
      // From here on the loop sleeps.
      if action == 50 {
        try loop.execute {
          faulty_reset()
          isReset.open()
        }
        #expect(isReset.wait())
      }
    }
    #expect(reactor.currentState == Array(0..<100))
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  /// A loop that is refused the fence sleeps for a millisecond at most, and checks again.
  @Test(arguments: [EPERM, ENOSYS])
  func `a loop that is refused the fence misses no action`(_ error: Int32) throws {
    let loop = try Loop(waiting: .parking(after: .zero))
    let reactor = Script(on: .loop(loop), capacity: 1024)
    let hasAsked = Gate()
    try loop.execute {
      faulty_fail(FAULTY_MEMBARRIER, -1, error)
      // The fence is not refused where membarrier is not used at all.
      if CurrentCore.heavyFence() {
        hasAsked.open()
      } else {
        Self.open(hasAsked, before: FAULTY_MEMBARRIER)
      }
    }
    // The loop has tried to sleep.
    #expect(hasAsked.wait())
    for action in 0..<100 {
      let parks = loop.counters.parks
      reactor.send(action)
      #expect(Threads.yield { reactor.currentState.count == action + 1 && loop.counters.parks > parks })
    }
    #expect(reactor.currentState == Array(0..<100))
    try loop.execute { faulty_reset() }
    #expect(Threads.start { loop.shutdown() }.wait())
  }

  /// A heavy fence interrupts all other threads, and a server sleeps between most of its requests.
  @Test
  func `a loop that its descriptors wake runs no heavy fence before it sleeps again`() throws {
    let loop = try Loop(waiting: .parking(after: .zero))
    let (sockets, fences) = (SocketPair(), Record<Int>())
    let watch = try loop.watch(sockets.near, for: .readable) { _, _ in
      _ = sockets.read()
      fences.append(faulty_calls(FAULTY_MEMBARRIER))
    }
    func wake() {
      let (parks, calls) = (loop.counters.parks, fences.elements.count)
      sockets.write([0])
      #expect(Threads.yield { fences.elements.count == calls + 1 && loop.counters.parks > parks })
    }
    // Before its first sleep in the poller it does, and that is not its first sleep.
    for _ in 0..<25 { wake() }
    let count = try #require(fences.elements.last)
    #expect(fences.elements.suffix(20) == Array(repeating: count, count: 20)[...])
    // A notification disarms the event count.
    let parks = loop.counters.parks
    try loop.execute {}
    #expect(Threads.yield { loop.counters.parks > parks })
    wake()
    // Without membarrier there is none to count.
    #expect(try #require(fences.elements.last) > count || count == 0)
    watch.dispose()
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
