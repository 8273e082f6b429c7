import ReactorCore
import ReactorTesting
import TestSupport
import Testing

@testable import ReactorRuntime

/// Tests of what a reactor and its observers see when the stub is enabled and disabled.
@Suite struct StubSwitchingTests {
  // MARK: The state

  @Test(arguments: PlacementUnderTest.allCases)
  func `20. Enabling the stub keeps currentState, whenever the stub was accessed before`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let play = Play(on: stage.placement)
    _ = play.stub
    play.send(["a"])
    #expect(play.settle())
    play.isStubEnabled = true
    #expect(play.currentState == ["a"])
    #expect(play.stub.state.value == ["a"])
    play.stub.state.value = ["set"]
    play.isStubEnabled = true
    #expect(play.currentState == ["set"])
    play.isStubEnabled = false
    play.send(["b"])
    #expect(play.settle())
    play.isStubEnabled = true
    #expect(play.currentState == ["a", "b"])
    #expect(stage.finish())
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `20. A state that was set while the stub was disabled is currentState once it is enabled`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let play = Play(on: stage.placement)
    for state in ["first", "second"] {
      play.stub.state.value = [state]
      play.send(["a"])
      #expect(play.settle())
      play.isStubEnabled = true
      #expect(play.currentState == [state])
      play.isStubEnabled = false
    }
    #expect(play.currentState == ["a", "a"])
    #expect(stage.finish())
  }

  // MARK: Observers of the reactor's own state

  @Test(arguments: [false, true])
  func `20. An observer that subscribed before the stub was enabled is told the first state once`(
    emitsAtOnce: Bool
  ) throws {
    let loop = try SteppedLoop()
    let seen = Record<[String]>()
    let play = Play(on: loop.placement) {
      $0.transformMutation = { _, mutation in emitsAtOnce ? mutation.startWith("x") : mutation.map { $0 } }
    }
    play.state.subscribe(onNext: { seen.append($0) })
    play.isStubEnabled = true
    loop.step()
    play.isStubEnabled = false
    play.send("a")
    loop.run()
    #expect(seen.elements == (emitsAtOnce ? [["x"], ["x", "a"]] : [[], ["a"]]))
  }

  @Test func `20. An observer that subscribed between two times of the stub is told the first state once`()
    throws
  {
    let loop = try SteppedLoop()
    let seen = Record<[String]>()
    let play = Play(on: loop.placement) {
      $0.transformState = { _, states in states.map { $0 + ["shown"] } }
    }
    play.isStubEnabled = true
    play.send("stubbed")
    loop.run()
    play.isStubEnabled = false
    play.state.subscribe(onNext: { seen.append($0) })
    play.isStubEnabled = true
    loop.run()
    play.isStubEnabled = false
    play.send("a")
    loop.run()
    #expect(seen.elements == [["shown"], ["a", "shown"]])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `20. An observer after a stub is told the first state once, as transform(state) shows it`(
    _ placement: PlacementUnderTest
  ) throws {
    let seen = try observeInTheTurnThatDisables(on: placement) {
      $0.transformState = { _, states in states.map { $0 + ["shown"] } }
    }
    #expect(seen == [["shown"], ["a", "shown"]])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `20. An observer after a stub is told what transform(mutation) has emitted at once`(
    _ placement: PlacementUnderTest
  ) throws {
    let seen = try observeInTheTurnThatDisables(on: placement) {
      $0.transformMutation = { _, mutation in mutation.startWith("x") }
    }
    #expect(seen == [["x"], ["x", "a"]])
  }

  /// Returns what an observer gets that subscribes where the stub was disabled, in a turn, before an action "a".
  private func observeInTheTurnThatDisables(
    on placement: PlacementUnderTest, _ change: (inout Play.Parts) -> Void
  ) throws -> [[String]] {
    let stage = try Stage(placement)
    return Play(on: stage.placement, change).observeInTheTurnThatDisablesTheStub(on: stage)
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `20. An observer that subscribes inside a transform after a stub is told no untransformed state`(
    _ placement: PlacementUnderTest
  ) throws {
    final class Showing: Reactor {
      let initialState = 1
      let runtime: Runtime<Int, Int, Int>
      let seen = Record<Int>()
      let bag = DisposeBag()
      init(on placement: Placement) { runtime = Runtime(on: placement) }
      func reduce(into state: inout Int, mutation: Int) { state += mutation }
      func transform(mutation: Observable<Int>) -> Observable<Int> {
        state.subscribe(onNext: { [seen] in seen.append($0) }).disposed(by: bag)
        return mutation
      }
      func transform(state: Observable<Int>) -> Observable<Int> { state.map { $0 * 10 } }
    }
    let stage = try Stage(placement)
    let reactor = Showing(on: stage.placement)
    reactor.isStubEnabled = true
    reactor.send(5)
    #expect(Threads.yield { reactor.stub.actions == [5] })
    reactor.isStubEnabled = false
    reactor.send(2)
    #expect(Threads.yield { reactor.currentState == 30 })
    #expect(stage.finish())
    #expect(reactor.seen.elements == [10, 30])
  }

  // MARK: Actions

  @Test(arguments: PlacementUnderTest.allCases)
  func `20. A subject that was kept from before leads to the stub while it is enabled`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let play = Play(on: stage.placement)
    let action = play.action
    play.isStubEnabled = true
    action.onNext("stubbed")
    #expect(Threads.yield { play.stub.actions == ["stubbed"] })
    play.isStubEnabled = false
    action.onNext("a")
    #expect(Threads.yield { play.currentState == ["a"] })
    #expect(stage.finish())
  }

  // MARK: The end

  @Test func `20. A stub releases its subscriptions`() {
    weak var isSet: SystemMutex<Bool>?
    do {
      let stub = StubCore<Int, Int>(0)
      isSet = stub.isSet
      #expect(!stub.isSet.withLock { $0 })
      stub.state.accept(1)
      #expect(stub.isSet.withLock { $0 })
    }
    #expect(isSet == nil)
  }
}
