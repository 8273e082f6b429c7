import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// The end of a reactor where it is easily missed.
@Suite struct CloseEdgeTests {
  private static let soon = Duration.seconds(20)

  /// The last turn processes as much as a turn may, so nothing is left for another one.
  @Test(arguments: PlacementUnderTest.allCases)
  func `a full last turn is followed by the end`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let (isInside, mayGoOn) = (Gate(), Gate())
    let reactor = Script.held(on: stage.placement, capacity: 2048, isInside: isInside, mayGoOn: mayGoOn)
    let isDone = Threads.start { reactor.send(0) }
    #expect(isInside.wait())
    for action in 1...1024 { reactor.send(action) }
    reactor.close()
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(reactor.waitUntilClosed(before: .now + Self.soon))
    #expect(reactor.currentState == Array(0...1024))
    #expect(stage.finish())
  }

  @Test
  func `closed after its loop it ends too`() throws {
    let loop = try Loop()
    let isDisposed = Gate()
    let reactor = Script(
      on: .loop(loop), mutate: { _, _ in .create { _ in Disposables.create { isDisposed.open() } } })
    reactor.send(1)
    #expect(Threads.start { loop.shutdown() }.wait())
    reactor.close()
    #expect(reactor.waitUntilClosed(before: .now + Self.soon))
    #expect(isDisposed.isOpen)
  }

  @Test
  func `others on its loop are refused as everybody is`() throws {
    let loop = try Loop()
    let failures = Record<SendError>()
    let closed = Script(on: .loop(loop), failures: failures)
    closed.send(1)
    closed.close()
    #expect(closed.waitUntilClosed(before: .now + Self.soon))
    let errors = Record<SendError>()
    let other = Script(
      on: .loop(loop),
      mutate: { _, action in
        closed.send(action)
        do throws(SendError) { try closed.trySend(action) } catch { errors.append(error) }
        return .just(action)
      })
    other.send(2)
    #expect(Threads.yield { other.currentState == [2] })
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(closed.currentState == [1])
    #expect(failures.elements == [.closed])
    #expect(errors.elements == [.closed])
  }

  /// An observer that comes too late is told the last state as the owner, and sends.
  @Test(arguments: PlacementUnderTest.allCases)
  func `what a late observer sends is refused`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let failures = Record<SendError>()
    let reactor = Script(on: stage.placement, failures: failures)
    reactor.send(1)
    reactor.close()
    #expect(reactor.waitUntilClosed(before: .now + Self.soon))
    let states = Record<[Int]>()
    let subscription = reactor.state.subscribe(onNext: { [unowned reactor] state in
      states.append(state)
      reactor.send(2)
    })
    #expect(Threads.yield { !failures.elements.isEmpty })
    #expect(stage.finish())
    #expect(states.elements == [[1]])
    #expect(failures.elements == [.closed])
    #expect(reactor.currentState == [1])
    subscription.dispose()
  }
}
