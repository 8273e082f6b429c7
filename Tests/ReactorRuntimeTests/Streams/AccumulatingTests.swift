import ReactorTesting
import TestSupport
import Testing

@testable import ReactorRuntime

/// reduce, takeLast, enumerated, withUnretained, filterNil; from a sequence, from an optional, using; take(for:), skip.
@Suite struct AccumulatingTests {
  private let feed = Feed<Int>()
  private let record = Record<String>()

  @Test func `reduce sends one result when the stream completes`() {
    #expect(events(of: Observable.of(1, 2, 3).reduce(10) { $0 + $1 }) == ["next(16)", "completed"])
    #expect(events(of: Observable<Int>.empty().reduce(10) { $0 + $1 }) == ["next(10)", "completed"])
    #expect(
      events(of: Observable.of(1, 2).reduce("", accumulator: { "\($0)\($1)" }, mapResult: { $0.count }))
        == ["next(2)", "completed"])
    #expect(events(of: Observable<Int>.error(TestFailure()).reduce(0) { $0 + $1 }) == ["error(failure)"])
    #expect(events(of: Observable.just(1).reduce(0) { _, _ in throw TestFailure() }) == ["error(failure)"])
    #expect(
      events(
        of: Observable.just(1).reduce(0, accumulator: { $0 + $1 }, mapResult: { _ in throw TestFailure() })
          as Observable<Int>)
        == ["error(failure)"])
  }

  @Test func `takeLast sends the last elements when the stream completes`() {
    #expect(events(of: Observable.of(1, 2, 3).takeLast(2)) == ["next(2)", "next(3)", "completed"])
    #expect(events(of: Observable.of(1, 2, 3).takeLast(9)) == ["next(1)", "next(2)", "next(3)", "completed"])
    #expect(events(of: Observable.of(1, 2, 3).takeLast(0)) == ["completed"])
    let subscription = SerialDisposable()
    subscription.disposable = feed.stream.takeLast(3).subscribe { [record] in
      record.append("\($0)")
      subscription.dispose()
    }
    for number in 1...3 { feed.next(number) }
    feed.complete()
    #expect(record.elements == ["next(1)"])
  }

  @Test func `enumerated numbers the elements of each subscription from 0 on`() {
    let letters = Observable.of("a", "b").enumerated().map { "\($0.index)\($0.element)" }
    for _ in 0..<2 { #expect(events(of: letters) == ["next(0a)", "next(1b)", "completed"]) }
  }

  @Test func `withUnretained completes once the object is gone`() {
    final class View: Sendable { let name = "view" }
    var view: View? = View()
    let subscription = record.observe(feed.stream.withUnretained(view!) { "\($0.name) \($1)" })
    let pairs = Record<Int>()
    feed.stream.withUnretained(view!).subscribe(onNext: { pairs.append($1) })
    feed.next(1)
    view = nil
    #expect(record.elements == ["next(view 1)"])
    feed.next(2)
    #expect(record.elements == ["next(view 1)", "completed"])
    #expect(pairs.elements == [1])
    #expect(feed.subscriptions == 0)
    subscription.dispose()
  }

  @Test func `filterNil unwraps, and from(optional:) is empty for nil`() {
    #expect(events(of: Observable.of(1, nil, 3).filterNil()) == ["next(1)", "next(3)", "completed"])
    #expect(events(of: Observable<Int>.from(optional: nil)) == ["completed"])
    #expect(events(of: Observable.from(optional: 1)) == ["next(1)", "completed"])
  }

  @Test func `a stream of a sequence has its elements, in each subscription`() {
    #expect(events(of: Observable.from(1...3)) == ["next(1)", "next(2)", "next(3)", "completed"])
    #expect(events(of: Observable.from(Set([1]))) == ["next(1)", "completed"])
    let twice = Observable.from(1...2)
    #expect(events(of: twice.concat(twice)).count == 5)
  }

  @Test func `using disposes of its resource at the end of each subscription`() {
    let resource = { @Sendable [record] (name: String) in
      record.append("\(name) made")
      return CompositeDisposable([Disposables.create { record.append("\(name) disposed") }])
    }
    let stream = Observable<Int>.using({ resource("a") }, observableFactory: { [feed] _ in feed.stream })
    let subscription = stream.subscribe()
    #expect(record.elements == ["a made"])
    subscription.dispose()
    #expect(record.elements == ["a made", "a disposed"])
    stream.subscribe()
    feed.complete()
    #expect(record.elements == ["a made", "a disposed", "a made", "a disposed"])
    let failing = Observable<Int>.using({ resource("b") }, observableFactory: { _ in throw TestFailure() })
    #expect(events(of: failing) == ["error(failure)"])
    #expect(record.elements.suffix(2) == ["b made", "b disposed"])
    let unmade = Observable<Int>.using(
      { () -> CompositeDisposable in throw TestFailure("resource") }, observableFactory: { _ in .never() })
    #expect(events(of: unmade) == ["error(resource)"])
  }

  // MARK: By time

  @Test func `take(for:) completes after its time, and skip begins then`() {
    let scheduler = TestScheduler(initialClock: 0)
    let source = scheduler.createHotObservable([
      .next(210, 1), .next(240, 2), .next(260, 3), .completed(300),
    ])
    let taken = scheduler.createObserver(Int.self)
    let skipped = scheduler.createObserver(Int.self)
    scheduler.scheduleAt(200) {
      source.take(for: .seconds(50), scheduler: scheduler).subscribe(taken)
      source.skip(.seconds(50), scheduler: scheduler).subscribe(skipped)
    }
    scheduler.start()
    #expect(taken.events == [.next(210, 1), .next(240, 2), .completed(250)])
    #expect(skipped.events == [.next(260, 3), .completed(300)])
    #expect(source.subscriptions == [Subscription(200, 250), Subscription(200, 300)])
  }

  @Test func `a stream that ends before its time passes its end on`() {
    let scheduler = TestScheduler(initialClock: 0)
    let failing = scheduler.createHotObservable([.next(210, 1), .error(220, RxError.unknown)])
    let taken = scheduler.start { failing.take(for: .seconds(50), scheduler: scheduler) }
    #expect(taken.events == [.next(210, 1), .error(220, RxError.unknown)])
    let other = TestScheduler(initialClock: 0)
    let early = other.createHotObservable([.next(210, 1), .error(220, RxError.unknown)])
    let skipped = other.start { early.skip(.seconds(50), scheduler: other) }
    #expect(skipped.events == [.error(220, RxError.unknown)])
  }
}
