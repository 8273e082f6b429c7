import TestSupport
import Testing

@testable import ReactorCore
@testable import ReactorRuntime

/// Tests of deferred states: readers pin every slot while the owner changes the state, and then they leave.
@Suite struct DeferredTests {
  enum Place: CaseIterable {
    case caller, loop, group
  }

  /// Calls `body` with a reactor on that placement, whose state is not `initialState` any more.
  private static func with(_ place: Place, _ body: (Script) -> Void) throws {
    let (loop, group) = try (Loop(), LoopGroup(count: 1))
    let placement: Placement =
      switch place {
      case .caller: .caller
      case .loop: .loop(loop)
      case .group: .group(group, key: 0)
      }
    let reactor = Script(on: placement, snapshots: .copied)
    reactor.send(0)
    #expect(Threads.yield { isIdle(reactor) && reactor.currentState.count == 1 })
    body(reactor)
    #expect(
      Threads.start {
        loop.shutdown()
        group.shutdown()
      }.wait())
  }

  private static func isIdle(_ reactor: Script) -> Bool {
    reactor.runtime.state.hasStarted && !reactor.runtime.state.isBusy
  }

  /// Sends `count` actions, each inside of a read of the state before, and all of these reads inside of each other. Then
  /// calls `body`.
  private func send(_ count: Int, inside reactor: Script, _ body: () -> Void) {
    if count == 0 { return body() }
    reactor.withCurrentState { state in
      let number = reactor.runtime.counters.processed
      reactor.send(number)
      #expect(Threads.yield { Self.isIdle(reactor) && reactor.runtime.counters.processed == number + 1 })
      send(count - 1, inside: reactor, body)
      #expect(state == Array(0..<number))
    }
  }

  @Test(arguments: Place.allCases)
  func `a deferred state is shown as soon as the readers have left`(_ place: Place) throws {
    try Self.with(place) { reactor in
      let slots = snapshotSlotCount
      // Twice, since the readers that published the first one must have left everything as it was.
      for _ in 1...2 {
        let (before, deferred) = (reactor.currentState.count, reactor.runtime.counters.deferredStates)
        send(slots, inside: reactor) {
          #expect(reactor.runtime.counters.deferredStates > deferred)
          #expect(reactor.currentState.count == before + slots - 1)
        }
        // The first read after that, since a read that finds a deferred state publishes it for the next one.
        #expect(reactor.currentState == Array(0..<before + slots))
      }
      // Nothing is in the way of the next send.
      reactor.send(100)
      #expect(Threads.yield { reactor.currentState.last == 100 })
      #expect(reactor.runtime.counters.heldStates == 0)
    }
  }

  /// An owner counts how often in a row it had to defer, in few bits.
  @Test func `nothing is deferred any more after readers have held every slot for very long`() throws {
    try Self.with(.caller) { reactor in
      let before = reactor.runtime.counters.deferredStates
      send(snapshotSlotCount, inside: reactor) {
        while reactor.runtime.counters.deferredStates < before + 256 {
          reactor.send(reactor.runtime.counters.processed)
        }
      }
      // Publishes the state.
      _ = reactor.currentState
      reactor.send(-1)
      #expect(reactor.currentState.last == -1)
      let pin = reactor.runtime.state.raw.pinUnkept()
      let isDeferred = reactor.runtime.state.raw.unpin(pin)
      #expect(!isDeferred)
    }
  }

  @Test(arguments: Place.allCases)
  func `one reader that leaves is enough to show a deferred state`(_ place: Place) throws {
    try Self.with(place) { reactor in
      let count = reactor.currentState.count
      let (isInside, mayLeave) = (Gate(), Gate())
      // This thread keeps its pin, and reads by it.
      let hasLeft = Threads.start {
        for _ in 0..<100 { _ = reactor.currentState }
        reactor.withCurrentState { _ in
          isInside.open()
          _ = mayLeave.wait()
        }
      }
      #expect(isInside.wait())
      send(1, inside: reactor) {}
      send(snapshotSlotCount - 1, inside: reactor) {
        #expect(reactor.runtime.counters.deferredStates > 0)
        mayLeave.open()
        #expect(hasLeft.wait())
        #expect(reactor.currentState.count == count + snapshotSlotCount)
      }
    }
  }

  @Test(arguments: Place.allCases)
  func `each of several threads may be the last one to leave`(_ place: Place) throws {
    try Self.with(place) { reactor in
      for round in 1...20 {
        let deferred = reactor.runtime.counters.deferredStates
        // Every thread reads another state.
        let mayLeave = Gate()
        var gates: [Gate] = []
        for _ in 0..<snapshotSlotCount {
          let (count, isInside) = (reactor.runtime.counters.processed, Gate())
          gates.append(
            Threads.start {
              reactor.withCurrentState { state in
                #expect(state.count == count)
                isInside.open()
                _ = mayLeave.wait()
              }
            })
          #expect(isInside.wait())
          reactor.send(count)
          #expect(Threads.yield { Self.isIdle(reactor) && reactor.runtime.counters.processed == count + 1 })
        }
        #expect(reactor.runtime.counters.deferredStates > deferred)
        mayLeave.open()
        for gate in gates { #expect(gate.wait()) }
        #expect(Threads.yield { Self.isIdle(reactor) })
        #expect(reactor.currentState.count == 1 + round * snapshotSlotCount)
      }
    }
  }
  @Test func `a collection that is closed keeps the last state although it is deferred`() {
    let (kept, mayLeave) = (Record<[Int]>(), Gate())
    let reactors = KeyedReactors<Int, Script>(
      onPassivate: { _, state in kept.append(copy state) },
      make: { _ in Script(on: .caller, snapshots: .copied) })
    reactors.send(0, to: 1)
    var haveLeft: [Gate] = []
    // Every thread reads another state.
    for action in 1...snapshotSlotCount {
      let isInside = Gate()
      haveLeft.append(
        Threads.start {
          _ = reactors.withCurrentState(of: 1) { _ in
            isInside.open()
            _ = mayLeave.wait()
          }
        })
      #expect(isInside.wait())
      reactors.send(action, to: 1)
    }
    #expect(reactors.currentState(of: 1) == Array(0..<snapshotSlotCount))
    reactors.close()
    #expect(reactors.finishClosing(before: .now + .seconds(patience)).isEmpty)
    #expect(kept.elements == [Array(0...snapshotSlotCount)])
    mayLeave.open()
    for gate in haveLeft { #expect(gate.wait()) }
  }
}
