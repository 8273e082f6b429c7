import TestSupport
import Testing

@testable import ReactorRuntime

@Suite struct CompletableTests {
  private let record = Record<String>()
  private let feed = Feed<Int>()

  @Test func `a completable completes or fails once`() {
    let kept = Record<Completable.CompletableObserver>()
    let completable = Completable.create { observer in
      kept.append(observer)
      return Disposables.create()
    }
    _ = record.note(completable)
    kept.elements[0](.completed)
    kept.elements[0](.error(TestFailure()))
    #expect(record.elements == ["completed"])
    Completable.error(TestFailure()).subscribe { [record] in record.append("\($0)") }
    #expect(record.elements.last == "error(failure)")
  }

  @Test func `andThen begins after the completion, and not after a failure`() {
    let second = Observable<Int>.deferred { [record] in
      record.append("second")
      return .of(1, 2)
    }
    let saving = feed.stream.ignoreElements().asCompletable()
    let subscription = record.observe(saving.andThen(second))
    feed.next(5)
    #expect(record.elements == [])
    feed.complete()
    #expect(record.elements == ["second", "next(1)", "next(2)", "completed"])
    subscription.dispose()
    #expect(events(of: Completable.error(TestFailure()).andThen(second)) == ["error(failure)"])
    #expect(
      events(of: Completable.empty().andThen(Single.just(1)).asObservable()) == ["next(1)", "completed"])
    #expect(events(of: Completable.empty().andThen(Maybe<Int>.empty()).asObservable()) == ["completed"])
  }

  @Test func `completables run one after the other, or at the same time`() {
    let feeds = (0..<2).map { _ in Feed<Never>() }
    let parts = feeds.map { $0.stream.asCompletable() }
    _ = record.note(Completable.concat(parts))
    #expect(feeds.map(\.subscriptions) == [1, 0])
    feeds[0].complete()
    #expect(feeds.map(\.subscriptions) == [0, 1])
    feeds[1].complete()
    #expect(record.elements == ["completed"])
    _ = record.note(Completable.zip(parts[0], parts[1]))
    #expect(feeds.map(\.subscriptions) == [1, 1])
    feeds[1].complete()
    #expect(record.elements == ["completed"])
    feeds[0].complete()
    #expect(record.elements == ["completed", "completed"])
  }
}
