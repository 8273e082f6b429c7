import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// What a loop releases may send when it goes away, also between turns and jobs. The loop does not wait for room then.
@Suite struct LoopReleaseTests {
  /// Sends when it goes away.
  private final class Sender: Sendable {
    private let receiver: Script

    init(to receiver: Script) { self.receiver = receiver }

    deinit { receiver.send(2) }
  }

  /// Calls `body` with a loop and with a reactor of another loop that has no room, and makes none. By `body`, or at its end, the
  /// loop releases a ``Sender`` to that reactor. Expects that the loop does not wait for the other one, and that nothing is lost.
  private func withFull(_ body: (_ loop: Loop, _ full: Script) throws -> Void) throws {
    let (loop, other) = (try Loop(), try Loop())
    let (isInside, mayGoOn, failures) = (Gate(), Gate(), Record<SendError>())
    let full = Script.held(
      on: .loop(other), capacity: 1, failures: failures, isInside: isInside, mayGoOn: mayGoOn)
    full.send(0)
    #expect(isInside.wait())
    var expected = [0]
    while (try? full.trySend(1)) != nil { expected.append(1) }
    expected.append(2)
    try body(loop, full)
    #expect(Threads.start { loop.shutdown() }.wait())
    mayGoOn.open()
    #expect(Threads.yield { full.currentState == expected })
    #expect(failures.elements.isEmpty)
    #expect(Threads.start { other.shutdown() }.wait())
  }

  @Test func `the end of a watch that its body ends may send`() throws {
    let sockets = SocketPair()
    try withFull { loop, full in
      let isDisposed = Gate()
      do {
        let sender = Sender(to: full)
        try loop.watch(sockets.near, for: .readable) { [sender] watch, _ in
          withExtendedLifetime(sender) { watch.dispose() }
          isDisposed.open()
        }
      }
      sockets.write([1])
      #expect(isDisposed.wait())
    }
    withExtendedLifetime(sockets) {}
  }

  @Test func `the end of a watch at the end of its loop may send`() throws {
    let sockets = SocketPair()
    try withFull { loop, full in
      let sender = Sender(to: full)
      try loop.watch(sockets.near, for: .readable) { [sender] _, _ in withExtendedLifetime(sender) {} }
    }
    withExtendedLifetime(sockets) {}
  }

  @Test func `the end of a reactor whose last reference its loop had may send`() throws {
    try withFull { loop, full in
      let mayGoOn = try loop.hold()
      do {
        let sender = Sender(to: full)
        let reactor = Script(
          on: .loop(loop),
          mutate: { [sender] _, action in
            withExtendedLifetime(sender) {}
            return .just(action)
          })
        reactor.send(1)
      }
      mayGoOn.open()
    }
  }

  @Test func `the end of a job may send`() throws {
    try withFull { loop, full in
      let mayGoOn = try loop.hold()
      do {
        let sender = Sender(to: full)
        try loop.execute { [sender] in withExtendedLifetime(sender) {} }
      }
      mayGoOn.open()
    }
  }

  @Test func `the end of a timer that a shutdown cancels may send`() throws {
    try withFull { loop, full in
      let sender = Sender(to: full)
      try loop.schedule(after: .seconds(3600)) { [sender] in withExtendedLifetime(sender) {} }
    }
  }
}
