import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Closures that wait for room and are withdrawn.
@Suite struct RoomCallTests {
  @Test
  func `a closure that is withdrawn is released at once and never called`() throws {
    let stops = Stops(at: [0], capacity: 8)
    let ownerIsDone = try stops.fill()
    let (log, lifetimes) = (Record<Int>(), Lifetimes())
    let calls = (0..<3).map { number -> any Disposable in
      let tracked = lifetimes.track(number)
      return stops.reactor.whenRoom { log.append(tracked.value) }
    }
    #expect(stops.waiting == 3)
    #expect(lifetimes.alive == 3)
    calls[1].dispose()
    calls[1].dispose()
    #expect(stops.waiting == 2)
    #expect(lifetimes.alive == 2)
    stops.goOn(from: 0)
    #expect(ownerIsDone.wait())
    #expect(log.elements == [0, 2])
    // The calls are still there.
    #expect(lifetimes.alive == 0)
    for call in calls { call.dispose() }
    #expect(log.elements == [0, 2])
    #expect(stops.reactor.currentState == Array(0...8))
  }

  /// It may have left the line already. Then the next one has its place.
  @Test
  func `closures that others withdraw when all are about to be called are not called`() throws {
    let stops = Stops(at: [0], capacity: 8)
    let ownerIsDone = try stops.fill()
    let (log, calls) = (Record<Int>(), Record<any Disposable>())
    for number in 0..<40 {
      let call = stops.reactor.whenRoom {
        log.append(number)
        if number % 2 == 0 { calls.elements[number + 1].dispose() }
      }
      calls.append(call)
    }
    #expect(stops.waiting == 40)
    stops.goOn(from: 0)
    #expect(ownerIsDone.wait())
    #expect(log.elements == (0..<20).map { 2 * $0 })
    #expect(stops.waiting == 0)
  }

  @Test
  func `a reactor whose closures are all withdrawn still wakes those that come later`() throws {
    let stops = Stops(at: [0], capacity: 8)
    let ownerIsDone = try stops.fill()
    let log = Record<Int>()
    for number in 0..<8 { stops.reactor.whenRoom { log.append(number) }.dispose() }
    #expect(stops.waiting == 0)
    let isSent = Threads.start { stops.reactor.send(100) }
    #expect(Threads.yield { stops.waiting == 1 })
    stops.goOn(from: 0)
    #expect(isSent.wait())
    #expect(ownerIsDone.wait())
    #expect(log.elements == [])
    #expect(Threads.yield { stops.reactor.currentState == Array(0...8) + [100] })
  }

  @Test
  func `a closure that is withdrawn in the turn that makes its room leaves that to the next one`() throws {
    let (isInside, mayGoOn) = (Gate(), Gate())
    let (calls, log) = (Record<any Disposable>(), Record<Int>())
    let reactor = Script(
      on: .caller, capacity: 1,
      mutate: { reactor, action in
        switch action {
        case 0:
          isInside.open()
          _ = mayGoOn.wait()
        // Behind this one there is room, and the closure is to be called after the turn.
        case 1: reactor.send(2)
        case 2: calls.elements[0].dispose()
        default: break
        }
        return .just(action)
      })
    // Starts the reactor, since the action that starts it would take a slot.
    _ = reactor.state
    let isDone = Threads.start { reactor.send(0) }
    #expect(isInside.wait())
    while (try? reactor.trySend(1)) != nil {}
    for number in 0..<2 { calls.append(reactor.whenRoom { log.append(number) }) }
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(reactor.currentState == [0, 1, 2])
    #expect(Threads.yield(seconds: 20) { log.elements == [1] })
  }

  @Test
  func `a closure that waits for a reactor that goes away in its own turn is released`() {
    let (box, lifetimes) = (Shared(SystemMutex<Script?>(nil)), Lifetimes())
    func makeReactor() -> ActionSubject<Int> {
      let reactor = Script(
        on: .caller, capacity: 1,
        mutate: { _, action in
          if action != 0 { return .empty() }
          let isWaiting = Threads.start {
            guard let reactor = box.value.withLock({ $0 }) else { return }
            while (try? reactor.trySend(1)) != nil {}
            let tracked = lifetimes.track()
            reactor.whenRoom { withExtendedLifetime(tracked) {} }
          }
          #expect(isWaiting.wait())
          _ = box.value.withLock { $0.take() }
          return .empty()
        })
      box.value.withLock { $0 = reactor }
      return reactor.action
    }
    makeReactor().onNext(0)
    #expect(lifetimes.total == 1)
    #expect(Threads.yield(seconds: 20) { lifetimes.alive == 0 })
  }
}
