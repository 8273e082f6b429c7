import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

/// Tests of closing a reactor.
@Suite struct CloseTests {
  private static let soon = Duration.seconds(patience)

  @Test(arguments: PlacementUnderTest.allCases)
  func `drain processes accepted actions and refuses later ones`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let (isInside, mayGoOn) = (Gate(), Gate())
    let failures = Record<SendError>()
    let reactor = Script.held(
      on: stage.placement, capacity: 64, failures: failures, isInside: isInside, mayGoOn: mayGoOn)
    let isDone = Threads.start { reactor.send(0) }
    #expect(isInside.wait())
    for action in 1...20 { reactor.send(action) }
    reactor.close()
    reactor.close()
    #expect(reactor.isClosed)
    reactor.send(99)
    #expect(throws: SendError.closed) { try reactor.trySend(99) }
    #expect(!reactor.waitUntilEnded(before: .now + .milliseconds(10)))
    mayGoOn.open()
    #expect(reactor.waitUntilEnded(before: .now + Self.soon))
    #expect(reactor.currentState == Array(0...20))
    #expect(failures.elements == [.closed])
    #expect(isDone.wait())
    #expect(stage.finish())
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `discard reports accepted actions`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let (isInside, mayGoOn) = (Gate(), Gate())
    let failures = Record<SendError>()
    let reactor = Script.held(
      on: stage.placement, capacity: 64, failures: failures, isInside: isInside, mayGoOn: mayGoOn)
    let isDone = Threads.start { reactor.send(0) }
    #expect(isInside.wait())
    for action in 1...20 { reactor.send(action) }
    reactor.close(.discard)
    mayGoOn.open()
    #expect(reactor.waitUntilEnded(before: .now + Self.soon))
    #expect(isDone.wait())
    #expect(stage.finish())
    #expect(
      failures.elements == Array(repeating: .closed, count: 20 + (reactor.currentState == [] ? 1 : 0)))
  }

  private enum Way: CaseIterable { case send, trySend, contents, onNext }

  /// Whichever way it was sent, and whether `state` has observers or not.
  @Test(arguments: PlacementUnderTest.allCases, [false, true])
  func `the action that is running when its reactor discards is completed`(
    _ placement: PlacementUnderTest, isObserved: Bool
  ) throws {
    for way in Way.allCases {
      let stage = try Stage(placement)
      let (failures, states) = (Record<SendError>(), Record<[Int]>())
      let reactor = Script(
        on: stage.placement, failures: failures,
        mutate: { reactor, action in
          reactor.close(.discard)
          return .of(action, action + 1)
        })
      var subscription: (any Disposable)?
      if isObserved {
        subscription = reactor.state.subscribe(onNext: { states.append($0) })
        #expect(Threads.yield { states.elements == [[]] })
      }
      switch way {
      case .send: reactor.send(1)
      case .trySend: try reactor.trySend(1)
      case .contents: reactor.send(contentsOf: [1])
      case .onNext: reactor.action.onNext(1)
      }
      #expect(reactor.waitUntilEnded(before: .now + Self.soon), "\(way)")
      #expect(reactor.currentState == [1, 2], "\(way)")
      #expect(failures.elements == [], "\(way)")
      #expect(states.elements == (isObserved ? [[], [1], [1, 2]] : []), "\(way)")
      subscription?.dispose()
      #expect(stage.finish())
    }
  }

  @Test
  func `the mutations of the action that is running when its reactor discards pass a transform`() {
    let failures = Record<Failure>()
    let reactor = Streamed(
      failures: failures,
      mutate: { reactor, action in
        reactor.close(.discard)
        return .of(action, action + 1)
      },
      mutation: { mutations in mutations.map { $0 * 10 } })
    reactor.send(1)
    reactor.send(2)
    #expect(reactor.waitUntilEnded(before: .now + Self.soon))
    #expect(reactor.currentState == [10, 20])
    #expect(failures.elements.map(\.sendError) == [.closed])
  }

  @Test(arguments: PlacementUnderTest.allCases, [false, true])
  func `what waits behind a transform is reported when the reactor discards`(
    _ placement: PlacementUnderTest, ofStates: Bool
  ) throws {
    let stage = try Stage(placement)
    let (isInside, mayGoOn) = (Gate(), Gate())
    let (failures, mutations, states) = (Record<Failure>(), PublishSubject<Int>(), PublishSubject<[Int]>())
    let reactor = Streamed(
      on: stage.placement, failures: failures,
      mutate: { _, action in
        isInside.open()
        _ = mayGoOn.wait()
        return .just(action)
      },
      mutation: { ofStates ? $0 : .merge($0, mutations.asObservable()) },
      state: { ofStates ? .merge($0, states.asObservable()) : $0 })
    let isDone = Threads.start { reactor.send(1) }
    #expect(isInside.wait())
    for tick in 10..<30 {
      mutations.onNext(tick)
      states.onNext([tick])
    }
    reactor.close(.discard)
    mayGoOn.open()
    #expect(reactor.waitUntilEnded(before: .now + Self.soon))
    #expect(isDone.wait())
    // The action that was running is completed.
    #expect(reactor.currentState == [1])
    #expect(failures.elements.count == 20)
    let areExpected = failures.elements.allSatisfy { failure in
      switch failure.cause {
      case .mutationNotDelivered(.closed): !ofStates
      case .stateNotDelivered(.closed): ofStates
      default: false
      }
    }
    #expect(areExpected)
    #expect(stage.finish())
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a reactor that was never used ends at once`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let failures = Record<SendError>()
    let reactor = Script(on: stage.placement, failures: failures)
    reactor.close()
    #expect(reactor.waitUntilEnded(before: .now + Self.soon))
    reactor.send(1)
    #expect(failures.elements == [.closed])
    #expect(stage.finish())
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `a reactor that is closed inside its turn finishes that turn`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let failures = Record<SendError>()
    let reactor = Script(
      on: stage.placement, failures: failures,
      mutate: { reactor, action in
        if action == 1 {
          reactor.close()
          // Actions that the reactor sends to itself are still accepted.
          reactor.send(2)
        }
        return .just(action)
      })
    reactor.send(1)
    #expect(reactor.waitUntilEnded(before: .now + Self.soon))
    #expect(reactor.currentState == [1, 2])
    #expect(failures.elements == [])
    #expect(stage.finish())
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `closing while other threads send loses no action`(_ placement: PlacementUnderTest) throws {
    for _ in 0..<20 {
      let stage = try Stage(placement)
      let failures = Record<SendError>()
      let reactor = Script(on: stage.placement, capacity: 16, failures: failures)
      #expect(
        Threads.run(4) { thread in
          if thread == 3 { reactor.close() } else { for action in 0..<100 { reactor.send(action) } }
        })
      #expect(reactor.waitUntilEnded(before: .now + Self.soon))
      #expect(reactor.currentState.count + failures.elements.count == 300)
      #expect(failures.elements.allSatisfy { $0 == .closed })
      #expect(stage.finish())
    }
  }

  @Test
  func `a reactor ends when it is closed after the shutdown of its loop`() throws {
    let loop = try Loop()
    let reactors = (0..<4).map { _ in Script(on: .loop(loop)) }
    for reactor in reactors.prefix(2) { reactor.send(1) }
    #expect(Threads.start { loop.shutdown() }.wait())
    for (index, reactor) in reactors.enumerated() { reactor.close(index % 2 == 0 ? .drain : .discard) }
    for (index, reactor) in reactors.enumerated() {
      #expect(reactor.waitUntilEnded(before: .now + Self.soon))
      #expect(reactor.currentState == (index < 2 ? [1] : []))
    }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `closing disposes the streams of mutate`(_ placement: PlacementUnderTest) async throws {
    let stage = try Stage(placement)
    let isDisposed = Gate()
    let started = Gate()
    let reactor = Script(
      on: stage.placement,
      mutate: { _, _ in
        .create { _ in
          started.open()
          return Disposables.create { isDisposed.open() }
        }
      })
    reactor.send(1)
    #expect(started.wait())
    reactor.close()
    await reactor.waitUntilEnded()
    #expect(isDisposed.wait())
    #expect(stage.finish())
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `Shutdown names a reactor that does not end before the deadline`(_ placement: PlacementUnderTest)
    throws
  {
    let stage = try Stage(placement)
    let (isInside, mayGoOn) = (Gate(), Gate())
    let stuck = Script.held(on: stage.placement, capacity: 64, isInside: isInside, mayGoOn: mayGoOn)
    let other = Script(on: .caller)
    let isDone = Threads.start { stuck.send(0) }
    #expect(isInside.wait())
    stuck.send(1)
    let name = String(reflecting: Script.self)
    do {
      try Shutdown.close([other.closer(), stuck.closer()], before: .now + .milliseconds(20))
      Issue.record("nothing was said")
    } catch .unfinished(let unfinished) {
      #expect(unfinished.map(\.name) == [name])
    } catch {
      Issue.record(error)
    }
    mayGoOn.open()
    #expect(isDone.wait())
    try Shutdown.close([other.closer(), stuck.closer()], before: .now + Self.soon)
    #expect(stuck.currentState == [0, 1])
    #expect(stage.finish())
  }
}
