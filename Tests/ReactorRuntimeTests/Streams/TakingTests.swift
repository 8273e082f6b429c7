import ReactorRuntime
import TestSupport
import Testing

/// take, take(while:), take(until:) and the same of skip.
@Suite struct TakingTests {
  private func numbers(_ stream: Observable<Int>) -> [String] {
    let all = events(of: stream)
    #expect(all.last == "completed")
    return all.dropLast().map { String($0.dropFirst(5).dropLast()) }
  }

  private let five = Observable.of(1, 2, 3, 4, 5)

  @Test func `take sends the first elements and completes with the last of them`() {
    #expect(numbers(five.take(2)) == ["1", "2"])
    #expect(numbers(five.take(9)) == ["1", "2", "3", "4", "5"])
    #expect(numbers(five.take(0)) == [])
    let feed = Feed<Int>()
    let subscription = feed.stream.take(1).subscribe()
    feed.next(1)
    #expect(feed.subscriptions == 0)
    subscription.dispose()
  }

  @Test func `take with a predicate completes at the element that it selects`() {
    #expect(numbers(five.take(while: { $0 < 3 })) == ["1", "2"])
    #expect(numbers(five.take(while: { $0 < 3 }, behavior: .inclusive)) == ["1", "2", "3"])
    #expect(numbers(five.take(until: { $0 == 3 })) == ["1", "2"])
    #expect(numbers(five.take(until: { $0 == 3 }, behavior: .inclusive)) == ["1", "2", "3"])
  }

  @Test func `skip leaves out the first elements`() {
    #expect(numbers(five.skip(2)) == ["3", "4", "5"])
    #expect(numbers(five.skip(0)).count == 5)
    #expect(numbers(five.skip(9)) == [])
    #expect(numbers(Observable.of(1, 3, 2).skip(while: { $0 < 3 })) == ["3", "2"])
  }

  @Test func `an element of the other stream completes take before its send returns`() {
    let source = Feed<Int>()
    let signal = Feed<String>()
    let record = Record<String>()
    let subscription = record.observe(source.stream.take(until: signal.stream))
    source.next(1)
    signal.next("stop")
    #expect(record.elements == ["next(1)", "completed"])
    #expect(source.subscriptions + signal.subscriptions == 0)
    subscription.dispose()
  }

  @Test func `take subscribes to the other stream first`() {
    let order = Record<String>()
    let source = Feed<Int>()
    let signal = Feed<Int>()
    source.stream.do(onSubscribe: { order.append("source") })
      .take(until: signal.stream.do(onSubscribe: { order.append("signal") })).subscribe().dispose()
    #expect(order.elements == ["signal", "source"])
    #expect(events(of: source.stream.take(until: Observable.just(1))) == ["completed"])
    #expect(source.totalSubscriptions == 1)
  }

  @Test func `take goes on when the other stream completes and fails when it fails`() {
    let source = Feed<Int>()
    #expect(events(of: Observable.of(1, 2).take(until: Observable<Int>.empty())).count == 3)
    let record = Record<String>()
    let signal = Feed<Int>()
    let subscription = record.observe(source.stream.take(until: signal.stream))
    signal.fail()
    #expect(record.elements == ["error(failure)"])
    #expect(source.subscriptions == 0)
    subscription.dispose()
  }

  @Test func `an element of the other stream sent inside of a delivery completes take after that delivery`() {
    let source = Feed<Int>()
    let signal = Feed<Int>()
    let record = Record<String>()
    let subscription = source.stream.take(until: signal.stream).subscribe { event in
      record.append("\(event)")
      if event.element == 1 {
        signal.next(0)
        source.next(2)
        record.append("after the signal")
      }
    }
    source.next(1)
    #expect(record.elements == ["next(1)", "after the signal", "completed"])
    subscription.dispose()
  }

  @Test func `skip passes elements on from the first element of the other stream on`() {
    let source = Feed<Int>()
    let signal = Feed<Int>()
    let record = Record<String>()
    let subscription = record.observe(source.stream.skip(until: signal.stream))
    source.next(1)
    signal.next(0)
    #expect(signal.subscriptions == 0)
    source.next(2)
    source.complete()
    #expect(record.elements == ["next(2)", "completed"])
    subscription.dispose()
  }

  @Test func `skip sends no completion before the first element of the other stream, as in RxSwift`() {
    let source = Feed<Int>()
    let signal = Feed<Int>()
    let record = Record<String>()
    let subscription = record.observe(source.stream.skip(until: signal.stream))
    source.complete()
    #expect(signal.subscriptions + source.subscriptions == 0)
    signal.next(0)
    #expect(record.elements == [])
    subscription.dispose()
    #expect(events(of: Observable.just(1).skip(until: signal.stream)) == [])
    #expect(events(of: Observable<Int>.error(TestFailure()).skip(until: signal.stream)) == ["error(failure)"])
    #expect(signal.subscriptions == 0)
  }

  @Test func `skip ignores the other stream after its first element`() {
    let source = Feed<Int>()
    // All events come before there is a subscription to dispose of.
    let signal = Observable.concat([.just(0), .error(TestFailure())])
    let record = Record<String>()
    let subscription = record.observe(source.stream.skip(until: signal))
    source.next(1)
    #expect(record.elements == ["next(1)"])
    subscription.dispose()
  }
}
