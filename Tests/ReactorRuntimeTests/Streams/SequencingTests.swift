import TestSupport
import Testing

@testable import ReactorRuntime

/// startWith and concat.
@Suite struct SequencingTests {
  @Test func `startWith sends its elements first`() {
    #expect(events(of: Observable.of(3).startWith(1, 2)) == ["next(1)", "next(2)", "next(3)", "completed"])
    let feed = Feed<Int>()
    let record = Record<String>()
    let subscription = record.observe(feed.stream.startWith(1))
    feed.next(2)
    feed.fail()
    #expect(record.elements == ["next(1)", "next(2)", "error(failure)"])
    subscription.dispose()
  }

  @Test func `up to four known elements stay a value`() {
    #expect(Observable.just(3).startWith(1, 2).isKnown)
    #expect(Observable.concat([.just(1), .empty(), .just(2).startWith(3), .just(4)]).isKnown)
    #expect(Observable.just(1).concat(Observable.just(2)).isKnown)
    #expect(Observable<Int>.concat([Observable<Int>]()).isKnown)
    #expect(!Observable.concat([.just(1), .error(TestFailure())]).isKnown)
    for count in 0...9 {
      let streams = (0..<count).map { Observable.just($0) }
      #expect(events(of: .concat(streams)) == (0..<count).map { "next(\($0))" } + ["completed"])
    }
  }

  @Test func `concat subscribes to the next stream when the one before has completed`() {
    let feeds = (0..<3).map { _ in Feed<Int>() }
    let record = Record<String>()
    let subscription = record.observe(Observable.concat(feeds.map(\.stream)))
    #expect(feeds.map(\.subscriptions) == [1, 0, 0])
    feeds[0].next(1)
    feeds[1].next(99)
    feeds[0].complete()
    #expect(feeds.map(\.subscriptions) == [0, 1, 0])
    feeds[1].next(2)
    feeds[1].complete()
    feeds[2].next(3)
    feeds[2].complete()
    #expect(record.elements == ["next(1)", "next(2)", "next(3)", "completed"])
    subscription.dispose()
  }

  @Test func `each element is delivered before the next subscription`() {
    let record = Record<String>()
    let stream = { (number: Int) in
      Observable<Int>.create { observer in
        record.append("subscribe \(number)")
        observer.onNext(number)
        observer.onCompleted()
        return Disposables.create()
      }
    }
    record.observe(.concat(stream(1), .just(2), stream(3))).dispose()
    #expect(
      record.elements == ["subscribe 1", "next(1)", "next(2)", "subscribe 3", "next(3)", "completed"])
  }

  @Test func `a failure of one stream ends concat`() {
    let feed = Feed<Int>()
    #expect(events(of: Observable.error(TestFailure()).concat(feed.stream)) == ["error(failure)"])
    #expect(feed.totalSubscriptions == 0)
  }

  @Test func `many streams that end at once take no more stack than one`() {
    let one = Observable<Int>.create { observer in
      observer.onNext(1)
      observer.onCompleted()
      return Disposables.create()
    }
    let count = 20_000
    let sum = Record<Int>()
    Observable.concat(Array(repeating: one, count: count)).scan(0) { $0 + $1 }
      .filter { $0 == count }.subscribe(onNext: { sum.append($0) })
    #expect(sum.elements == [count])
  }

  @Test func `streams that are appended one by one take no more stack than one, and time in proportion`() {
    let one = Observable<Int>.create { observer in
      observer.onNext(1)
      observer.onCompleted()
      return Disposables.create()
    }
    // The test's threads have small stacks.
    let hasEnded = Threads.start {
      for isNestedLeft in [true, false] {
        let count = 10_000
        var joined = Observable<Int>.empty()
        for _ in 0..<count { joined = isNestedLeft ? joined.concat(one) : one.concat(joined) }
        let copy = joined
        let sum = Record<Int>()
        for stream in [joined, copy] {
          stream.scan(0) { $0 + $1 }.filter { $0 == count }.subscribe(onNext: { sum.append($0) })
        }
        #expect(sum.elements == [count, count])
      }
    }
    #expect(hasEnded.wait(seconds: 60))
  }

  @Test func `lists of concat that are nested deeply take no more stack when they are released`() {
    let lifetimes = Lifetimes()
    do {
      let inner = Record<Observable<Int>>()
      // The test's threads have small stacks.
      let hasEnded = Threads.start {
        var nested = Observable<Int>.never()
        for number in 0..<100_000 {
          let tracked = lifetimes.track()
          let one = Observable<Int>.create { _ in Disposables.create { withExtendedLifetime(tracked) {} } }
          nested = number % 2 == 0 ? one.concat(nested) : .concat(one, nested, nested, one)
          if number == 999 { inner.append(nested) }
        }
        nested = .never()
        // What is used elsewhere stays.
        #expect(lifetimes.alive == 1000)
      }
      #expect(hasEnded.wait(seconds: 60))
      withExtendedLifetime(inner) {}
    }
    #expect(Threads.yield { lifetimes.alive == 0 })
  }

  @Test func `a stream of concat that is appended to stays as it is`() {
    let feeds = (0..<4).map { _ in Feed<Int>() }
    let base = feeds[0].stream.concat(feeds[1].stream)
    let (left, right) = (base.concat(feeds[2].stream), base.concat(feeds[3].stream))
    let (plain, record) = (Record<String>(), Record<String>())
    _ = plain.observe(base)
    _ = record.observe(left.concat(right))
    for feed in feeds { feed.complete() }
    #expect(plain.elements == ["completed"])
    #expect(feeds.map(\.totalSubscriptions) == [3, 2, 1, 0])
    feeds[0].next(1)
    feeds[0].complete()
    feeds[1].complete()
    feeds[3].next(2)
    feeds[3].complete()
    #expect(record.elements == ["next(1)", "next(2)", "completed"])
  }

  @Test func `what was appended to a stream is released with the result`() {
    let lifetimes = Lifetimes()
    let feed = Feed<Int>()
    let base = feed.stream.concat(feed.stream)
    do {
      let tracked = lifetimes.track()
      let longer = base.concat(feed.stream.map { $0 + (tracked.value == 0 ? 0 : 1) })
      withExtendedLifetime(longer) {}
    }
    #expect(lifetimes.alive == 0)
    withExtendedLifetime(base) {}
  }

  @Test func `a stream that completes on another thread during its subscription is followed by the next`() {
    let elsewhere = Observable<Int>.create { observer in
      let ended = Threads.start {
        observer.onNext(1)
        observer.onCompleted()
      }
      #expect(ended.wait())
      return Disposables.create()
    }
    #expect(
      events(of: .concat(elsewhere, elsewhere, .just(2))) == ["next(1)", "next(1)", "next(2)", "completed"])
  }

  @Test func `disposal ends the running stream and starts no other`() {
    let feeds = (0..<2).map { _ in Feed<Int>() }
    let subscription = Observable.concat(feeds.map(\.stream)).subscribe()
    subscription.dispose()
    feeds[0].complete()
    #expect(feeds.map(\.subscriptions) == [0, 0])
    #expect(feeds[1].totalSubscriptions == 0)
  }
}
