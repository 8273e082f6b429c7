import Glibc
import ReactorCore
import ReactorRuntime
import Synchronization
import TestSupport
import Testing

/// Tests of the creation of a reactor's pipeline.
@Suite struct CreationTests {
  /// A reactor that records when each part is created, and when the streams are subscribed to.
  private func logged(_ log: Record<String>, on placement: Placement) -> Play {
    Play(on: placement) {
      $0.transformAction = { _, action in
        log.append("action")
        return action.do(onSubscribe: { log.append("to action") })
      }
      $0.transformMutation = { _, mutation in
        log.append("mutation")
        return mutation.do(onSubscribe: { log.append("to mutation") })
      }
      $0.transformState = { _, state in
        log.append("state")
        return state.do(onSubscribe: { log.append("to state") })
      }
      $0.initial = { _ in
        log.append("initial")
        return ["initial"]
      }
    }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `1. The first access to action or state builds the pipeline once; currentState alone does not`(
    _ placement: PlacementUnderTest
  ) throws {
    for touchesStateFirst in [true, false] {
      let stage = try Stage(placement)
      let log = Record<String>()
      let play = logged(log, on: stage.placement)
      #expect(log.elements == [])
      #expect(play.currentState == ["initial"])
      #expect(play.currentState == ["initial"])
      #expect(log.elements == ["initial", "initial"])
      if touchesStateFirst { _ = play.state } else { _ = play.action }
      #expect(play.settle())
      let built = log.elements.count
      for part in ["action", "mutation", "state", "to action", "to mutation", "to state"] {
        #expect(log.elements.count { $0 == part } == 1)
      }
      let action = play.action
      #expect(play.action === action)
      play.state.subscribe(onNext: { _ in })
      play.send(["a", "b"])
      #expect(play.settle())
      #expect(log.elements.count == built)
      #expect(stage.finish())
    }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `2. Creation calls the transforms and initialState in order, and then connects`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let log = Record<String>()
    let play = logged(log, on: stage.placement)
    play.send(["a", "b", "c"])
    #expect(stage.finish())
    #expect(
      log.elements == [
        "action", "mutation", "initial", "state", "to state", "to mutation", "to action",
      ])
    #expect(play.currentState == ["initial", "a", "b", "c"])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `3. self.state and self.action inside each transform are the reactor's own streams`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let (states, actions) = (Record<[String]>(), Record<String>())
    let subjects = Record<ObjectIdentifier>()
    @Sendable func access(_ play: Play) {
      subjects.append(ObjectIdentifier(play.action))
      play.action.subscribe(onNext: { actions.append($0) })
      play.state.subscribe(onNext: { states.append($0) })
    }
    let play = Play(on: stage.placement) {
      $0.transformAction = { play, action in
        access(play)
        return action
      }
      $0.transformMutation = { play, mutation in
        access(play)
        return .merge(mutation, play.state.filter { $0.last == "a" }.map { _ in "after a" })
      }
      $0.transformState = { play, state in
        access(play)
        return state
      }
    }
    play.send(["a"])
    #expect(stage.finish())
    #expect(Set(subjects.elements) == [ObjectIdentifier(play.action)])
    #expect(actions.elements == ["a", "a", "a"])
    #expect(play.currentState == ["a", "after a"])
    #expect(states.elements == [[], ["a"], ["a", "after a"]].flatMap { [$0, $0, $0] })
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `3. An action sent inside a transform is processed once the pipeline is built`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let play = Play(on: stage.placement) {
      $0.transformAction = { play, action in
        play.action.onNext("1")
        return action.map { $0 + "'" }
      }
      $0.transformMutation = { play, mutation in
        play.action.onNext("2")
        return mutation
      }
      $0.transformState = { play, state in
        play.action.onNext("3")
        return state.map { $0 + ["!"] }
      }
    }
    _ = play.state
    #expect(stage.finish())
    #expect(play.currentState == ["1'", "2'", "3'", "!"])
    #expect(play.reports == [])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `4. startWith in transform(action) is reduced during creation; later subscribers see only the result`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let seen = Record<[String]>()
    let play = Play(on: stage.placement) { $0.transformAction = { $1.startWith("load") } }
    #expect(play.currentState == [])
    play.state.subscribe(onNext: { seen.append($0) })
    #expect(stage.finish())
    #expect(seen.elements == [["load"]])
    #expect(play.currentState == ["load"])
  }

  @Test
  func `4. On the caller, startWith in transform(action) is reduced when the first access returns`() throws {
    let play = Play(on: .caller) { $0.transformMutation = { $1.startWith("x", "y") } }
    _ = play.action
    #expect(play.currentState == ["x", "y"])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `5. Concurrent first accesses build exactly one pipeline and lose no action`(
    _ placement: PlacementUnderTest
  ) throws {
    for _ in 0..<50 {
      let stage = try Stage(placement)
      let log = Record<String>()
      let play = logged(log, on: stage.placement)
      let seen = Record<[String]>()
      let isDone = Threads.run(4) { index in
        switch index {
        case 0: play.action.onNext("0")
        case 1: play.send("1")
        case 2: play.state.subscribe(onNext: { seen.append($0) })
        default: _ = play.currentState
        }
      }
      #expect(isDone)
      #expect(stage.finish())
      for part in ["action", "mutation", "state", "to action", "to mutation", "to state"] {
        #expect(log.elements.count { $0 == part } == 1)
      }
      #expect(play.currentState.sorted() == ["0", "1", "initial"])
      #expect(seen.elements.last == play.currentState)
    }
  }

  /// A reactor with default transforms. `initialState` may be the first to observe the states.
  private final class Plain: Reactor {
    typealias Action = Int
    let runtime = Runtime<Int, Int, Int>()
    private let states: Record<Int>?

    init(observing states: Record<Int>?) { self.states = states }

    var initialState: Int {
      if let states { state.subscribe(onNext: { states.append($0) }) }
      return 7
    }

    func reduce(into state: inout Int, mutation: Int) { state += mutation }
  }

  @Test func `Each reactor of a type with default transforms starts like the first one`() {
    Plain(observing: nil).send(1)
    for _ in 0..<3 {
      let states = Record<Int>()
      let reactor = Plain(observing: states)
      reactor.send(1)
      reactor.send(2)
      #expect(states.elements == [7, 8, 10])
      #expect(reactor.currentState == 10)
    }
  }

  /// A reactor whose transform forwards to another one's default, or adds to the mutations.
  private final class Forwarding: Reactor {
    typealias Action = Int
    let initialState = 0
    let runtime = Runtime<Int, Int, Int>()
    private let base = Plain(observing: nil)
    private let adds: Bool

    init(adds: Bool) { self.adds = adds }

    func transform(action: Observable<Int>) -> Observable<Int> { base.transform(action: action) }
    func transform(mutation: Observable<Int>) -> Observable<Int> {
      adds ? mutation.map { $0 + 100 } : base.transform(mutation: mutation)
    }
    func transform(state: Observable<Int>) -> Observable<Int> { base.transform(state: state) }
    func reduce(into state: inout Int, mutation: Int) { state += mutation }
  }

  @Test func `A transform that forwards to another reactor's default is called for each reactor of its type`()
  {
    for adds in [false, true, false, true] {
      let reactor = Forwarding(adds: adds)
      reactor.send(1)
      #expect(reactor.currentState == (adds ? 101 : 1))
    }
  }

  /// Reactors whose `mutate` forwards another action to another one's default, of the same type and of another.
  private final class Doubling: Reactor {
    typealias Action = Int
    let initialState = 0
    let runtime = Runtime<Int, Int, Int>()
    private let base = Plain(observing: nil)

    func mutate(action: Int) -> Observable<Int> { base.mutate(action: action * 2) }
    func reduce(into state: inout Int, mutation: Int) { state += mutation }
  }

  private final class Counting: Reactor {
    typealias Action = String
    let initialState = 0
    let runtime = Runtime<String, Int, Int>()
    private let base = Plain(observing: nil)

    func mutate(action: String) -> Observable<Int> { base.mutate(action: action.count) }
    func reduce(into state: inout Int, mutation: Int) { state += mutation }
  }

  @Test func `A mutate that forwards to another reactor's default has the mutations of that`() {
    let (doubling, counting) = (Doubling(), Counting())
    doubling.send(21)
    counting.send("seven..")
    #expect(doubling.currentState == 42)
    #expect(counting.currentState == 7)
  }

  /// Readers see a copy of its state, which a turn publishes.
  private final class Beginning: Reactor {
    typealias Action = Int
    let initialState = 0
    let runtime: Runtime<Int, Int, Int>

    init(on placement: Placement) { runtime = Runtime(on: placement) }

    func transform(mutation: Observable<Int>) -> Observable<Int> { mutation.startWith(1) }
    func reduce(into state: inout Int, mutation: Int) { state += mutation }
  }

  @Test func `What a transform emits at once is shown although the loop keeps the reactor`() throws {
    // A loop that never sleeps releases a reactor after 65,536 rounds, which another one makes long.
    let loop = try Loop(waiting: .busy)
    let mayEnd = Gate()
    @Sendable func stayBusy() {
      usleep(1000)
      if !mayEnd.isOpen { try? loop.execute { stayBusy() } }
    }
    try loop.execute { stayBusy() }
    let reactor = Beginning(on: .loop(loop))
    _ = reactor.state
    #expect(Threads.yield(seconds: 20) { reactor.currentState == 1 })
    mayEnd.open()
    #expect(Threads.start { loop.shutdown() }.wait())
  }
}
