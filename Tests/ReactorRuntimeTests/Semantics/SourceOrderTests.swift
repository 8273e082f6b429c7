import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests that the elements of one source keep their order, on whichever threads it emits.
@Suite struct SourceOrderTests {
  /// Sends an action on another thread, and runs `outside` while the reactor's owner waits between the two gates.
  private func during(
    _ reactor: Play, _ isInside: Gate, _ mayGoOn: Gate, _ outside: () -> Void
  ) {
    let isDone = Threads.start { reactor.action.onNext("go") }
    #expect(isInside.wait())
    outside()
    mayGoOn.open()
    #expect(isDone.wait())
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `6. Elements that a source emits on another thread and then inside a turn are reduced in that order`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let source = PublishSubject<String>()
    let (isInside, mayGoOn) = (Gate(), Gate())
    let play = Play(on: stage.placement) {
      $0.mutate = { _, action in
        if action == "listen" { return source.asObservable() }
        isInside.open()
        _ = mayGoOn.wait()
        source.onNext("second")
        return .just(action)
      }
    }
    play.send(["listen"])
    #expect(play.settle())
    during(play, isInside, mayGoOn) { source.onNext("first") }
    #expect(stage.finish())
    #expect(play.currentState.filter { $0 != "go" } == ["first", "second"])
    #expect(play.currentState.count == 3)
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `6. An element that an observer makes a source emit is reduced before its later elements`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let source = PublishSubject<String>()
    let play = Play(on: stage.placement) {
      $0.mutate = { _, action in
        if action == "listen" { return source.asObservable() }
        return .create { observer in
          observer.onNext(action)
          source.onNext("second")
          return Disposables.create()
        }
      }
    }
    play.state.subscribe(onNext: { if $0 == ["go"] { source.onNext("first") } })
    play.send(["listen", "go"])
    #expect(stage.finish())
    #expect(play.currentState == ["go", "first", "second"])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `6. Elements that transform(mutation) merges in keep their order`(_ placement: PlacementUnderTest)
    throws
  {
    let stage = try Stage(placement)
    let user = BehaviorSubject(value: "nobody")
    let (isInside, mayGoOn) = (Gate(), Gate())
    let play = Play(on: stage.placement) {
      $0.transformMutation = { .merge($1, user.asObservable()) }
      $0.mutate = { _, _ in
        isInside.open()
        _ = mayGoOn.wait()
        user.onNext("second")
        return .empty()
      }
    }
    #expect(play.settle())
    during(play, isInside, mayGoOn) { user.onNext("first") }
    #expect(stage.finish())
    #expect(play.currentState == ["nobody", "first", "second"])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `6. Elements that transform(action) merges in keep their order`(_ placement: PlacementUnderTest) throws
  {
    let stage = try Stage(placement)
    let (isInside, mayGoOn) = (Gate(), Gate())
    let source = PublishSubject<String>()
    let play = Play(on: stage.placement) {
      // The subject emits the second one while the reactor's own action passes through here.
      $0.transformAction = { _, action in
        .merge(
          source.asObservable(),
          action.do(onNext: { _ in
            isInside.open()
            _ = mayGoOn.wait()
            source.onNext("second")
          }))
      }
    }
    #expect(play.settle())
    during(play, isInside, mayGoOn) { source.onNext("first") }
    #expect(stage.finish())
    #expect(play.currentState.filter { $0 != "go" } == ["first", "second"])
    #expect(play.currentState.count == 3)
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `6. States that transform(state) combines keep their order, so the newest is the current one`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let theme = BehaviorSubject(value: "light")
    let (isInside, mayGoOn) = (Gate(), Gate())
    let play = Play(on: stage.placement) {
      $0.transformState = { .combineLatest($1, theme.asObservable()) { $0 + [$1] } }
      $0.mutate = { _, action in
        isInside.open()
        _ = mayGoOn.wait()
        return .just(action)
      }
    }
    let seen = Record<[String]>()
    play.state.subscribe(onNext: { seen.append($0) })
    #expect(play.settle())
    during(play, isInside, mayGoOn) { theme.onNext("dark") }
    #expect(stage.finish())
    #expect(play.currentState == ["go", "dark"])
    #expect(seen.elements == [["light"], ["dark"], ["go", "dark"]])
  }
}
