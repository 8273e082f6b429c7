import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests of a reactor's end in cases where it is easily missed, or where something else ends or sends at the same time.
@Suite struct CloseEdgeTests {
  private static let soon = Duration.seconds(patience)

  /// The last turn processes as many actions as a turn may, so none is left that would cause another turn.
  @Test(arguments: PlacementUnderTest.allCases)
  func `a reactor ends after a last turn that reaches its limit`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let (isInside, mayGoOn) = (Gate(), Gate())
    let reactor = Script.held(on: stage.placement, capacity: 2048, isInside: isInside, mayGoOn: mayGoOn)
    let isDone = Threads.start { reactor.send(0) }
    #expect(isInside.wait())
    for action in 1...1024 { reactor.send(action) }
    reactor.close()
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(reactor.waitUntilEnded(before: .now + Self.soon))
    #expect(reactor.currentState == Array(0...1024))
    #expect(stage.finish())
  }

  @Test
  func `a reactor that is closed after its loop ends and disposes its streams`() throws {
    let loop = try Loop()
    let isDisposed = Gate()
    let reactor = Script(
      on: .loop(loop), mutate: { _, _ in .create { _ in Disposables.create { isDisposed.open() } } })
    reactor.send(1)
    #expect(Threads.start { loop.shutdown() }.wait())
    reactor.close()
    #expect(reactor.waitUntilEnded(before: .now + Self.soon))
    #expect(isDisposed.isOpen)
  }

  @Test
  func `a closed reactor refuses actions of other reactors on its loop, on either way of sending`() throws {
    let loop = try Loop()
    let failures = Record<SendError>()
    let closed = Script(on: .loop(loop), failures: failures)
    closed.send(1)
    closed.close()
    #expect(closed.waitUntilEnded(before: .now + Self.soon))
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

  /// The closed reactor calls a late observer with the last state as the owner, and the observer sends.
  @Test(arguments: PlacementUnderTest.allCases)
  func `a closed reactor refuses actions of a late observer`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let failures = Record<SendError>()
    let reactor = Script(on: stage.placement, failures: failures)
    reactor.send(1)
    reactor.close()
    #expect(reactor.waitUntilEnded(before: .now + Self.soon))
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

  @Test
  func `a reactor on the caller ends after a turn that reaches its limit`() throws {
    let (isInside, mayGoOn) = (Gate(), Gate())
    let reactor = Script.held(
      on: .caller, capacity: 4096, reentrantCapacity: 4096, isInside: isInside, mayGoOn: mayGoOn)
    let isDone = Threads.start { reactor.send(0) }
    #expect(isInside.wait())
    // As many as the limit of a turn.
    for action in 1...1024 { reactor.send(action) }
    reactor.close()
    mayGoOn.open()
    #expect(reactor.waitUntilEnded(before: .now + Self.soon))
    #expect(reactor.currentState == Array(0...1024))
    #expect(isDone.wait())
  }

  @Test(arguments: [Closing.drain, .discard])
  func `a reactor whose loop has ended can be closed, whether it was used or not`(_ closing: Closing) throws {
    let loop = try Loop()
    let (used, unused) = (Script(on: .loop(loop)), Script(on: .loop(loop)))
    used.send(1)
    loop.shutdown()
    for reactor in [used, unused] {
      reactor.close(closing)
      #expect(reactor.waitUntilEnded(before: .now + Self.soon))
    }
    #expect(used.currentState == [1])
  }

  @Test
  func `the shutdown of a loop ends reactors that were closed meanwhile`() throws {
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
    #expect(reactor.waitUntilEnded(before: .now + Self.soon))
    #expect(reactor.currentState == [0, 1])
  }

  @Test
  func `a closed reactor refuses actions of other reactors on its loop`() throws {
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
    #expect(closed.waitUntilEnded(before: .now + Self.soon))
    other.send(2)
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(other.currentState == [2])
    #expect(closed.currentState == [1])
    #expect(failures.elements == [.closed])
  }

  /// Two threads discard: one is stopped while it reports, the other one finds the mailbox empty.
  @Test
  func `a reactor whose loop has ended does not end before the last report`() throws {
    let (isReporting, mayGoOn) = (Gate(), Gate())
    let loop = try Loop()
    loop.shutdown()
    let reactor = Refusing(on: .loop(loop)) {
      isReporting.open()
      #expect(mayGoOn.wait())
    }
    let isSent = Threads.start { reactor.send(1) }
    #expect(isReporting.wait())
    let isClosed = Threads.start { reactor.close() }
    #expect(!reactor.waitUntilEnded(before: .now + .milliseconds(50)))
    mayGoOn.open()
    #expect(isSent.wait())
    #expect(isClosed.wait())
    #expect(reactor.waitUntilEnded(before: .now + Self.soon))
  }

  @Test
  func `a reactor can be closed while its loop ends with a long job`() throws {
    let (isInside, mayGoOn) = (Gate(), Gate())
    let loop = try Loop()
    try loop.execute {
      isInside.open()
      _ = mayGoOn.wait()
    }
    #expect(isInside.wait())
    let reactor = Script(on: .loop(loop))
    loop.beginClosing()
    // Does not wait for the job.
    #expect(Threads.start { reactor.close() }.wait(seconds: 20))
    mayGoOn.open()
    #expect(Threads.start { loop.shutdown() }.wait())
    #expect(reactor.waitUntilEnded(before: .now + Self.soon))
  }
}

/// A reactor that calls a closure for each failure.
private final class Refusing: Reactor {
  typealias Action = Int
  typealias Mutation = Int

  let initialState = 0
  let runtime: Runtime<Int, Int, Int>

  init(on placement: Placement, onFailure: @escaping @Sendable () -> Void) {
    runtime = Runtime(on: placement, onFailure: { _ in onFailure() })
  }

  func reduce(into state: inout Int, mutation: Int) { state += mutation }
}
