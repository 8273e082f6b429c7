import ReactorRuntime
import TestSupport
import Testing

/// combineLatest and withLatestFrom.
@Suite struct CombiningTests {
  private let feeds = (0..<4).map { _ in Feed<Int>() }
  private let record = Record<String>()

  /// All forms. Each combines the given number of streams into text.
  private static let forms: [(Int, @Sendable ([Observable<Int>]) -> Observable<String>)] = [
    (2, { .combineLatest($0[0], $0[1]) { "\($0)\($1)" } }),
    (2, { Observable.combineLatest($0[0], $0[1]).map { "\($0.0)\($0.1)" } }),
    (3, { .combineLatest($0[0], $0[1], $0[2]) { "\($0)\($1)\($2)" } }),
    (3, { Observable.combineLatest($0[0], $0[1], $0[2]).map { "\($0.0)\($0.1)\($0.2)" } }),
    (4, { .combineLatest($0[0], $0[1], $0[2], $0[3]) { "\($0)\($1)\($2)\($3)" } }),
    (
      4,
      {
        Observable.combineLatest($0[0], $0[1], $0[2], $0[3]).map { "\($0.0)\($0.1)\($0.2)\($0.3)" }
      }
    ),
    (3, { .combineLatest($0[0..<3]) { $0.map { "\($0)" }.joined() } }),
    (3, { Observable.combineLatest($0[0..<3]).map { $0.map { "\($0)" }.joined() } }),
  ]

  @Test(arguments: forms.indices)
  func `a stream is not subscribed to after another one has failed`(form: Int) {
    let (count, combine) = Self.forms[form]
    let subscribed = Record<Int>()
    let streams = (0..<count).map { index in
      Observable<Int>.deferred {
        subscribed.append(index)
        return .error(CancellationError())
      }
    }
    combine(streams).subscribe().dispose()
    #expect(subscribed.elements == [0])
  }

  @Test(arguments: forms.indices)
  func `the newest elements of all streams are combined`(form: Int) {
    let (count, combine) = Self.forms[form]
    let subscription = record.observe(combine(feeds.map(\.stream)))
    for index in 0..<count {
      #expect(record.elements == [])
      feeds[index].next(0)
    }
    let zeros = String(repeating: "0", count: count - 1)
    feeds[0].next(1)
    feeds[0].complete()
    feeds[count - 1].next(2)
    let expected = ["0" + zeros, "1" + zeros, "1" + zeros.dropLast() + "2"].map { "next(\($0))" }
    #expect(record.elements == expected)
    for feed in feeds { feed.complete() }
    #expect(record.elements == expected + ["completed"])
    subscription.dispose()
  }

  @Test(arguments: forms.indices)
  func `a failure of one stream ends all of them`(form: Int) {
    let (count, combine) = Self.forms[form]
    let subscription = record.observe(combine(feeds.map(\.stream)))
    feeds[count - 1].fail()
    #expect(record.elements == ["error(failure)"])
    #expect(feeds.map(\.subscriptions) == [0, 0, 0, 0])
    subscription.dispose()
  }

  @Test(arguments: forms.indices)
  func `the result completes when no further combination can come`(form: Int) {
    let (count, combine) = Self.forms[form]
    let subscription = record.observe(combine(feeds.map(\.stream)))
    for feed in feeds[1..<count] { feed.complete() }
    #expect(record.elements == [])
    feeds[0].next(1)
    #expect(record.elements == ["completed"])
    subscription.dispose()
  }

  @Test func `without streams there is one combination`() {
    #expect(
      events(of: Observable<Int>.combineLatest([Observable<Int>]()) { $0.count }) == ["next(0)", "completed"])
  }

  @Test func `an optional element that is nil is an element`() {
    let stream = Observable<Int?>.combineLatest(Observable<Int?>.just(nil), Observable<Int?>.just(nil)) {
      $1 ?? $0
    }
    #expect(events(of: stream) == ["next(nil)", "completed"])
    let list = Observable<Int>.combineLatest([Observable<Int?>.just(nil), .just(2)]) {
      $0.compactMap { $0 }.count
    }
    #expect(events(of: list) == ["next(1)", "completed"])
  }

  @Test func `an element that a result causes is combined after that result`() {
    let subscription = Observable.combineLatest(feeds[0].stream, feeds[1].stream) { $0 * 10 + $1 }
      .subscribe { [record, feeds] event in
        record.append("\(event)")
        if event.element == 11 {
          feeds[0].next(2)
          feeds[1].next(2)
        }
      }
    feeds[0].next(1)
    feeds[1].next(1)
    #expect(record.elements == ["next(11)", "next(21)", "next(22)"])
    subscription.dispose()
  }

  @Test func `withLatestFrom sends for each element of the first stream and completes with it`() {
    let subscription = record.observe(feeds[0].stream.withLatestFrom(feeds[1].stream) { $0 * 10 + $1 })
    feeds[0].next(1)
    feeds[1].next(1)
    feeds[1].next(2)
    feeds[0].next(2)
    feeds[1].complete()
    feeds[0].next(3)
    feeds[0].complete()
    #expect(record.elements == ["next(22)", "next(32)", "completed"])
    subscription.dispose()
    #expect(events(of: Observable.of(1, 2).withLatestFrom(Observable.just("x"))).count == 3)
  }

  @Test func `withLatestFrom fails if either stream fails`() {
    for index in 0..<2 {
      let feeds = (0..<2).map { _ in Feed<Int>() }
      let record = Record<String>()
      let subscription = record.observe(feeds[0].stream.withLatestFrom(feeds[1].stream))
      feeds[index].fail()
      #expect(record.elements == ["error(failure)"])
      #expect(feeds.map(\.subscriptions) == [0, 0])
      subscription.dispose()
    }
  }
}
