import ReactorTesting
import TestSupport
import Testing

@testable import ReactorRuntime

/// merge(maxConcurrent:), concat of streams, concatMap, retry(when:).
@Suite struct CoordinatingTests {
  private let outer = Feed<Int>()
  private let feeds = (0..<4).map { _ in Feed<Int>() }
  private let record = Record<String>()

  @Test func `at most so many streams run, and the others wait in their order`() {
    let subscription = record.observe(
      outer.stream.map { [feeds] in feeds[$0].stream }.merge(maxConcurrent: 2))
    for number in [0, 2, 3, 1] { outer.next(number) }
    #expect(feeds.map(\.subscriptions) == [1, 0, 1, 0])
    feeds[2].next(1)
    feeds[2].complete()
    #expect(feeds.map(\.subscriptions) == [1, 0, 0, 1])
    outer.complete()
    feeds[0].complete()
    #expect(feeds.map(\.subscriptions) == [0, 1, 0, 1])
    feeds[3].complete()
    feeds[1].next(2)
    #expect(record.elements == ["next(1)", "next(2)"])
    feeds[1].complete()
    #expect(record.elements == ["next(1)", "next(2)", "completed"])
    subscription.dispose()
  }

  @Test func `concatMap sends one stream after the other`() {
    let subscription = record.observe(outer.stream.concatMap { [feeds] in feeds[$0].stream.startWith($0) })
    outer.next(0)
    outer.next(1)
    feeds[0].next(10)
    #expect(record.elements == ["next(0)", "next(10)"])
    feeds[0].complete()
    feeds[1].next(11)
    outer.complete()
    feeds[1].complete()
    #expect(record.elements == ["next(0)", "next(10)", "next(1)", "next(11)", "completed"])
    subscription.dispose()
    #expect(
      events(of: Observable.of(Observable.of(1, 2), .empty(), .just(3)).concat())
        == ["next(1)", "next(2)", "next(3)", "completed"])
  }

  @Test func `no selector is called after the result has ended`() {
    let five = Observable<Int>.create { observer in
      for number in 0..<5 { observer.onNext(number) }
      return Disposables.create()
    }
    let calls = Record<String>()
    func failing(_ name: String) -> @Sendable (Int) -> Observable<Int> {
      { _ in
        calls.append(name)
        return .error(TestFailure())
      }
    }
    let streams = [
      five.concatMap(failing("concatMap")), five.flatMap(failing("flatMap")),
      five.flatMapFirst(failing("flatMapFirst")), five.flatMapLatest(failing("flatMapLatest")),
      five.map(failing("map")).merge(maxConcurrent: 2).take(1),
    ]
    for stream in streams { #expect(events(of: stream) == ["error(failure)"]) }
    #expect(
      calls.elements.filter { $0 != "map" } == ["concatMap", "flatMap", "flatMapFirst", "flatMapLatest"])
  }

  @Test func `a failure ends all, also one of the selector`() {
    let subscription = record.observe(
      outer.stream.concatMap { [feeds] in
        if $0 == 3 { throw TestFailure("selector") }
        return feeds[$0].stream
      })
    outer.next(0)
    outer.next(1)
    outer.next(3)
    #expect(record.elements == ["error(selector)"])
    #expect(feeds.map(\.subscriptions) == [0, 0, 0, 0])
    #expect(outer.subscriptions == 0)
    subscription.dispose()
    let second = record.observe(outer.stream.concatMap { [feeds] in feeds[$0].stream })
    outer.next(0)
    feeds[0].fail()
    #expect(record.elements.last == "error(failure)")
    #expect(outer.subscriptions == 0)
    second.dispose()
  }

  @Test func `no waiting stream begins once one has failed, also inside of a delivery`() {
    let subscription = outer.stream.map { [feeds] in feeds[$0].stream }.merge(maxConcurrent: 3)
      .subscribe { [feeds, record] event in
        record.append("\(event)")
        if event.element == 7 {
          feeds[1].fail()
          // Its place would be that of the stream that waits.
          feeds[2].complete()
        }
      }
    for number in 0..<4 { outer.next(number) }
    feeds[0].next(7)
    #expect(record.elements == ["next(7)", "error(failure)"])
    #expect(feeds[3].totalSubscriptions == 0)
    subscription.dispose()
  }

  @Test func `streams that end at once take no more stack, however many wait`() {
    let first = feeds[0].stream
    let subscription = outer.stream.concatMap { $0 == 0 ? first : .just($0) }.subscribe { [record] in
      record.append("\($0)")
    }
    for number in 0..<10_000 { outer.next(number) }
    feeds[0].complete()
    #expect(record.elements.count == 9_999)
    #expect(record.elements.last == "next(9999)")
    subscription.dispose()
  }

  @Test func `too many waiting streams make the result fail`() {
    let subscription = record.observe(outer.stream.concatMap { [feeds] in feeds[$0 == 0 ? 0 : 1].stream })
    for number in 0...WaitingElements<Int>.limit { outer.next(number) }
    #expect(record.elements == [])
    outer.next(1)
    #expect(record.elements == ["error(\(RxError.overflow))"])
    subscription.dispose()
  }

  @Test func `disposal inside of a delivery begins no further stream`() {
    let subscription = SerialDisposable()
    subscription.disposable = outer.stream.concatMap { [feeds] in feeds[$0].stream }.subscribe { [record] in
      record.append("\($0)")
      subscription.dispose()
    }
    outer.next(0)
    outer.next(1)
    feeds[0].next(1)
    feeds[0].complete()
    #expect(record.elements == ["next(1)"])
    #expect(feeds.map(\.totalSubscriptions) == [1, 0, 0, 0])
    #expect(outer.subscriptions == 0)
  }

  // MARK: retry(when:)

  @Test func `a failed stream begins again when the trigger says so`() {
    let trigger = Feed<Void>()
    let errors = Record<String>()
    let subscription = record.observe(
      feeds[0].stream.retry(when: { failures in
        failures.do(onNext: { errors.append("\($0)") }).flatMap { _ in trigger.stream.take(1) }
      }))
    feeds[0].next(1)
    feeds[0].fail()
    #expect(feeds[0].subscriptions == 0)
    #expect(errors.elements == ["failure"])
    trigger.next(())
    #expect(feeds[0].subscriptions == 1)
    feeds[0].next(2)
    feeds[0].complete()
    #expect(record.elements == ["next(1)", "next(2)", "completed"])
    #expect(trigger.subscriptions == 0)
    subscription.dispose()
  }

  @Test func `the trigger ends the retrying`() {
    func run(_ handler: @escaping @Sendable (Observable<any Error>) -> Observable<Int>) -> [String] {
      let tries = Record<Int>()
      let failing = Observable<Int>.deferred {
        tries.append(1)
        return .error(TestFailure("\(tries.elements.count)"))
      }
      return events(of: failing.retry(when: handler)) + ["\(tries.elements.count)"]
    }
    let twice = run { $0.enumerated().flatMap { $0.index < 2 ? Observable.just(0) : .error($0.element) } }
    #expect(twice == ["error(3)", "3"])
    #expect(run { $0.enumerated().map { $0.index }.take(2) } == ["completed", "3"])
    #expect(run { _ in .empty() } == ["completed", "1"])
    // As many as would overflow the stack if they were nested.
    let often = run { $0.enumerated().flatMap { $0.index < 3_000 ? Observable.just(0) : .error($0.element) } }
    #expect(often == ["error(3001)", "3001"])
  }

  @Test func `a trigger with a delay waits in virtual time`() {
    let scheduler = TestScheduler(initialClock: 0)
    let tries = Record<Int>()
    let failing = Observable<Int>.deferred {
      tries.append(scheduler.clock)
      return tries.elements.count < 3 ? .error(TestFailure()) : .just(7)
    }
    let subscription = record.observe(
      failing.retry(when: { $0.delay(.seconds(5), scheduler: scheduler) }))
    scheduler.start()
    #expect(record.elements == ["next(7)", "completed"])
    #expect(tries.elements == [0, 5, 10])
    subscription.dispose()
  }
}
