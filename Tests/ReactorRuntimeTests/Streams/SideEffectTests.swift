import TestSupport
import Testing

@testable import ReactorRuntime

/// do and debug.
@Suite struct SideEffectTests {
  private func noting(_ record: Record<String>, _ stream: Observable<Int>) -> Observable<Int> {
    stream.do(
      onNext: { record.append("onNext \($0)") }, afterNext: { record.append("afterNext \($0)") },
      onError: { record.append("onError \($0)") }, afterError: { record.append("afterError \($0)") },
      onCompleted: { record.append("onCompleted") }, afterCompleted: { record.append("afterCompleted") },
      onSubscribe: { record.append("onSubscribe") }, onSubscribed: { record.append("onSubscribed") },
      onDispose: { record.append("onDispose") })
  }

  @Test func `the closures of do are called before and after each event`() {
    let record = Record<String>()
    let feed = Feed<Int>()
    let subscription = record.observe(noting(record, feed.stream))
    feed.next(1)
    feed.complete()
    subscription.dispose()
    #expect(
      record.elements == [
        "onSubscribe", "onSubscribed", "onNext 1", "next(1)", "afterNext 1", "onCompleted", "completed",
        "onDispose", "afterCompleted",
      ])
  }

  @Test func `a stream that ends at once calls onDispose after onSubscribed`() {
    let record = Record<String>()
    let subscription = record.observe(noting(record, .error(TestFailure())))
    subscription.dispose()
    #expect(
      record.elements == [
        "onSubscribe", "onError failure", "error(failure)", "afterError failure", "onSubscribed", "onDispose",
      ])
  }

  @Test func `onDispose is called once`() {
    let record = Record<String>()
    let feed = Feed<Int>()
    let subscription = record.observe(noting(record, feed.stream))
    subscription.dispose()
    subscription.dispose()
    feed.next(1)
    #expect(record.elements == ["onSubscribe", "onSubscribed", "onDispose"])
  }

  @Test func `an error that a closure throws at a stop event replaces the event`() {
    let failed = Observable<Int>.error(TestFailure()).do(onError: { _ in throw TestFailure("other") })
    #expect(events(of: failed) == ["error(other)"])
    let ended = Observable<Int>.empty().do(onCompleted: { throw TestFailure("other") })
    #expect(events(of: ended) == ["error(other)"])
    let after = Observable.of(1, 2).do(afterNext: { _ in throw TestFailure("after") })
    #expect(events(of: after) == ["next(1)", "error(after)"])
  }

  @Test func `an error that is thrown after a stop event is passed to the hook`() {
    struct TooLate: Error {}
    let errors = HookedErrors { $0 is TooLate }
    let completed = Observable<Int>.empty().do(afterCompleted: { throw TooLate() })
    #expect(events(of: completed) == ["completed"])
    #expect(errors.errors.count == 1)
    let failed = Observable<Int>.error(TestFailure()).do(afterError: { _ in throw TooLate() })
    #expect(events(of: failed) == ["error(failure)"])
    #expect(errors.stop().count == 2)
  }

  @Test func `debug prints what RxSwift prints`() {
    let lines = Record<String>()
    let stream = Observable.of("a", String(repeating: "b", count: 40))
    _ = events(of: stream.debug("name", trimOutput: true) { lines.append($0) })
    #expect(
      lines.elements == [
        "name -> subscribed", "name -> Event next(a)",
        "name -> Event next(bbbbbbbbbbbbbbb...bbbbbbbbbbbbbbbbbbb)", "name -> Event completed",
        "name -> isDisposed",
      ])
    #expect(events(of: Observable.just(1).debug()) == ["next(1)", "completed"])
  }

  @Test func `the time is printed as date, time and milliseconds`() throws {
    let time = WallClock.now()
    #expect(time.wholeMatch(of: /20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}/) != nil, "\(time)")
  }
}
