import TestSupport
import Testing

@testable import ReactorRuntime

/// catch, catchAndReturn and retry.
@Suite struct RecoveringTests {
  @Test func `the stream of the handler follows a failure`() {
    let feeds = (0..<2).map { _ in Feed<String>() }
    let record = Record<String>()
    let subscription = record.observe(
      feeds[0].stream.catch { error in feeds[1].stream.startWith("\(error)") })
    feeds[0].next("a")
    feeds[0].fail()
    #expect(feeds.map(\.subscriptions) == [0, 1])
    feeds[1].next("b")
    feeds[1].fail(TestFailure("second"))
    #expect(record.elements == ["next(a)", "next(failure)", "next(b)", "error(second)"])
    subscription.dispose()
  }

  @Test func `a stream that completes does not call the handler`() {
    let feed = Feed<Int>()
    let record = Record<String>()
    let subscription = record.observe(feed.stream.catch { _ in .just(99) })
    feed.complete()
    #expect(record.elements == ["completed"])
    #expect(Observable.just(1).catch { _ in .empty() }.isKnown)
    subscription.dispose()
  }

  @Test func `an error that the handler throws is the failure`() {
    let stream = Observable<Int>.error(TestFailure()).catch { _ in throw TestFailure("handler") }
    #expect(events(of: stream) == ["error(handler)"])
  }

  @Test func `catchAndReturn replaces a failure by an element`() {
    let stream = Observable.of(1, 2).map { if $0 == 2 { throw TestFailure() } else { $0 } }
    #expect(events(of: stream.catchAndReturn(0)) == ["next(1)", "next(0)", "completed"])
    #expect(events(of: Observable<Int>.error(TestFailure()).catchAndReturn(0)) == ["next(0)", "completed"])
    #expect(events(of: Observable.of(1, 2).catchAndReturn(0)) == ["next(1)", "next(2)", "completed"])
  }

  @Test func `retry subscribes at most as often as it was asked to`() {
    for (count, attempts) in [(-1, 0), (0, 0), (1, 1), (3, 3)] {
      let tried = Record<Int>()
      let failing = Observable<Int>.deferred {
        tried.append(1)
        return .error(TestFailure())
      }
      #expect(events(of: failing.retry(count)) == [count <= 0 ? "completed" : "error(failure)"])
      #expect(tried.elements.count == attempts)
    }
  }

  @Test func `retry without a count goes on until the stream completes`() {
    let tried = Record<Int>()
    // As many as would overflow the stack if they were nested.
    let stream = Observable<Int>.deferred {
      tried.append(1)
      return tried.elements.count < 3_000 ? .error(TestFailure()) : .just(7)
    }
    #expect(events(of: stream.retry()) == ["next(7)", "completed"])
  }

  @Test func `disposal ends a retried stream that fails at once each time`() {
    let feed = Feed<Int>()
    let tried = Record<Int>()
    let subscription = SerialDisposable()
    let stream = Observable<Int>.deferred {
      tried.append(1)
      switch tried.elements.count {
      case 1: return feed.stream
      case 10: subscription.dispose()
      case 1000: return .just(1)
      default: break
      }
      return .error(TestFailure())
    }
    subscription.disposable = stream.retry().subscribe()
    feed.fail()
    #expect(tried.elements.count == 10)
  }

  @Test func `disposal ends retry between two attempts`() {
    let feed = Feed<Int>()
    let subscription = feed.stream.retry().subscribe()
    feed.fail()
    feed.fail()
    #expect(feed.totalSubscriptions == 3)
    subscription.dispose()
    feed.fail()
    #expect(feed.totalSubscriptions == 3)
    #expect(feed.subscriptions == 0)
  }

  /// Otherwise the shared source, which still goes on for this subscriber alone, would replay the element at
  /// which it failed.
  @Test func `a shared source begins anew for retry`() {
    let feed = Feed<Int>()
    let record = Record<String>()
    let stream = feed.stream.share(replay: 1).map { if $0 == 0 { throw TestFailure() } else { $0 } }
    let subscription = record.observe(stream.retry(2))
    feed.next(1)
    feed.next(0)
    #expect(feed.totalSubscriptions == 2)
    feed.next(2)
    #expect(record.elements == ["next(1)", "next(2)"])
    subscription.dispose()
    #expect(feed.subscriptions == 0)
  }

  @Test func `a shared source goes on for catch`() {
    let feed = Feed<Int>()
    let record = Record<String>()
    let shared = feed.stream.share(replay: 1)
    let stream = shared.map { if $0 == 0 { throw TestFailure() } else { $0 } }
    let subscription = record.observe(stream.catch { _ in shared })
    feed.next(1)
    feed.next(0)
    #expect(feed.totalSubscriptions == 1)
    #expect(record.elements == ["next(1)", "next(0)"])
    subscription.dispose()
    #expect(feed.subscriptions == 0)
  }
}
