import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests of what retains a reactor, what it retains, and what ends with it.
@Suite struct StreamLifetimeSemanticsTests {
  @Test(arguments: PlacementUnderTest.allCases)
  func `18. Subscriptions do not retain the reactor, and its deinit disposes streams without a stop event`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let lifetimes = Lifetimes()
    let (events, log) = (Record<Event<[String]>>(), Record<String>())
    let source = PublishSubject<String>()
    var play: Play? = Play(on: stage.placement, keeping: lifetimes.track()) {
      $0.mutate = { _, action in source.do(onDispose: { log.append("end of \(action)") }) }
      $0.transformMutation = { _, mutation in
        .merge(mutation, Observable.never().do(onDispose: { log.append("end of transform") }))
      }
    }
    let subscriptions = [
      play!.state.subscribe { events.append($0) },
      play!.action.asObservable().subscribe { _ in },
      play!.state.map(\.count).distinctUntilChanged().subscribe { _ in },
    ]
    let action = play!.action
    let state = play!.state
    play!.send(["1", "2"])
    #expect(play!.settle())
    #expect(Threads.start { source.onNext("a") }.wait())
    #expect(play!.settle())
    weak let gone = play
    let failures = play!.failures
    play = nil
    #expect(Threads.yield { gone == nil && lifetimes.alive == 0 })
    #expect(Threads.yield { log.elements.count == 3 })
    #expect(log.elements.sorted() == ["end of 1", "end of 2", "end of transform"])
    // Retained subjects and streams have no effect.
    action.onNext("b")
    source.onNext("b")
    state.subscribe { events.append($0) }
    #expect(events.elements.map { $0.element } == [[], ["a"], ["a", "a"]])
    #expect(failures.elements.isEmpty)
    for subscription in subscriptions { subscription.dispose() }
    #expect(stage.finish())
  }

  /// On the caller placement only, because a loop retains the reactor while it processes its actions.
  @Test
  func `18. A reactor freed inside its own mutate produces no reduce`() throws {
    func body(isStream: Bool) throws {
      let (reduced, seen) = (Record<String>(), Record<[String]>())
      let holder = Box<Play?>(nil)
      holder.value = Play(on: .caller) {
        $0.mutate = { _, action in
          if action == "2" { holder.value = nil }
          return isStream ? .deferred { .just(action) } : .just(action)
        }
        $0.reduce = { _, state, mutation in
          reduced.append(mutation)
          return state + [mutation]
        }
        $0.transformMutation = { $1.map { $0 } }
      }
      weak let gone = holder.value
      let subscription = holder.value!.state.subscribe(onNext: { seen.append($0) })
      let action = holder.value!.action
      for number in ["1", "2", "3"] { action.onNext(number) }
      #expect(gone == nil)
      #expect(reduced.elements == ["1"])
      #expect(seen.elements == [[], ["1"]])
      subscription.dispose()
    }
    for isStream in [true, false] { try body(isStream: isStream) }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `18. An observer of state or action, or a stream of mutate, may free the reactor`(
    _ placement: PlacementUnderTest
  ) throws {
    func body(_ place: String) throws {
      let stage = try Stage(placement)
      let lifetimes = Lifetimes()
      let holder = Box<Play?>(nil)
      holder.value = Play(on: stage.placement, keeping: lifetimes.track()) {
        $0.mutate = { _, action in
          .create { observer in
            observer.onNext("1")
            if place == "stream" { holder.value = nil }
            observer.onNext("2")
            return Disposables.create()
          }
        }
      }
      let action = holder.value!.action
      holder.value!.action.subscribe(onNext: { _ in if place == "observer" { holder.value = nil } })
      holder.value!.state.skip(1).subscribe(onNext: { _ in if place == "subscriber" { holder.value = nil } })
      #expect(holder.value!.settle())
      action.onNext("a")
      #expect(Threads.yield { lifetimes.alive == 0 })
      action.onNext("b")
      #expect(stage.finish())
    }
    for place in ["subscriber", "observer", "stream"] { try body(place) }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `19. The subject action and the observers of state are freed with the last reference`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let lifetimes = Lifetimes()
    weak var action: ActionSubject<String>?
    do {
      let play = Play(on: stage.placement, keeping: lifetimes.track()) {
        $0.mutate = { [tracked = lifetimes.track()] _, action in
          Observable.never().startWith(action).do(onDispose: { withExtendedLifetime(tracked) {} })
        }
      }
      action = play.action
      play.state.subscribe(onNext: { [tracked = lifetimes.track()] _ in withExtendedLifetime(tracked) {} })
      play.action.subscribe(onNext: { [tracked = lifetimes.track()] _ in withExtendedLifetime(tracked) {} })
      play.send(["a", "b"])
      #expect(play.settle())
      #expect(action != nil)
    }
    #expect(Threads.yield { lifetimes.alive == 0 && action == nil })
    #expect(stage.finish())
  }
}
