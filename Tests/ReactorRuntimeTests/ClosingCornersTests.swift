import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// The end of a reactor where something else ends or sends at the same time.
@Suite struct ClosingCornersTests {
  private static let soon = Duration.seconds(10)

  @Test
  func `a reactor ends after a full turn`() throws {
    let (isInside, mayGoOn) = (Gate(), Gate())
    let reactor = Script.held(
      on: .caller, capacity: 4096, reentrantCapacity: 4096, isInside: isInside, mayGoOn: mayGoOn)
    let isDone = Threads.start { reactor.send(0) }
    #expect(isInside.wait())
    // As many as a turn's limit.
    for action in 1...1024 { reactor.send(action) }
    reactor.close()
    mayGoOn.open()
    #expect(reactor.waitUntilClosed(before: .now + Self.soon))
    #expect(reactor.currentState == Array(0...1024))
    #expect(isDone.wait())
  }

  @Test(arguments: [Closing.drain, .discard])
  func `a reactor whose loop has ended ends`(_ closing: Closing) throws {
    let loop = try Loop()
    let (used, unused) = (Script(on: .loop(loop)), Script(on: .loop(loop)))
    used.send(1)
    loop.shutdown()
    for reactor in [used, unused] {
      reactor.close(closing)
      #expect(reactor.waitUntilClosed(before: .now + Self.soon))
    }
    #expect(used.currentState == [1])
  }

  @Test
  func `a loop that ends ends closed reactors`() throws {
    let loop = try Loop()
    let (isInside, mayGoOn) = (Gate(), Gate())
    let reactor = Script.held(on: .loop(loop), capacity: 64, isInside: isInside, mayGoOn: mayGoOn)
    reactor.send(0)
    #expect(isInside.wait())
    reactor.send(1)
    let isOver = Threads.start { loop.shutdown() }
    reactor.close()
    mayGoOn.open()
    #expect(isOver.wait())
    #expect(reactor.waitUntilClosed(before: .now + Self.soon))
    #expect(reactor.currentState == [0, 1])
  }

  @Test
  func `a closed reactor refuses what others on its loop send`() throws {
    let loop = try Loop()
    let failures = Record<SendError>()
    let closed = Script(on: .loop(loop), failures: failures)
    let other = Script(
      on: .loop(loop),
      mutate: { _, action in
        closed.send(action)
        return .just(action)
      })
    closed.send(1)
    closed.close()
    #expect(closed.waitUntilClosed(before: .now + Self.soon))
    other.send(2)
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(other.currentState == [2])
    #expect(closed.currentState == [1])
    #expect(failures.elements == [.closed])
  }
}
