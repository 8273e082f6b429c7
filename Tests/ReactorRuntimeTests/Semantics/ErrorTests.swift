import ReactorCore
import ReactorRuntime
import TestSupport
import Testing

/// Tests of errors and ends of a reactor's streams.
@Suite struct ErrorTests {
  private struct Refusal: Error, CustomStringConvertible { var description: String { "refused" } }

  @Test(arguments: PlacementUnderTest.allCases)
  func `15. action ignores error and completed events`(_ placement: PlacementUnderTest) throws {
    let stage = try Stage(placement)
    let observed = Record<Event<String>>()
    let play = Play(on: stage.placement)
    play.action.asObservable().subscribe { observed.append($0) }
    Observable.concat(.just("a"), .error(Refusal())).subscribe(play.action)
    Observable.just("b").bind(to: play.action)
    play.action.onError(Refusal())
    play.action.onCompleted()
    play.action.onNext("c")
    #expect(stage.finish())
    #expect(play.currentState == ["a", "b", "c"])
    #expect(observed.elements.map { $0.element } == ["a", "b", "c"])
    #expect(play.reports == [])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `16. An error in a stream of mutate ends that stream only, and is reported`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let other = PublishSubject<String>()
    let events = Record<Event<[String]>>()
    let play = Play(on: stage.placement) {
      $0.mutate = { _, action in
        switch action {
        case "listen": other.asObservable()
        case "fail": .concat(.just("before"), .error(Refusal()), .just("never"))
        case "fail at once": .error(Refusal())
        default: .just(action)
        }
      }
    }
    play.state.subscribe { events.append($0) }
    play.send(["listen", "fail", "fail at once", "a"])
    #expect(play.settle())
    other.onNext("other")
    play.send(["b"])
    #expect(stage.finish())
    #expect(play.currentState == ["before", "a", "other", "b"])
    #expect(play.reports == ["mutate fail: refused", "mutate fail at once: refused"])
    #expect(events.elements.count == 5)
    #expect(events.elements.allSatisfy { !$0.isStopEvent })
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `16. An error on another thread ends its stream only, and is reported`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let source = PublishSubject<String>()
    let play = Play(on: stage.placement) {
      $0.mutate = { _, action in action == "listen" ? source.asObservable() : .just(action) }
    }
    play.send(["listen"])
    #expect(play.settle())
    let isSent = Threads.start {
      source.onNext("before")
      source.onError(Refusal())
    }
    #expect(isSent.wait())
    play.send(["a"])
    #expect(stage.finish())
    #expect(play.currentState == ["before", "a"])
    #expect(play.reports == ["mutate listen: refused"])
  }

  /// The ways in which a transform ends, each with its expected report.
  private static func endings() -> [(String, (inout Play.Parts) -> Void)] {
    [
      (
        "transform action: end",
        { $0.transformAction = { _, action in action.take(until: { $0 == "end" }) } }
      ),
      (
        "transform action: refused",
        {
          $0.transformAction = { _, action in action.map { if $0 == "end" { throw Refusal() } else { $0 } } }
        }
      ),
      (
        "transform mutation: refused",
        { $0.transformMutation = { _, all in all.map { if $0 == "end" { throw Refusal() } else { $0 } } } }
      ),
      (
        "transform mutation: end",
        { $0.transformMutation = { _, mutation in mutation.take(until: { $0 == "end" }) } }
      ),
      (
        "transform state: refused",
        {
          $0.transformState = { _, state in
            state.map { if $0.last == "end" { throw Refusal() } else { $0 } }
          }
        }
      ),
      (
        "transform state: end",
        { $0.transformState = { _, state in state.take(until: { $0.last == "end" }) } }
      ),
    ]
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `17. The end of a transform is reported and closes the reactor, which replays its last state`(
    _ placement: PlacementUnderTest
  ) throws {
    for (report, change) in Self.endings() {
      let stage = try Stage(placement)
      let (early, late) = (Record<Event<[String]>>(), Record<Event<[String]>>())
      let play = Play(on: stage.placement, change)
      play.state.subscribe { early.append($0) }
      play.send(["a", "b"])
      #expect(play.settle())
      #expect(!play.isClosed)
      play.send(["end"])
      #expect(Threads.yield { !play.failures.elements.isEmpty })
      #expect(play.isClosed)
      play.action.onNext("late")
      #expect(throws: SendError.closed) { try play.trySend("later") }
      play.state.subscribe { late.append($0) }
      #expect(stage.finish())
      #expect(play.reports == [report, "action late: closed"])
      #expect(play.currentState == ["a", "b"])
      // Both are completed, as in ReactorKit.
      #expect(late.elements.map { $0.element } == [["a", "b"], nil])
      #expect(early.elements.map { $0.element } == [[], ["a"], ["a", "b"], nil])
      #expect(late.elements.last?.isCompleted == true)
      #expect(early.elements.last?.isCompleted == true)
    }
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `17. A transform that ends at once closes the reactor in its initial state`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let seen = Record<[String]>()
    let play = Play(on: stage.placement) {
      $0.initial = { _ in ["initial"] }
      $0.transformAction = { _, _ in .empty() }
    }
    play.action.onNext("a")
    #expect(Threads.yield { play.isClosed })
    play.state.subscribe(onNext: { seen.append($0) })
    #expect(stage.finish())
    // In any order: if the loop has closed the reactor before the sender puts the action into the mailbox, the sender
    // itself reports it, maybe before the loop reports the end of the transform.
    #expect(play.reports.sorted() == ["action a: closed", "transform action: end"])
    #expect(seen.elements == [["initial"]])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `17. Actions accepted before the end of a transform, and later mutations, are reported`(
    _ placement: PlacementUnderTest
  ) throws {
    let stage = try Stage(placement)
    let source = PublishSubject<String>()
    let (isInside, mayGoOn) = (Gate(), Gate())
    let lifetimes = Lifetimes()
    let play = Play(on: stage.placement) {
      $0.transformAction = { $1.take(until: { $0 == "end" }) }
      $0.mutate = { [tracked = lifetimes.track()] _, action in
        if action == "listen" {
          return source.do(onDispose: { withExtendedLifetime(tracked) {} }).asObservable()
        }
        isInside.open()
        _ = mayGoOn.wait()
        return .just(action)
      }
    }
    play.send(["listen"])
    #expect(play.settle())
    let isDone = Threads.start { play.action.onNext("busy") }
    #expect(isInside.wait())
    play.send(["end", "too late"])
    source.onNext("too late too")
    mayGoOn.open()
    #expect(isDone.wait())
    #expect(Threads.yield { play.failures.elements.count == 3 })
    source.onNext("ended, so not asked for any more")
    #expect(stage.finish())
    #expect(
      play.reports == ["transform action: end", "action too late: closed", "mutation of listen: closed"])
    #expect(play.currentState == ["busy"])
  }

  @Test(arguments: PlacementUnderTest.allCases)
  func `17. An action whose observers end a transform is reported`(_ placement: PlacementUnderTest) throws {
    for mapsActions in [false, true] {
      let stage = try Stage(placement)
      let play = Play(on: stage.placement) {
        $0.transformMutation = { play, mutation in
          mutation.take(until: play.action.filter { $0 == "end" })
        }
        if mapsActions { $0.transformAction = { _, action in action.map { $0 } } }
      }
      play.send(["a", "end"])
      #expect(stage.finish())
      #expect(play.currentState == ["a"])
      #expect(play.reports == ["transform mutation: end", "action end: closed"])
    }
  }
}
