import ReactorRuntime
import ReactorTesting
import TestSupport
import Testing

/// Tests that a stream can be ended by its observer wherever an operator subscribes to it later than at the operator's own
/// subscription, outside of all streams that take turns: because of an element, a stop event, a timer or a disposal.
@Suite struct LateSubscriptionTests {
  /// A place where a stream is subscribed to later.
  struct Place: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// Whether the end of the result ends the stream at once, on the same thread.
    let endsWithResult: Bool
    /// Returns the result, and a function that makes it subscribe to the stream.
    let make: @Sendable (Observable<Int>, TestScheduler) -> (result: Observable<Int>, start: () -> Void)

    init(
      _ name: String, endsWithResult: Bool = true,
      _ make: @escaping @Sendable (Observable<Int>, TestScheduler) -> (Observable<Int>, () -> Void)
    ) {
      testDescription = name
      self.endsWithResult = endsWithResult
      self.make = make
    }

    /// - Parameter signal: The event of the trigger that makes the result subscribe to the stream.
    init(
      _ name: String, at signal: Event<Int> = .next(0),
      _ make: @escaping @Sendable (_ trigger: Observable<Int>, _ stream: Observable<Int>) -> Observable<Int>
    ) {
      self.init(name) { stream, _ in
        let trigger = PublishSubject<Int>()
        return (make(trigger.asObservable(), stream), { trigger.on(signal) })
      }
    }

    /// - Parameter start: Returns the result, which subscribes to the stream at a time before 1000.
    init(
      timed name: String, endsWithResult: Bool = true,
      _ make: @escaping @Sendable (Observable<Int>, TestScheduler) -> Observable<Int>
    ) {
      self.init(name, endsWithResult: endsWithResult) { stream, scheduler in
        (make(stream, scheduler), { scheduler.advanceTo(1000) })
      }
    }
  }

  static let places: [Place] = [
    Place("flatMap") { trigger, stream in trigger.flatMap { _ in stream } },
    Place("flatMapFirst") { trigger, stream in trigger.flatMapFirst { _ in stream } },
    Place("flatMapLatest") { trigger, stream in trigger.flatMapLatest { _ in stream } },
    Place("switchLatest") { trigger, stream in trigger.map { _ in stream }.switchLatest() },
    Place("merge") { trigger, stream in trigger.map { _ in stream }.merge() },
    Place("concatMap") { trigger, stream in trigger.concatMap { _ in stream } },
    Place("merge with a limit") { trigger, stream in trigger.map { _ in stream }.merge(maxConcurrent: 2) },
    Place("flatMap of deferred") { trigger, stream in trigger.flatMap { _ in Observable.deferred { stream } }
    },
    Place("flatMap of startWith") { trigger, stream in
      trigger.flatMap { _ in stream.startWith(0).filter { $0 > 0 } }
    },
    Place("flatMap of using") { trigger, stream in
      trigger.flatMap { _ in Observable.using({ SerialDisposable() }, observableFactory: { _ in stream }) }
    },
    Place("flatMap of catch") { trigger, stream in trigger.flatMap { _ in stream.catch { _ in .empty() } } },
    Place("flatMap of combineLatest") { trigger, stream in
      trigger.flatMap { _ in Observable.combineLatest(.just(0), stream) { $1 } }
    },
    Place("flatMap of zip") { trigger, stream in
      trigger.flatMap { _ in Observable.zip(Observable.of(0, 0, 0), stream) { $1 } }
    },
    Place("flatMap of withLatestFrom") { trigger, stream in
      trigger.flatMap { _ in stream.withLatestFrom(Observable.just(0)) { element, _ in element } }
    },
    Place("flatMap of take(until:)") { trigger, stream in
      trigger.flatMap { _ in stream.take(until: Observable<Int>.never()) }
    },
    Place("concat", at: .completed) { trigger, stream in trigger.concat(stream) },
    Place("catch", at: .error(TestFailure())) { trigger, stream in trigger.catch { _ in stream } },
    Place("retry", at: .error(TestFailure())) { trigger, stream in
      let subscriptions = Record<Int>()
      return Observable.deferred {
        subscriptions.append(0)
        return subscriptions.elements.count == 1 ? trigger : stream
      }.retry(2)
    },
    Place("retry(when:)") { trigger, stream in
      let subscriptions = Record<Int>()
      return Observable.deferred {
        subscriptions.append(0)
        return subscriptions.elements.count == 1 ? .error(TestFailure()) : stream
      }.retry(when: { (_: Observable<any Error>) in trigger })
    },
    // The disposal of the source is an action of the scheduler, too.
    Place(timed: "subscribe(on:)", endsWithResult: false) { stream, scheduler in
      stream.subscribe(on: scheduler)
    },
    Place(timed: "delaySubscription") { stream, scheduler in
      stream.delaySubscription(.seconds(10), scheduler: scheduler)
    },
    Place(timed: "timeout") { stream, scheduler in
      Observable.never().timeout(.seconds(10), other: stream, scheduler: scheduler)
    },
    Place(timed: "delay of flatMap") { stream, scheduler in
      Observable.just(0).delay(.seconds(10), scheduler: scheduler).flatMap { _ in stream }
    },
    Place("connect", endsWithResult: false) { stream, _ in
      let shared = stream.publish()
      return (shared.asObservable(), { shared.connect() })
    },
    // The second subscription begins when the first one was disposed of.
    Place("share") { stream, _ in
      let subscriptions = Record<Int>()
      let second = PublishSubject<Void>()
      let shared = Observable<Int>.deferred {
        subscriptions.append(0)
        if subscriptions.elements.count > 1 { return stream }
        return .create { _ in Disposables.create { second.onNext(()) } }
      }.share()
      let first = shared.subscribe()
      return (
        .create { observer in
          let subscription = SerialDisposable()
          _ = second.subscribe(onNext: { subscription.disposable = shared.subscribe(observer) })
          return subscription
        }, { first.dispose() }
      )
    },
  ]

  private let seen = Record<Int>()
  private let emitted = Record<Int>()

  private func observe(_ stream: Observable<Int>, at place: Place, count: Int = .max) {
    let (result, start) = place.make(stream, TestScheduler(initialClock: 0))
    let subscription = result.take(count).subscribe(onNext: { [seen] in seen.append($0) })
    #expect(seen.elements == [])
    start()
    subscription.dispose()
  }

  @Test(arguments: places)
  func `a stream that ends itself emits nothing more`(_ place: Place) {
    let stream = Observable.of(1, 2, 3).do(onNext: { [emitted] in emitted.append($0) }).take(1)
    observe(stream, at: place)
    #expect(seen.elements == [1])
    #expect(emitted.elements == [1])
  }

  @Test(arguments: places)
  func `a stream that begins anew for ever can end itself`(_ place: Place) {
    let attempts = Record<Int>()
    let stream = Observable<Int>.deferred {
      attempts.append(0)
      // Otherwise a failure of this test would be a test that never ends.
      return attempts.elements.count > 10 ? .empty() : .concat(.of(1), .error(TestFailure()))
    }.retry().take(3)
    observe(stream, at: place)
    #expect(seen.elements == [1, 1, 1])
    #expect(attempts.elements.count == 3)
  }

  @Test(arguments: places.filter(\.endsWithResult))
  func `a stream emits nothing more when the result has ended`(_ place: Place) {
    let stream = Observable.of(1, 2, 3).do(onNext: { [emitted] in emitted.append($0) })
    observe(stream, at: place, count: 1)
    #expect(seen.elements == [1])
    #expect(emitted.elements == [1])
  }

  @Test(arguments: places.filter(\.endsWithResult))
  func `the streams of a concat emit nothing more when the result has ended`(_ place: Place) {
    let noted = Observable.of(1, 2, 3).do(onNext: { [emitted] in emitted.append($0) })
    observe(.concat(noted, .just(4)), at: place, count: 1)
    #expect(seen.elements == [1])
    #expect(emitted.elements == [1])
  }
}
