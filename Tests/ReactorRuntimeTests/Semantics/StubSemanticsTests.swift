import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests of the stub, which replaces a reactor in tests of views.
@Suite struct StubSemanticsTests {
  /// A reactor that records which of its methods run.
  private func logged(_ log: Record<String>, on placement: Placement) -> Play {
    Play(on: placement) {
      $0.transformAction = { _, action in
        log.append("transform action")
        return action
      }
      $0.mutate = { _, action in
        log.append("mutate \(action)")
        return .just(action)
      }
      $0.reduce = { _, state, mutation in
        log.append("reduce \(mutation)")
        return state + [mutation]
      }
      $0.initial = { _ in ["initial"] }
    }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `20. An enabled stub records the actions, and transforms, mutate and reduce do not run`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let (log, observed) = (Record<String>(), Record<String>())
    let play = logged(log, on: stage.placement)
    play.isStubEnabled = true
    #expect(play.isStubEnabled)
    #expect(play.action === play.stub.action)
    play.action.subscribe(onNext: { observed.append($0) })
    play.send(["a", "b"])
    #expect(play.stub.actions == ["a", "b"])
    #expect(observed.elements == ["a", "b"])
    // The fast path of a send leads to the stub as well.
    play.send("c")
    #expect(Threads.yield { play.stub.actions == ["a", "b", "c"] })
    #expect(stage.finish())
    #expect(log.elements == [])
    #expect(play.currentState == ["initial"])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `20. stub.state.value sets currentState at once, and state emits it`(_ placement: PlacementUnderTest)
    throws
  {
    let stage = try Stage(placement)
    let seen = Record<[String]>()
    let play = logged(Record(), on: stage.placement)
    play.isStubEnabled = true
    play.state.subscribe(onNext: { seen.append($0) })
    for value in [["x"], [], ["y", "z"]] {
      play.stub.state.value = value
      #expect(play.currentState == value)
    }
    #expect(seen.elements == [["initial"], ["x"], [], ["y", "z"]])
    #expect(stage.finish())
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `20. Disabling the stub restores the same subject, and the reactor continues with its state`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let (log, seen) = (Record<String>(), Record<[String]>())
    let play = logged(log, on: stage.placement)
    let action = play.action
    play.state.subscribe(onNext: { seen.append($0) })
    play.send(["a"])
    #expect(play.settle())
    play.isStubEnabled = true
    #expect(play.action !== action)
    play.send(["stubbed"])
    play.stub.state.value = ["stubbed"]
    #expect(play.currentState == ["stubbed"])
    play.isStubEnabled = false
    #expect(!play.isStubEnabled)
    #expect(play.action === action)
    #expect(play.currentState == ["initial", "a"])
    play.send(["b"])
    #expect(stage.finish())
    #expect(seen.elements == [["initial"], ["initial", "a"], ["initial", "a", "b"]])
    #expect(log.elements == ["transform action", "mutate a", "reduce a", "mutate b", "reduce b"])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `20. A stub that is enabled before the first access and disabled later leaves a working reactor`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let (log, seen) = (Record<String>(), Record<[String]>())
    let play = logged(log, on: stage.placement)
    play.isStubEnabled = true
    // This uses the reactor itself, not its subject.
    play.send("stubbed")
    #expect(Threads.yield { play.stub.actions == ["stubbed"] })
    play.isStubEnabled = false
    play.state.subscribe(onNext: { seen.append($0) })
    play.send(["a"])
    #expect(stage.finish())
    #expect(log.elements == ["transform action", "mutate a", "reduce a"])
    #expect(seen.elements == [["initial"], ["initial", "a"]])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `20. An observer that subscribes after the stub was disabled gets the first state once`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let play = logged(Record<String>(), on: stage.placement)
    #expect(play.observeInTheTurnThatDisablesTheStub(on: stage) == [["initial"], ["initial", "a"]])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `20. Accessing the stub changes neither currentState nor the destination of actions`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let log = Record<String>()
    let play = logged(log, on: stage.placement)
    let subject = play.stub.action
    #expect(log.elements == [])
    play.send(["a"])
    #expect(play.settle())
    #expect(play.stub.action === subject)
    #expect(play.stub.actions == [])
    #expect(play.currentState == ["initial", "a"])
    #expect(stage.finish())
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `20. Enabling the stub does not reset currentState`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let play = logged(Record(), on: stage.placement)
    play.send(["a"])
    #expect(play.settle())
    play.isStubEnabled = true
    #expect(play.currentState == ["initial", "a"])
    #expect(play.stub.state.value == ["initial", "a"])
    #expect(stage.finish())
  }

  /// The transforms are called when the stub was disabled, in a turn: what they subscribe to is a step in that turn.
  @Test(arguments: PlacementUnderTest.allCases)
  func `20. Transforms that use the reactor's own streams are called once after a stub`(
    _ placement: PlacementUnderTest
  ) throws {
    final class Reflecting: Reactor {
      let initialState = 0
      let runtime: Runtime<Int, Int, Int>
      let calls = Record<String>()
      let seen = Record<Int>()
      let bag = DisposeBag()
      init(on placement: Placement) { runtime = Runtime(on: placement) }
      func mutate(action: Int) -> Observable<Int> { .just(action) }
      func reduce(into state: inout Int, mutation: Int) { state += mutation }
      func transform(mutation: Observable<Int>) -> Observable<Int> {
        calls.append("mutation")
        state.subscribe(onNext: { [seen] in seen.append($0) }).disposed(by: bag)
        action.subscribe(onNext: { _ in }).disposed(by: bag)
        return mutation.map { $0 * 10 }
      }
    }
    let stage = try Stage(placement)
    let reactor = Reflecting(on: stage.placement)
    reactor.isStubEnabled = true
    reactor.send(1)
    #expect(Threads.yield { reactor.stub.actions == [1] })
    reactor.isStubEnabled = false
    reactor.send(2)
    #expect(Threads.yield { reactor.currentState == 20 })
    #expect(stage.finish())
    #expect(reactor.calls.elements == ["mutation"])
    #expect(reactor.seen.elements == [0, 20])
  }
}
