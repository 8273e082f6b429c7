import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests of the observers of `action`, and of streams that are used inside of `mutate`.
@Suite struct ActionStreamTests {
  @Test(arguments: PlacementUnderTest.allCases, [false, true])
  func `an observer of state that comes inside of mutate gets the states of that action`(
    _ placement: PlacementUnderTest, byStream: Bool
  ) throws {
    let stage = try Stage(placement)
    let log = Record<[Int]>()
    let reactor = Script(
      on: stage.placement,
      mutate: { reactor, action in
        if action == 1 { reactor.state.subscribe(onNext: { log.append($0) }) }
        return .of(10 * action, 100 * action)
      })
    for action in 1...2 { if byStream { reactor.action.onNext(action) } else { reactor.send(action) } }
    #expect(stage.finish())
    #expect(log.elements == [[], [10], [10, 100], [10, 100, 20], [10, 100, 20, 200]])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `14a. A stream that subscribes to action inside mutate gets every later action, before its mutate`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let log = Record<String>()
    let play = Play(on: stage.placement) {
      $0.mutate = { play, action in
        log.append("mutate \(action)")
        return play.action.map { "\(action) sees \($0)" }
      }
    }
    play.send(["a", "b", "c"])
    #expect(stage.finish())
    #expect(log.elements == ["mutate a", "mutate b", "mutate c"])
    // In the order of a hash table, b would sometimes precede a.
    #expect(play.currentState == ["a sees b", "a sees c", "b sees c"])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `14a. Observers of action are called before mutate, in the order in which they subscribed`(
    _ placement: PlacementUnderTest
  ) throws {
    func body(transforms: Bool) throws {
      let stage = try Stage(placement)
      let log = Record<String>()
      let play = Play(on: stage.placement) {
        $0.mutate = { _, action in
          log.append("mutate \(action)")
          return .empty()
        }
        if transforms { $0.transformAction = { $1.do(onNext: { log.append("transform \($0)") }) } }
      }
      for number in 1...9 { play.action.subscribe(onNext: { log.append("\(number) \($0)") }) }
      play.send(["a", "b"])
      #expect(stage.finish())
      var expected: [String] = []
      for action in ["a", "b"] {
        expected += (1...9).map { "\($0) \(action)" }
        expected += transforms ? ["transform \(action)"] : []
        expected += ["mutate \(action)"]
      }
      #expect(log.elements == expected)
    }
    for transforms in [true, false] { try body(transforms: transforms) }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `14a. take(until: action) ends the older request before the newer one starts, on any thread`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let log = Record<String>()
    let responses = PublishSubject<String>()
    let play = Play(on: stage.placement) {
      $0.mutate = { play, action in
        log.append("mutate \(action)")
        return .concat(
          .just("\(action) begins"),
          responses.map { "\(action): \($0)" }.take(until: play.action)
            .do(onDispose: { log.append("end \(action)") }))
      }
    }
    for action in ["a", "b", "c"] {
      #expect(Threads.start { play.action.onNext(action) }.wait())
      #expect(play.settle())
      responses.onNext("1")
    }
    #expect(stage.finish())
    #expect(log.elements == ["mutate a", "end a", "mutate b", "end b", "mutate c"])
    #expect(
      play.currentState == ["a begins", "a: 1", "b begins", "b: 1", "c begins", "c: 1"])
  }

  /// Returns a reactor whose older request gets a response while the owner is busy and a newer request waits.
  private func answerWhileBusy(
    on placement: Placement,
    _ request: @escaping @Sendable (Play, Observable<String>) -> Observable<String>
  ) -> Play {
    let responses = PublishSubject<String>()
    let (isInside, mayGoOn) = (Gate(), Gate())
    let play = Play(on: placement) {
      $0.mutate = { play, action in
        switch action {
        case "old": return request(play, responses.asObservable())
        case "block":
          isInside.open()
          _ = mayGoOn.wait()
          return .empty()
        default: return .just(action)
        }
      }
    }
    play.send(["old"])
    #expect(play.settle())
    let isDone = Threads.start { play.action.onNext("block") }
    #expect(isInside.wait())
    play.send(["new"])
    responses.onNext("stale")
    mayGoOn.open()
    #expect(isDone.wait())
    return play
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `14a. take(until: action) discards mutations of the older request that wait in the mailbox`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let play = answerWhileBusy(on: stage.placement) { play, responses in
      responses.take(until: play.action.filter { $0 == "new" })
    }
    #expect(stage.finish())
    #expect(play.currentState == ["new"])
    #expect(play.reports == [])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `14a. Waiting mutations are discarded even if the rest of the older request continues`(
    _ placement: PlacementUnderTest
  )
    throws
  {
    let stage = try Stage(placement)
    let play = answerWhileBusy(on: stage.placement) { play, responses in
      .merge(responses.take(until: play.action.filter { $0 == "new" }).map { $0 }, .never())
    }
    #expect(stage.finish())
    #expect(play.currentState == ["new"])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `14a. Mutations that precede the end by a signal that is not an action are reduced`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let play = answerWhileBusy(on: stage.placement) { play, responses in
      let end = PublishSubject<Void>()
      return .merge(responses.do(afterNext: { _ in end.onNext(()) }).take(until: end), .never())
    }
    #expect(stage.finish())
    #expect(play.currentState == ["new", "stale"])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `14a. A mutation that another thread is emitting when the older request ends is discarded`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let responses = PublishSubject<String>()
    let (isInside, mayGoOn) = (Gate(), Gate())
    let play = Play(on: stage.placement) {
      $0.mutate = { play, action in
        if action != "old" { return .just(action) }
        return responses.take(until: play.action.filter { $0 == "new" }).map { response in
          isInside.open()
          _ = mayGoOn.wait()
          return response
        }
      }
    }
    play.send(["old"])
    #expect(play.settle())
    let isAnswered = Threads.start { responses.onNext("stale") }
    #expect(isInside.wait())
    // More actions than an operator of several sources may queue: the owner must not wait for the other thread.
    for _ in 0..<1100 { play.action.onNext("new") }
    #expect(play.settle())
    mayGoOn.open()
    #expect(isAnswered.wait())
    play.send(["after"])
    #expect(stage.finish())
    #expect(play.currentState.count == 1101)
    #expect(Set(play.currentState) == ["new", "after"])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `14a. What follows take(until: action) in the older request is reduced before the newer one starts`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let play = answerWhileBusy(on: stage.placement) { play, responses in
      .concat(
        .just("loading"), responses.take(until: play.action.filter { $0 == "new" }), .just("not loading"))
    }
    #expect(stage.finish())
    #expect(play.currentState == ["loading", "not loading", "new"])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `14a. Actions of several threads are observed in the order in which they are processed`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let observed = Record<String>()
    let play = Play(on: stage.placement)
    play.action.subscribe(onNext: { observed.append($0) })
    #expect(Threads.run(4) { index in for number in 0..<100 { play.action.onNext("\(index) \(number)") } })
    #expect(stage.finish())
    #expect(observed.elements.count == 400)
    #expect(observed.elements == play.currentState)
  }
}
