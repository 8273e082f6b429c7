import TestSupport
import Testing

@testable import ReactorRuntime

/// merge, flatMap, flatMapFirst and flatMapLatest.
@Suite struct MergingTests {
  private let feeds = (0..<3).map { _ in Feed<Int>() }
  private let outer = Feed<Int>()
  private let record = Record<String>()

  @Test func mergedStreamsSendInTheirOrder() {
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

  @Test func oneFailureEndsTheMerger() {
    let subscription = record.observe(.merge(feeds[0].stream, feeds[1].stream))
    feeds[1].fail()
    #expect(record.elements == ["error(failure)"])
    #expect(feeds.map(\.subscriptions) == [0, 0, 0])
    subscription.dispose()
  }

  @Test func flatMapEndsWithTheLastOfItsStreams() {
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

  @Test func whatAnInnerStreamCausesComesAfterIt() {
    let subscription = outer.stream.flatMap { Observable.of($0, $0 + 1) }.subscribe { [outer, record] in
      record.append("\($0)")
      if $0.element == 1 { outer.next(10) }
    }
    outer.next(1)
    #expect(record.elements == ["next(1)", "next(2)", "next(10)", "next(11)"])
    subscription.dispose()
  }

  @Test func flatMapFirstIgnoresWhatComesMeanwhile() {
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

  @Test func flatMapLatestEndsTheStreamBefore() {
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

  @Test func flatMapLatestWaitsForMoreAfterAnInnerEnd() {
    let subscription = record.observe(outer.stream.flatMapLatest { Observable.just($0) })
    outer.next(1)
    outer.next(2)
    #expect(record.elements == ["next(1)", "next(2)"])
    outer.complete()
    #expect(record.elements.last == "completed")
    subscription.dispose()
  }

  /// The older stream does not hear that it was ended: what it sends late must not get through.
  @Test func nothingOfTheOlderStreamComesAfterTheSwitch() {
    let kept = Record<AnyObserver<Int>>()
    let deaf = Observable<Int> { observer in
      kept.append(observer)
      return Disposables.create()
    }
    let subscription = outer.stream.flatMapLatest { [feeds] in $0 == 0 ? deaf : feeds[$0].stream }
      .subscribe { [outer, record] event in
        record.append("\(event)")
        // The switch is made while an older element is waiting behind this one.
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
    #expect(record.elements == ["next(1)", "next(4)"])
    subscription.dispose()
  }

  /// Streams that have ended must not add up while others go on.
  @Test func whatHasEndedIsNotKept() {
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

  /// Unlike those of the runtime it keeps what it has after its end.
  private struct Keeping: Disposable {
    let tracked: LifetimeTracked
    let source: any Disposable
    func dispose() { source.dispose() }
  }

  @Test func switchLatestFollowsTheNewest() {
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
