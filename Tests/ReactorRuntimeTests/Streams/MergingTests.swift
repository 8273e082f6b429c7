import TestSupport
import Testing

@testable import ReactorRuntime

/// merge, flatMap, flatMapFirst and flatMapLatest.
@Suite struct MergingTests {
  private let feeds = (0..<3).map { _ in Feed<Int>() }
  private let outer = Feed<Int>()
  private let record = Record<String>()

  @Test func `merge keeps the order of each stream`() {
    let subscription = record.observe(.merge(feeds.map(\.stream)))
    feeds[0].next(1)
    feeds[2].next(2)
    feeds[0].complete()
    feeds[1].next(3)
    feeds[1].complete()
    #expect(record.elements == ["next(1)", "next(2)", "next(3)"])
    feeds[2].complete()
    #expect(record.elements.last == "completed")
    subscription.dispose()
    #expect(
      events(of: .merge(.just(1), .of(2, 3), .empty())) == ["next(1)", "next(2)", "next(3)", "completed"])
    #expect(events(of: Observable<Int>.merge()) == ["completed"])
  }

  @Test func `a failure of one stream ends merge`() {
    let subscription = record.observe(.merge(feeds[0].stream, feeds[1].stream))
    feeds[1].fail()
    #expect(record.elements == ["error(failure)"])
    #expect(feeds.map(\.subscriptions) == [0, 0, 0])
    subscription.dispose()
  }

  @Test func `flatMap completes with the last of its streams`() {
    let subscription = record.observe(outer.stream.flatMap { [feeds] in feeds[$0].stream })
    outer.next(0)
    outer.next(1)
    outer.complete()
    feeds[0].next(1)
    feeds[1].next(2)
    feeds[1].complete()
    #expect(feeds.map(\.subscriptions) == [1, 0, 0])
    feeds[0].next(3)
    feeds[0].complete()
    #expect(record.elements == ["next(1)", "next(2)", "next(3)", "completed"])
    subscription.dispose()
  }

  @Test func `an element that an inner stream causes comes after its cause`() {
    let subscription = outer.stream.flatMap { Observable.of($0, $0 + 1) }.subscribe { [outer, record] in
      record.append("\($0)")
      if $0.element == 1 { outer.next(10) }
    }
    outer.next(1)
    #expect(record.elements == ["next(1)", "next(2)", "next(10)", "next(11)"])
    subscription.dispose()
  }

  @Test func `flatMapFirst ignores elements while an inner stream is running`() {
    let asked = Record<Int>()
    let subscription = record.observe(
      outer.stream.flatMapFirst { [feeds] in
        asked.append($0)
        return feeds[$0].stream
      })
    outer.next(0)
    outer.next(1)
    feeds[0].next(1)
    feeds[0].complete()
    outer.next(2)
    feeds[2].next(2)
    outer.complete()
    feeds[2].complete()
    #expect(asked.elements == [0, 2])
    #expect(record.elements == ["next(1)", "next(2)", "completed"])
    subscription.dispose()
  }

  @Test func `flatMapLatest disposes of the stream before`() {
    let subscription = record.observe(outer.stream.flatMapLatest { [feeds] in feeds[$0].stream })
    outer.next(0)
    feeds[0].next(1)
    outer.next(1)
    #expect(feeds.map(\.subscriptions) == [0, 1, 0])
    feeds[0].next(99)
    feeds[1].next(2)
    outer.complete()
    #expect(record.elements == ["next(1)", "next(2)"])
    feeds[1].complete()
    #expect(record.elements == ["next(1)", "next(2)", "completed"])
    subscription.dispose()
  }

  @Test
  func `flatMapLatest switches during the delivery of an older element, and passes newer ones on after it`() {
    let (isInside, mayGoOn) = (Gate(), Gate())
    let subscription = outer.stream.flatMapLatest { [feeds] in feeds[$0].stream }
      .subscribe(onNext: { [record] element in
        if element == 1 {
          isInside.open()
          #expect(mayGoOn.wait())
        }
        record.append("\(element)")
      })
    outer.next(0)
    let hasSent = Threads.start { [feeds] in feeds[0].next(1) }
    #expect(isInside.wait())
    feeds[0].next(2)
    // Does not wait for the delivery.
    outer.next(1)
    feeds[1].next(3)
    #expect(record.elements == [])
    mayGoOn.open()
    #expect(hasSent.wait())
    #expect(record.elements == ["1", "3"])
    subscription.dispose()
  }

  @Test func `flatMapLatest goes on after an inner stream has completed`() {
    let subscription = record.observe(outer.stream.flatMapLatest { Observable.just($0) })
    outer.next(1)
    outer.next(2)
    #expect(record.elements == ["next(1)", "next(2)"])
    outer.complete()
    #expect(record.elements.last == "completed")
    subscription.dispose()
  }

  /// The older stream ignores its disposal. What it sends afterwards must not be delivered.
  @Test func `nothing of the older stream is delivered after the switch`() {
    let kept = Record<AnyObserver<Int>>()
    let deaf = Observable<Int> { observer in
      kept.append(observer)
      return Disposables.create()
    }
    let subscription = outer.stream.flatMapLatest { [feeds] in $0 == 0 ? deaf : feeds[$0].stream }
      .subscribe { [outer, record] event in
        record.append("\(event)")
        // The switch is made while an older element is queued behind this one.
        if event.element == 1 {
          kept.elements[0].onNext(2)
          outer.next(1)
        }
      }
    outer.next(0)
    kept.elements[0].onNext(1)
    kept.elements[0].onNext(3)
    kept.elements[0].onError(TestFailure())
    #expect(record.elements == ["next(1)"])
    feeds[1].next(4)
    outer.next(2)
    feeds[2].next(5)
    #expect(record.elements == ["next(1)", "next(4)", "next(5)"])
    subscription.dispose()
  }

  @Test func `no selector is called once one has thrown, also inside of a delivery`() {
    typealias Selector = @Sendable (Int) throws -> Observable<Int>
    let operators: [(Observable<Int>, @escaping Selector) -> Observable<Int>] = [
      { $0.flatMap($1) }, { $0.flatMapFirst($1) }, { $0.flatMapLatest($1) }, { $0.concatMap($1) },
    ]
    for apply in operators {
      let calls = Record<Int>()
      let record = Record<String>()
      let observers = Record<AnyObserver<Int>>()
      // Unlike `create`, it does not queue what is sent inside of a delivery.
      let source = Observable<Int> { observer in
        observers.append(observer)
        return Disposables.create()
      }
      let stream = apply(source) { number in
        calls.append(number)
        if number == 1 { throw TestFailure() }
        return .just(number)
      }
      let subscription = stream.subscribe { event in
        record.append("\(event)")
        if event.element == 0 {
          observers.elements[0].onNext(1)
          observers.elements[0].onNext(2)
        }
      }
      observers.elements[0].onNext(0)
      #expect(calls.elements == [0, 1])
      #expect(record.elements == ["next(0)", "error(failure)"])
      subscription.dispose()
    }
  }

  /// Inside of a delivery: the error waits behind the element that is being delivered.
  @Test(arguments: [false, true])
  func `no stream begins once one has failed, also inside of a delivery`(inSelector: Bool) {
    let operators: [(Observable<Int>, @escaping @Sendable (Int) -> Observable<Int>) -> Observable<Int>] = [
      { $0.flatMap($1) }, { $0.flatMapLatest($1) },
    ]
    for apply in operators {
      let record = Record<String>()
      let subscription = apply(outer.stream) { [feeds] number in
        if inSelector, number == 2 { feeds[1].fail() }
        return feeds[number].stream
      }.subscribe { [outer, feeds] event in
        record.append("\(event)")
        if event.element == 7 {
          outer.next(1)
          if !inSelector { feeds[1].fail() }
          outer.next(2)
        }
      }
      outer.next(0)
      feeds[0].next(7)
      #expect(record.elements == ["next(7)", "error(failure)"])
      #expect(feeds[2].totalSubscriptions == 0)
      subscription.dispose()
    }
  }

  /// Streams that have ended must not accumulate while others go on.
  @Test func `streams that have ended are released while others go on`() {
    let lifetimes = Lifetimes()
    let inner = { @Sendable [feeds] (_: Int) in
      let tracked = lifetimes.track()
      return Observable<Int> { observer in
        let source = feeds[0].stream.run(observer)
        return Keeping(tracked: tracked, source: source)
      }
    }
    for stream in [outer.stream.flatMap(inner), outer.stream.flatMapLatest(inner)] {
      let subscription = record.observe(stream)
      outer.next(1)
      #expect(lifetimes.alive == 1)
      feeds[0].complete()
      #expect(lifetimes.alive == 0)
      subscription.dispose()
    }
  }

  /// Unlike the disposables of the runtime, it retains what it holds after its end.
  private struct Keeping: Disposable {
    let tracked: LifetimeTracked
    let source: any Disposable
    func dispose() { source.dispose() }
  }

  @Test func `switchLatest delivers the newest stream`() {
    let streams = Feed<Observable<Int>>()
    let subscription = record.observe(streams.stream.switchLatest())
    streams.next(feeds[0].stream)
    streams.next(.of(1, 2))
    feeds[0].next(99)
    streams.complete()
    #expect(record.elements == ["next(1)", "next(2)", "completed"])
    subscription.dispose()
  }
}
