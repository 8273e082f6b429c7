import Synchronization
import TestSupport
import Testing

@testable import ReactorCore
@testable import ReactorRuntime

/// Tests of the policy `.onDemand`: the owner changes the state where readers read it, and they take turns.
@Suite struct OnDemandTests {
  /// A reactor whose action is run inside of `reduce`, and whose state is the list of its mutations.
  private static func script(
    on placement: Placement = .caller, capacity: Int = 64,
    mutate: @escaping Script.Mutate = { _, action in .just(action) },
    reduce: @escaping Script.Reduce = { _, state, mutation in state.append(mutation) }
  ) -> Script {
    Script(on: placement, snapshots: .onDemand, capacity: capacity, mutate: mutate, reduce: reduce)
  }

  @Test
  func `the default copies small states without references and no others`() {
    struct Small: Sendable { var words = InlineArray<32, Int>(repeating: 0) }
    struct Large: Sendable { var words = InlineArray<33, Int>(repeating: 0) }
    #expect(SnapshotPolicy.automatic.form(of: Int.self) == .slots)
    #expect(SnapshotPolicy.automatic.form(of: Small.self) == .slots)
    #expect(SnapshotPolicy.automatic.form(of: Large.self) == .onePlace)
    #expect(SnapshotPolicy.automatic.form(of: [Int].self) == .onePlace)
    #expect(SnapshotPolicy.automatic.form(of: String.self) == .onePlace)
    #expect(SnapshotPolicy.copied.form(of: [Int].self) == .slots)
    #expect(SnapshotPolicy.onDemand.form(of: Int.self) == .onePlace)
    #expect(Runtime<Int, Int, [Int]>().state.hasOnePlace == true)
    #expect(Runtime<Int, Int, Int>().state.hasOnePlace == false)
    #expect(Runtime<Int, Int, [Int]>(snapshots: .copied).state.hasOnePlace == false)
  }

  @Test
  func `a reader waits for the running action, but not for the turn`() {
    let (isInReduce, mayEndReduce) = (Gate(), Gate())
    let (isInMutate, mayEndMutate) = (Gate(), Gate())
    let reactor = Self.script(
      mutate: { reactor, action in
        if action == 1 { reactor.send(2) }
        if action == 2 {
          isInMutate.open()
          _ = mayEndMutate.wait()
        }
        return .of(action, 10 * action)
      },
      reduce: { _, state, mutation in
        state.append(mutation)
        if mutation == 1 {
          isInReduce.open()
          _ = mayEndReduce.wait()
        }
      })
    // An earlier state, which the reader must not see.
    reactor.send(-1)
    let isSent = Threads.start { reactor.send(1) }
    #expect(isInReduce.wait())
    let seen = Record<[Int]>()
    let isRead = Threads.start { seen.append(reactor.currentState) }
    #expect(Threads.yield { reactor.runtime.state.raw.wasWaitingCount > 0 })
    #expect(seen.elements == [])
    mayEndReduce.open()
    // The turn continues with the second action, which does not end before the read.
    #expect(isRead.wait())
    #expect(seen.elements == [[-1, -10, 1, 10]])
    #expect(isInMutate.wait())
    #expect(reactor.withCurrentState { $0 } == [-1, -10, 1, 10])
    mayEndMutate.open()
    #expect(isSent.wait())
    #expect(reactor.currentState == [-1, -10, 1, 10, 2, 20])
  }

  @Test
  func `a reader that waits and does not run does not slow each change down`() throws {
    let state = try OwnedState<[Int]>(inOnePlace: true)
    #expect(state.tryInitialize { [] })
    // As a reader that the system has suspended.
    state.raw.beginWaiting()
    defer { state.raw.endWaiting() }
    let count = 4_000
    /// The least of several times: others of the machine take processors away.
    func duration(_ body: () -> Void) -> Duration {
      (0..<5).map { _ in ContinuousClock().measure { for _ in 0..<count { body() } } }.min() ?? .zero
    }
    let ofMoments = duration { for _ in 0..<128 { CurrentCore.pause() } }
    let ofChanges = duration {
      state.change { $0 = [] }
      state.endAction()
    }
    // The owner of a debug build takes a tenth of a moment for a change.
    #expect(ofChanges < ofMoments * 0.6)
    state.release()
  }

  @Test
  func `threads read at the same time, and the owner waits for all of them`() {
    let reactor = Self.script()
    reactor.send(1)
    let (areInside, mayLeave) = (Gate(count: 3), Gate())
    let areDone = (0..<3).map { _ in
      Threads.start {
        reactor.withCurrentState { state in
          areInside.open()
          _ = mayLeave.wait()
          #expect(state.count == 1)
        }
      }
    }
    #expect(areInside.wait())
    let isSent = Threads.start { reactor.send(2) }
    #expect(Threads.yield { reactor.runtime.state.isBusy })
    #expect(isSent.isOpen == false)
    mayLeave.open()
    #expect(isSent.wait())
    for isDone in areDone { #expect(isDone.wait()) }
    #expect(reactor.currentState == [1, 2])
  }

  @Test
  func `what the body sends to its reactor is processed when the read has ended`() throws {
    let reactor = Self.script(capacity: 2)
    reactor.send(0)
    for round in 1...20 {
      reactor.withCurrentState { state in
        let before = state.count
        // More than the mailbox holds: the body does not wait for room.
        for action in 0..<5 { reactor.send(10 * round + action) }
        reactor.withCurrentState { reactor.send($0.count) }
        #expect(state.count == before)
        #expect(reactor.withCurrentState { $0.count } == before)
      }
      #expect(reactor.withCurrentState { $0.count } == 1 + 6 * round)
    }
    let outside = reactor
    let other = Self.script(mutate: { _, action in
      // A turn of another reactor, inside of the read.
      outside.send(action)
      return .just(action)
    })
    let before = reactor.currentState.count
    reactor.withCurrentState { _ in
      other.send(7)
      #expect(other.currentState == [7])
      #expect(reactor.currentState.count == before)
    }
    #expect(reactor.currentState.count == before + 1)
    #expect(reactor.currentState.last == 7)
  }

  @Test
  func `a subscription and a closing inside of the body take effect after the read`() {
    let reactor = Self.script()
    reactor.send(1)
    let seen = Record<[Int]>()
    let bag = DisposeBag()
    reactor.withCurrentState { _ in
      reactor.state.subscribe(onNext: { seen.append($0) }).disposed(by: bag)
      reactor.close()
      #expect(seen.elements == [])
    }
    #expect(seen.elements == [[1]])
    #expect(reactor.waitUntilEnded(before: .now + .seconds(patience)))
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `reactors that read each other in mutate do not wait for each other for ever`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let others = Mutex<[Script]>([])
    let reactors = (0..<2).map { index in
      Self.script(
        on: stage.placement,
        mutate: { _, action in
          let other = others.withLock { $0[1 - index] }
          return .just(other.withCurrentState { $0.count } + action)
        })
    }
    others.withLock { $0 = reactors }
    #expect(
      Threads.run(4) { thread in
        for action in 0..<500 {
          reactors[(thread + action) % 2].send(action)
          if action % 3 == 0 { _ = reactors[thread % 2].withCurrentState { $0.count } }
        }
      })
    #expect(stage.finish())
    #expect(reactors.reduce(0) { $0 + $1.currentState.count } == 2000)
    others.withLock { $0 = [] }
  }

  @Test
  func `the first mutation of a reduce that returns the state reads the state before it`() {
    let reactor = CurrentStateTests.Returning(on: .caller)
    #expect(reactor.runtime.state.hasOnePlace == true)
    reactor.send(1)
    #expect(reactor.seen.elements == [[]])
  }

  @Test
  func `reading its own state inside of reduce in place stops the program`() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let reactor = OnDemandTests.script(reduce: { reactor, state, mutation in
        state.append(reactor.currentState.count)
      })
      // The first mutation is reduced in place as well.
      reactor.send(1)
    }
    #expect(stop?.standardErrorContent.says("reads the state of its own reactor") == true)
    await #expect(processExitsWith: .success) {
      let reactor = Script(
        on: .caller, snapshots: .copied,
        reduce: { reactor, state, mutation in
          state.append(reactor.currentState.count)
        })
      reactor.send(1)
      reactor.send(2)
    }
  }

  @Test
  func `states that are read in a circle inside of reduce stop the program`() async {
    let stop = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let others = Mutex<[Script]>([])
      let (first, second) = (Gate(), Gate())
      let reactors = (0..<2).map { index in
        OnDemandTests.script(reduce: { _, state, mutation in
          if mutation == 1 {
            (index == 0 ? first : second).open()
            _ = (index == 0 ? second : first).wait()
            state.append(others.withLock { $0[1 - index] }.withCurrentState { $0.count })
          }
        })
      }
      others.withLock { $0 = reactors }
      for reactor in reactors { reactor.send(0) }
      _ = Threads.run(2) { reactors[$0].send(1) }
    }
    #expect(stop?.standardErrorContent.says("wait for each other's states in a circle") == true)
  }

  @Test
  func `threads that send to each other's reactor while they read do not wait in a circle`() async {
    await #expect(processExitsWith: .success) {
      let reactors = (0..<2).map { _ in OnDemandTests.script() }
      for reactor in reactors { reactor.send(0) }
      let gates = (0..<2).map { _ in Gate() }
      _ = Threads.run(2) { index in
        reactors[index].withCurrentState { _ in
          gates[index].open()
          _ = gates[1 - index].wait()
          for action in 1...10 { reactors[1 - index].send(action) }
        }
      }
      for reactor in reactors {
        precondition(Threads.yield { reactor.withCurrentState { $0 == Array(0...10) } })
      }
    }
  }
}
