import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests of the steps through which one action passes.
@Suite struct PerActionTests {
  @Test(arguments: PlacementUnderTest.allCases)
  func `6. An action passes through the transforms, mutate and reduce to the observers, in order`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let log = Record<String>()
    let play = Play(on: stage.placement) {
      $0.transformAction = { $1.do(onNext: { log.append("action \($0)") }) }
      $0.mutate = { _, action in
        log.append("mutate \(action)")
        return .of(action + "1", action + "2")
      }
      $0.transformMutation = { $1.do(onNext: { log.append("mutation \($0)") }) }
      $0.reduce = { _, state, mutation in
        log.append("reduce \(mutation)")
        return [mutation]
      }
      $0.transformState = { $1.skip(1).do(onNext: { log.append("state \($0[0])") }) }
    }
    for number in 1...5 { play.state.subscribe(onNext: { log.append("subscriber \(number) \($0[0])") }) }
    play.send(["a", "b"])
    #expect(stage.finish())
    var expected: [String] = []
    for action in ["a", "b"] {
      expected += ["action \(action)", "mutate \(action)"]
      for mutation in [action + "1", action + "2"] {
        expected += ["mutation \(mutation)", "reduce \(mutation)", "state \(mutation)"]
        expected += (1...5).map { "subscriber \($0) \(mutation)" }
      }
    }
    #expect(log.elements == expected)
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `6. Observers keep their order when some are disposed and others subscribe`(
    _ placement: PlacementUnderTest
  )
    throws
  {
    let stage = try Stage(placement)
    let log = Record<Int>()
    let play = Play(on: stage.placement)
    let subscriptions = (0..<20).map { number in
      play.state.skip(1).subscribe(onNext: { _ in log.append(number) })
    }
    for number in stride(from: 0, to: 20, by: 3) { subscriptions[number].dispose() }
    for number in 20..<25 { play.state.skip(1).subscribe(onNext: { _ in log.append(number) }) }
    play.send(["a"])
    #expect(stage.finish())
    #expect(log.elements == (0..<20).filter { $0 % 3 != 0 } + Array(20..<25))
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `7. currentState is old inside reduce and transform(state), and new inside observers`(
    _ placement: PlacementUnderTest
  ) throws {
    func body(transforms: Bool) throws {
      let stage = try Stage(placement)
      let (inReduce, inTransform) = (Record<[String]>(), Record<[String]>())
      let (inSubscriber, elsewhere) = (Record<[String]>(), Record<[String]>())
      let play = Play(on: stage.placement) {
        // Several mutations in one turn, so that the ends of turns play no part.
        $0.mutate = { .of($1 + "1", $1 + "2") }
        $0.reduce = { play, state, mutation in
          inReduce.append(play.currentState)
          return state + [mutation]
        }
        if transforms {
          $0.transformState = { play, state in
            state.skip(1).do(onNext: { [weak play] _ in inTransform.append(play?.currentState ?? ["gone"]) })
          }
        }
      }
      play.state.filter { !$0.isEmpty }.subscribe(onNext: { [unowned play] _ in
        inSubscriber.append(play.currentState)
        #expect(Threads.start { elsewhere.append(play.currentState) }.wait())
      })
      play.send(["a", "b"])
      #expect(stage.finish())
      let states = [[], ["a1"], ["a1", "a2"], ["a1", "a2", "b1"], ["a1", "a2", "b1", "b2"]]
      #expect(inReduce.elements == Array(states.dropLast()))
      #expect(inTransform.elements == (transforms ? Array(states.dropLast()) : []))
      #expect(inSubscriber.elements == Array(states.dropFirst()))
      #expect(elsewhere.elements == Array(states.dropFirst()))
    }
    for transforms in [true, false] { try body(transforms: transforms) }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `7. currentState returns the state that is replayed to a late observer on all threads`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let elsewhere = Record<[String]>()
    let (isInside, mayGoOn) = (Gate(), Gate())
    let play = Play(on: stage.placement) {
      $0.mutate = { _, action in
        if action == "block" {
          isInside.open()
          _ = mayGoOn.wait()
        }
        return .just(action)
      }
    }
    let isDone = Threads.start { play.action.onNext("block") }
    #expect(isInside.wait())
    // The action and the subscription are in the same turn, and the state had no observer before.
    play.send(["a"])
    play.state.subscribe(onNext: { [unowned play] _ in
      #expect(Threads.start { elsewhere.append(play.currentState) }.wait())
    })
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(stage.finish())
    #expect(elsewhere.elements == [["block", "a"]])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `8. currentState is the transformed state, and reduce continues with the untransformed one`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let (reduced, seen) = (Record<[String]>(), Record<[String]>())
    let play = Play(on: stage.placement) {
      $0.initial = { _ in ["0"] }
      $0.reduce = { _, state, mutation in
        reduced.append(state)
        return state + [mutation]
      }
      $0.transformState = { $1.map { $0 + ["!"] } }
    }
    #expect(play.currentState == ["0"])
    play.state.subscribe(onNext: { seen.append($0) })
    #expect(play.settle())
    #expect(play.currentState == ["0", "!"])
    play.send(["a", "b"])
    #expect(stage.finish())
    #expect(play.currentState == ["0", "a", "b", "!"])
    #expect(reduced.elements == [["0"], ["0", "a"]])
    #expect(seen.elements == [["0", "!"], ["0", "a", "!"], ["0", "a", "b", "!"]])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `8. A state that transform(state) filters out is not published, but reduce continues with it`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let seen = Record<[String]>()
    let play = Play(on: stage.placement) { $0.transformState = { $1.filter { $0.count % 2 == 0 } } }
    play.state.subscribe(onNext: { seen.append($0) })
    play.send(["a", "b", "c"])
    #expect(stage.finish())
    #expect(seen.elements == [[], ["a", "b"]])
    #expect(play.currentState == ["a", "b"])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `9. A late observer gets exactly the last state, and equal states are emitted again`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let (early, late) = (Record<[String]>(), Record<[String]>())
    let play = Play(on: stage.placement) { $0.reduce = { [$2] + $1.prefix(0) } }
    play.send(["a", "b"])
    play.state.subscribe(onNext: { early.append($0) })
    play.send(["c", "c"])
    play.state.subscribe(onNext: { late.append($0) })
    play.send(["c"])
    #expect(stage.finish())
    #expect(early.elements == [["b"], ["c"], ["c"], ["c"]])
    #expect(late.elements == [["c"], ["c"]])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `9. An observer that subscribes while a state is delivered gets that state once`(
    _ placement: PlacementUnderTest
  )
    throws
  {
    let stage = try Stage(placement)
    let late = Record<[String]>()
    let play = Play(on: stage.placement)
    play.state.subscribe(onNext: { [unowned play] state in
      if state == ["a"] { play.state.subscribe(onNext: { late.append($0) }) }
    })
    play.send(["a", "b"])
    #expect(stage.finish())
    #expect(late.elements == [["a"], ["a", "b"]])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `10. Each mutation is reduced and visible before the next inner stream of the action starts`(
    _ placement: PlacementUnderTest
  ) throws {
    func body(transforms: Bool) throws {
      let stage = try Stage(placement)
      let play = Play(on: stage.placement) {
        $0.mutate = { play, action in
          .concat(
            ["1", "2", "3"].map { number in
              .create { [weak play] observer in
                observer.onNext("\(action)\(number) after \(play?.currentState.count ?? -1)")
                observer.onCompleted()
                return Disposables.create()
              }
            })
        }
        if transforms {
          $0.transformMutation = { $1.map { $0 } }
          $0.transformState = { $1.map { $0 } }
        }
      }
      play.state.subscribe(onNext: { _ in })
      play.send(["a", "b"])
      #expect(stage.finish())
      #expect(
        play.currentState == [
          "a1 after 0", "a2 after 1", "a3 after 2", "b1 after 3", "b2 after 4", "b3 after 5",
        ])
    }
    for transforms in [true, false] { try body(transforms: transforms) }
  }
}
